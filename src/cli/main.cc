// The axon command: reads options, calls the verb, returns its exit status.
#include <cerrno>
#include <cstring>
#include <string>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "support/deep_stack.h"

namespace axon::cli {
namespace {

int call_verb(const Options& options) {
  switch (options.verb) {
    case Verb::Run:
      return verb_run(options);
    case Verb::Chat:
      return verb_chat(options);
    case Verb::Embed:
      return verb_embed(options);
    case Verb::Score:
      return verb_score(options);
    case Verb::Tokenize:
      return verb_tokenize(options);
    case Verb::Forward:
      return verb_forward(options);
    case Verb::Check:
      return verb_check(options);
    case Verb::Dump:
      return verb_dump(options);
    case Verb::Fmt:
      return verb_fmt(options);
    case Verb::Compile:
      return verb_compile(options);
    case Verb::Explain:
      return verb_explain(options);
    case Verb::Inspect:
      return verb_inspect(options);
    case Verb::Zoo:
      return verb_zoo(options);
    case Verb::List:
      return verb_list(options);
    case Verb::Bench:
      return verb_bench(options);
    case Verb::Verify:
      return verb_verify(options);
    case Verb::Completion:
      return verb_completion(options);
    case Verb::Man:
      return verb_man();
    case Verb::Version:
    case Verb::None:
      return 2;
  }
  return 70;
}

int run(int argc, char** argv) {
  Options options;
  auto parsed = parse_options(argc, argv, options);
  int status = parsed.value_or(0);
  // Passes walk a program as deep as it is nested.
  if (!parsed) on_deep_stack([&] { status = call_verb(options); });
  int error = output_error();
  if (error == 0 || error == EPIPE) return status;
  note(std::string("axon: cannot write to standard output: ") + std::strerror(error) +
       " [FILE-WRITE]\n");
  return status_of("FILE-WRITE");
}

}  // namespace
}  // namespace axon::cli

int main(int argc, char** argv) {
  axon::cli::install_signal_handlers();
  return axon::cli::run(argc, argv);
}
