// Finds the program and the checkpoint that a caller names.
#include "driver/target.h"

#include "support/file.h"
#include "support/text.h"

namespace axon::driver {

namespace {

// Who names no model may have meant a program of ours.
std::string near_programs(const std::string& name) {
  std::vector<std::string> names;
  for (const ZooProgram& program : zoo_programs()) names.push_back(program.name);
  std::vector<std::string> near = closest(name, names, 2);
  return near.empty() ? std::string() : "did you mean the program `" + join(near, "`, `") + "`?";
}

}  // namespace

Result<Target> find_target(ModelRequest request, const std::string& file,
                           const std::string& checkpoint) {
  Target out;
  out.request = std::move(request);
  std::string model = checkpoint;
  bool is_program =
      !is_directory(file) && (ends_with(file, ".axon") || find_zoo_program(file).has_value());
  // A directory may have the name of a program: with a checkpoint beside it, the program is meant.
  is_program |= !model.empty() && find_zoo_program(file).has_value();
  if (is_program) {
    out.request.program = file;
    if (!file_exists(file) && starts_with(file, "zoo/"))
      out.request.program = file.substr(4, file.size() - 9);
  } else if (model.empty()) {
    model = file;
  } else {
    return Error{"USE-OPTION",
                 "`" + file + "` is no program file (`.axon`) and no name of `axon zoo`",
                 {},
                 -1,
                 {}};
  }
  if (!model.empty()) {
    auto opened = formats::open_checkpoint(model);
    if (!opened) {
      Error error = opened.error();
      if (checkpoint.empty() && !file_exists(file) && error.hint.empty())
        error.hint = near_programs(file);
      return error;
    }
    out.checkpoint = std::move(*opened);
  }
  if (!is_program && model.empty())
    return Error{"FILE-READ", "there is no program or checkpoint with an empty name", {}, -1, {}};
  AXON_TRY(out.text, find_program(out.request, out.checkpoint ? &*out.checkpoint : nullptr));
  return out;
}

sema::Answers answers_of(const Target& target) {
  if (!target.checkpoint) return {};
  return {&target.checkpoint->config, &target.checkpoint->params->index()};
}

}  // namespace axon::driver
