// Plans a checkpoint's program and writes it, for session_check: program_save MODEL OUT.
#include <cstdio>

#include "driver/model.h"
#include "support/file.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: program_save MODEL OUT\n");
    return 2;
  }
  axon::driver::ModelRequest request;
  request.model = argv[1];
  request.math = "exact";
  axon::driver::Compiled compiled = axon::driver::compile_model(request);
  if (!compiled.ok()) {
    std::fprintf(stderr, "%s\n",
                 compiled.error ? compiled.error->message.c_str() : "the program has errors");
    return 1;
  }
  auto written = axon::write_file(argv[2], axon::runtime::serialise(*compiled.program));
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 3;
}
