// `axon completion`: scripts that complete verbs.
#include "cli/output.h"
#include "cli/verbs.h"

namespace axon::cli {
namespace {

constexpr const char* kWords =
    "run chat embed score tokenize forward check dump fmt compile explain inspect zoo list bench "
    "verify completion";

}  // namespace

int verb_completion(const Options& options) {
  std::string words = kWords;
  if (options.shell == "bash") {
    put("_axon() {\n  local word=\"${COMP_WORDS[COMP_CWORD]}\"\n  if [ \"$COMP_CWORD\" -eq 1 ]; "
        "then\n"
        "    COMPREPLY=($(compgen -W \"" +
        words +
        "\" -- \"$word\"))\n  else\n"
        "    COMPREPLY=($(compgen -f -- \"$word\"))\n  fi\n}\ncomplete -o filenames -F _axon "
        "axon\n");
  } else if (options.shell == "zsh") {
    put("#compdef axon\n_axon() {\n  if (( CURRENT == 2 )); then\n    compadd " + words +
        "\n  else\n    _files\n  fi\n}\n_axon \"$@\"\n");
  } else {
    put("complete -c axon -n '__fish_use_subcommand' -f -a '" + words + "'\n");
  }
  return 0;
}

}  // namespace axon::cli
