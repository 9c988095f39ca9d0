// `axon completion`: scripts that complete verbs, options and the values that an option allows.
#include "cli/output.h"
#include "cli/verb_table.h"
#include "cli/verbs.h"
#include "support/text.h"

namespace axon::cli {
namespace {

std::string names_of(const std::vector<VerbInfo>& verbs) {
  std::vector<std::string> names;
  for (const VerbInfo& verb : verbs) names.push_back(verb.name);
  return join(names, " ");
}

std::string long_names(const VerbInfo& verb) {
  std::vector<std::string> names;
  for (const OptionInfo& option : verb.options) {
    for (const std::string& name : option.names) {
      if (starts_with(name, "--")) names.push_back(name);
    }
  }
  return join(names, " ");
}

// `case` clauses: the values of options that allow a few, then the options of each verb.
std::string clauses(const std::vector<VerbInfo>& verbs) {
  std::string values, options;
  for (const VerbInfo& verb : verbs) {
    for (const OptionInfo& option : verb.options) {
      if (option.choices.empty() || option.names.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) patterns.push_back(verb.name + ":" + name);
      values += "    " + join(patterns, "|") + ") words='" + join(option.choices, " ") + "' ;;\n";
    }
    options +=
        "    " + verb.name + ":*) [[ \"$word\" == -* ]] && words='" + long_names(verb) + "' ;;\n";
  }
  return "    case \"$verb:$before\" in\n" + values + options + "    esac\n";
}

std::string bash(const std::vector<VerbInfo>& verbs) {
  return "_axon() {\n"
         "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
         "  local verb=\"${COMP_WORDS[1]}\" words=''\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    words='" +
         names_of(verbs) + "'\n  else\n" + clauses(verbs) +
         "  fi\n"
         "  if [ -n \"$words\" ]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  else\n    COMPREPLY=($(compgen -f -- \"$word\"))\n  fi\n"
         "}\ncomplete -o filenames -F _axon axon\n";
}

std::string zsh(const std::vector<VerbInfo>& verbs) {
  return "#compdef axon\n_axon() {\n"
         "  local word=\"${words[CURRENT]}\" before=\"${words[CURRENT-1]}\" verb=\"${words[2]}\"\n"
         "  local words=''\n"
         "  if (( CURRENT == 2 )); then\n    words='" +
         names_of(verbs) + "'\n  else\n" + clauses(verbs) +
         "  fi\n"
         "  if [[ -n \"$words\" ]]; then\n    compadd -- ${=words}\n  else\n    _files\n  fi\n"
         "}\n_axon \"$@\"\n";
}

// Text between single quotes of fish.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish(const std::vector<VerbInfo>& verbs) {
  std::string out;
  for (const VerbInfo& verb : verbs) {
    out += "complete -c axon -n __fish_use_subcommand -f -a " + verb.name + " -d " +
           quoted(verb.text) + "\n";
    for (const OptionInfo& option : verb.options) {
      if (option.names.empty()) continue;
      out += "complete -c axon -n '__fish_seen_subcommand_from " + verb.name + "'";
      for (const std::string& name : option.names)
        out += starts_with(name, "--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty()) {
        out += " -xa " + quoted(join(option.choices, " "));
      } else if (!option.value.empty()) {
        out += " -r";
      }
      out += " -d " + quoted(option.text) + "\n";
    }
  }
  return out;
}

}  // namespace

int verb_completion(const Options& options) {
  std::vector<VerbInfo> verbs = verb_table();
  put(options.shell == "bash" ? bash(verbs) : options.shell == "zsh" ? zsh(verbs) : fish(verbs));
  return 0;
}

}  // namespace axon::cli
