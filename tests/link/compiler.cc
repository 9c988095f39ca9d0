// Proves that the compiler links without the runtime: from source text to a Graph and its flat
// modules.
#include <cstdio>

#include "graph/verify.h"
#include "lower/lower.h"
#include "opt/specialise.h"
#include "sema/stages.h"
#include "syntax/parse.h"

namespace {

struct EmptyLibrary : axon::sema::LibrarySource {
  const std::string_view* find(std::string_view) const override { return nullptr; }
};

}  // namespace

int main() {
  axon::sema::Session session;
  axon::FileId root =
      session.files.add("main.axon", "twice :: Tensor[B] -> Tensor[B]\ntwice x = x + x\n");
  EmptyLibrary library;
  auto loaded = axon::sema::load(root, library, {}, session);
  auto closed = axon::sema::resolve(loaded, {}, session);
  auto normalized = axon::sema::normalize(closed, session);
  auto flat = axon::sema::flatten(axon::sema::elaborate(normalized, session), session);
  auto typed = axon::sema::typecheck(flat, {}, session);
  axon::graph::Graph graph = axon::lower::lower(typed, session);
  bool fine = !session.sink.has_errors() && graph.main.valid();
  axon::opt::Forest forest;
  if (!fine) axon::opt::specialise(graph, session.types, forest, {}, {}, {}, session.sink);
  std::puts(fine ? "1 passed, 0 failed" : "0 passed, 1 failed");
  return fine ? 0 : 1;
}
