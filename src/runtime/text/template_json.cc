// JSON text to template values; the only template file that includes simdjson.
#include <simdjson.h>

#include "runtime/text/template_value.h"

namespace axon::text::tmpl {
namespace {

Value convert(Heap& heap, simdjson::dom::element element) {
  switch (element.type()) {
    case simdjson::dom::element_type::ARRAY: {
      Items items;
      for (simdjson::dom::element item : simdjson::dom::array(element)) {
        items.push_back(convert(heap, item));
      }
      return heap.list(std::move(items));
    }
    case simdjson::dom::element_type::OBJECT: {
      Value dict = heap.dict({});
      for (auto [key, value] : simdjson::dom::object(element)) {
        Value converted = convert(heap, value);
        heap.set(dict, key, converted);
      }
      return dict;
    }
    case simdjson::dom::element_type::INT64: return heap.integer(int64_t(element));
    case simdjson::dom::element_type::UINT64:
      return heap.number(static_cast<double>(uint64_t(element)));
    case simdjson::dom::element_type::DOUBLE: return heap.number(double(element));
    case simdjson::dom::element_type::STRING:
      return heap.string(std::string(std::string_view(element)));
    case simdjson::dom::element_type::BOOL: return heap.boolean(bool(element));
    case simdjson::dom::element_type::NULL_VALUE: return heap.none();
  }
  return heap.none();
}

}  // namespace

Result<Value> from_json(Heap& heap, const std::string& text) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  auto error = parser.parse(text).get(root);
  if (error) {
    return Error{"FILE-JSON", std::string("JSON: ") + simdjson::error_message(error), {}, -1, {}};
  }
  return convert(heap, root);
}

}  // namespace axon::text::tmpl
