// Proves that the runtime links without the compiler: everything that a server needs, and no more.
#include <cstdio>

#include "runtime/formats/checkpoint.h"
#include "runtime/formats/tokenizer_source.h"
#include "runtime/gen/generate.h"
#include "runtime/text/stream_decoder.h"
#include "runtime/text/template.h"

int main() {
  // A missing checkpoint ends before the others are called, but all of them are linked.
  auto checkpoint = axon::formats::open_checkpoint("/nonexistent/model");
  if (!checkpoint) {
    std::puts("1 passed, 0 failed");
    return checkpoint.error().code.empty() ? 1 : 0;
  }
  auto tokenizer = axon::formats::load_tokenizer(*checkpoint);
  auto model = axon::runtime::Model::load({}, *checkpoint->params, {});
  auto session = axon::runtime::Session::create(**model, {});
  auto keep = [](const axon::runtime::TokenEvent&) { return true; };
  auto rows = axon::runtime::generate(**session, {}, {}, keep);
  auto chat = axon::text::render_chat("", {});
  return tokenizer.ok() && rows.ok() && chat.ok() ? 0 : 1;
}
