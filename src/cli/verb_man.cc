// `axon man`: the manual page, made from the table of options.
#include "cli/output.h"
#include "cli/verb_table.h"
#include "cli/verbs.h"
#include "support/text.h"

namespace axon::cli {
namespace {

// Text in which nothing is a command of the page's language.
std::string roff(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += std::string("\\&") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string synopsis(const VerbInfo& verb) {
  std::string out = ".B axon " + verb.name + "\n.RI [ options ]";
  for (const OptionInfo& option : verb.options) {
    if (option.positional.empty()) continue;
    out +=
        "\n" + (option.required ? ".I " + option.positional : ".RI [ " + option.positional + " ]");
  }
  return out + "\n";
}

std::string entry(const OptionInfo& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back("\\fB" + roff(name) + "\\fR");
  std::string head = join(names, ", ");
  if (names.empty()) head = "\\fI" + option.positional + "\\fR";
  if (!option.choices.empty()) {
    head += " " + roff(join(option.choices, "|"));
  } else if (!names.empty() && !option.value.empty()) {
    head += " \\fI" + option.value + "\\fR";
  }
  return ".TP\n" + head + "\n" + roff(option.text) + "\n";
}

}  // namespace

int verb_man() {
  std::string out =
      ".TH AXON 1\n.SH NAME\naxon \\- check, run and emit neural language models\n.SH SYNOPSIS\n"
      ".B axon\n.I verb\n.RI [ options ]\n.SH VERBS\n";
  for (const VerbInfo& verb : verb_table()) {
    out += ".SS " + verb.name + "\n" + roff(verb.text) + ".\n.PP\n" + synopsis(verb);
    for (const OptionInfo& option : verb.options) {
      if (!option.text.empty()) out += entry(option);
    }
  }
  out +=
      ".SH EXIT STATUS\n0 done; 1 the program and the model do not agree or are wrong; 2 usage; 3 "
      "a "
      "file that cannot be read or written; 70 a fault of axon; 130 interrupted; 143 terminated.\n"
      ".SH SEE ALSO\n.B axon explain\n.I CODE\nsays what a diagnostic means.\n";
  put(out);
  return 0;
}

}  // namespace axon::cli
