// JSON text to template values.
#include "runtime/text/template_value.h"
#include "support/json.h"

namespace axon::text::tmpl {
namespace {

Value convert(Heap& heap, json::Value from) {
  switch (from.kind()) {
    case json::Kind::Missing:
    case json::Kind::Null:
      return heap.none();
    case json::Kind::Bool: {
      bool value = false;
      from.get(value);
      return heap.boolean(value);
    }
    case json::Kind::Int: {
      int64_t value = 0;
      from.get(value);
      return heap.integer(value);
    }
    case json::Kind::Float: {
      double value = 0;
      from.get(value);
      return heap.number(value);
    }
    case json::Kind::String: {
      std::string_view value;
      from.get(value);
      return heap.string(std::string(value));
    }
    case json::Kind::Array: {
      Items items;
      for (json::Value item : from) items.push_back(convert(heap, item));
      return heap.list(std::move(items));
    }
    case json::Kind::Object: {
      Value dict = heap.dict({});
      for (auto it = from.begin(); it != from.end(); ++it) {
        Value converted = convert(heap, *it);
        heap.set(dict, it.key(), converted);
      }
      return dict;
    }
  }
  return heap.none();
}

}  // namespace

Result<Value> from_json(Heap& heap, const std::string& text) {
  auto document = json::parse(text);
  if (!document) {
    return Error{"FILE-JSON", "JSON: " + document.error().message, {}, document.error().offset, {}};
  }
  return convert(heap, document->root());
}

}  // namespace axon::text::tmpl
