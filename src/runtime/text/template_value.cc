// Values of a template run: construction, comparison, Python's text forms.
#include "runtime/text/template_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "support/text.h"

namespace axon::text::tmpl {

Value Heap::string(std::string v) {
  bytes_ += v.size() + 32;
  strings_.push_back(std::move(v));
  return {Kind::String, static_cast<int32_t>(strings_.size() - 1)};
}

Value Heap::list(Items items) {
  bytes_ += items.size() * sizeof(Value) + 32;
  lists_.push_back(std::move(items));
  return {Kind::List, static_cast<int32_t>(lists_.size() - 1)};
}

Value Heap::tuple(Items items) {
  Value v = list(std::move(items));
  v.kind = Kind::Tuple;
  return v;
}

Value Heap::dict(Pairs pairs) {
  bytes_ += pairs.size() * 2 * sizeof(Value) + 32;
  dicts_.push_back(std::move(pairs));
  return {Kind::Dict, static_cast<int32_t>(dicts_.size() - 1)};
}

Value Heap::name_space(Pairs pairs) {
  Value v = dict(std::move(pairs));
  v.kind = Kind::Namespace;
  return v;
}

Value Heap::loop(LoopState state) {
  loops_.push_back(std::move(state));
  return {Kind::Loop, static_cast<int32_t>(loops_.size() - 1)};
}

Value Heap::method(Value receiver, int32_t which) {
  boxes_.push_back(receiver);
  return {Kind::Method, which, static_cast<int32_t>(boxes_.size() - 1)};
}

Value Heap::undefined(std::string_view name) {
  Value v = string(std::string(name));
  v.kind = Kind::Undefined;
  return v;
}

const Value* Heap::find(const Value& dict, std::string_view key) const {
  for (const auto& [k, v] : pairs(dict)) {
    if (k.kind == Kind::String && text(k) == key) return &v;
  }
  return nullptr;
}

void Heap::set(const Value& dict, std::string_view key, Value value) {
  for (auto& [k, v] : pairs(dict)) {
    if (k.kind == Kind::String && text(k) == key) {
      v = value;
      return;
    }
  }
  Value name = string(std::string(key));
  pairs(dict).emplace_back(name, value);
  bytes_ += 2 * sizeof(Value);
}

bool is_number(const Value& v) {
  return v.kind == Kind::Bool || v.kind == Kind::Int || v.kind == Kind::Float;
}
bool is_sequence(const Value& v) { return v.kind == Kind::List || v.kind == Kind::Tuple; }
double as_double(const Value& v) {
  return v.kind == Kind::Float ? v.number : static_cast<double>(v.integer);
}

bool truthy(const Heap& heap, const Value& v) {
  switch (v.kind) {
    case Kind::Undefined:
    case Kind::None:
      return false;
    case Kind::Bool:
    case Kind::Int:
      return v.integer != 0;
    case Kind::Float:
      return v.number != 0;
    case Kind::String:
      return !heap.text(v).empty();
    case Kind::List:
    case Kind::Tuple:
      return !heap.items(v).empty();
    case Kind::Dict:
      return !heap.pairs(v).empty();
    case Kind::Namespace:
    case Kind::Macro:
    case Kind::Builtin:
    case Kind::Method:
    case Kind::Loop:
      return true;
  }
  return false;
}

namespace {

bool equal_items(const Heap& heap, const Items& a, const Items& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!equal(heap, a[i], b[i])) return false;
  }
  return true;
}

bool equal_pairs(const Heap& heap, const Pairs& a, const Pairs& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a) {
    auto same =
        std::find_if(b.begin(), b.end(), [&](const auto& p) { return equal(heap, p.first, key); });
    if (same == b.end() || !equal(heap, same->second, value)) return false;
  }
  return true;
}

}  // namespace

bool equal(const Heap& heap, const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) {
    if (a.kind != Kind::Float && b.kind != Kind::Float) return a.integer == b.integer;
    return as_double(a) == as_double(b);
  }
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::Undefined:
    case Kind::None:
      return true;
    case Kind::String:
      return heap.text(a) == heap.text(b);
    case Kind::List:
    case Kind::Tuple:
      return equal_items(heap, heap.items(a), heap.items(b));
    case Kind::Dict:
      return equal_pairs(heap, heap.pairs(a), heap.pairs(b));
    case Kind::Namespace:
    case Kind::Macro:
    case Kind::Builtin:
    case Kind::Loop:
      return a.ref == b.ref;
    case Kind::Method:
      return a.ref == b.ref && a.self == b.self;
    case Kind::Bool:
    case Kind::Int:
    case Kind::Float:
      return false;  // numbers were compared above
  }
  return false;
}

int compare(const Heap& heap, const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) {
    if (a.kind != Kind::Float && b.kind != Kind::Float) {
      return a.integer < b.integer ? -1 : a.integer > b.integer;
    }
    double x = as_double(a), y = as_double(b);
    return x < y ? -1 : x > y;
  }
  if (a.kind == Kind::String && b.kind == Kind::String) {
    int order = heap.text(a).compare(heap.text(b));  // UTF-8 order is code point order
    return order < 0 ? -1 : order > 0;
  }
  if (is_sequence(a) && a.kind == b.kind) {
    const Items& x = heap.items(a);
    const Items& y = heap.items(b);
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (equal(heap, x[i], y[i])) continue;
      return compare(heap, x[i], y[i]);
    }
    return x.size() < y.size() ? -1 : x.size() > y.size();
  }
  return 2;
}

namespace {

// Python's repr of a float: shortest digits, exponent from 1e16 and below 1e-4.
std::string float_text(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  double magnitude = std::fabs(v);
  bool scientific = magnitude != 0 && (magnitude >= 1e16 || magnitude < 1e-4);
  char buffer[400];
  auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  auto end = std::to_chars(buffer, buffer + sizeof buffer, v, format).ptr;
  std::string out(buffer, end);
  if (!scientific && out.find('.') == out.npos) out += ".0";
  return out;
}

std::string string_repr(const std::string& text) {
  char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string out(1, quote);
  for (size_t pos = 0; pos < text.size();) {
    size_t begin = pos;
    uint32_t c = next_code_point(text, pos);
    if (c == static_cast<uint32_t>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7F) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\x%02x", c);
      out += buffer;
    } else {
      out.append(text, begin, pos - begin);
    }
  }
  return out += quote;
}

std::string items_repr(const Heap& heap, const Items& items) {
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out += ", ";
    out += repr(heap, items[i]);
  }
  return out;
}

std::string pairs_repr(const Heap& heap, const Pairs& pairs) {
  std::string out = "{";
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (i) out += ", ";
    out += repr(heap, pairs[i].first) + ": " + repr(heap, pairs[i].second);
  }
  return out + "}";
}

}  // namespace

std::string repr(const Heap& heap, const Value& v) {
  switch (v.kind) {
    case Kind::Undefined:
      return "Undefined";
    case Kind::None:
      return "None";
    case Kind::Bool:
      return v.integer ? "True" : "False";
    case Kind::Int:
      return std::to_string(v.integer);
    case Kind::Float:
      return float_text(v.number);
    case Kind::String:
      return string_repr(heap.text(v));
    case Kind::List:
      return "[" + items_repr(heap, heap.items(v)) + "]";
    case Kind::Tuple:
      return "(" + items_repr(heap, heap.items(v)) + (heap.items(v).size() == 1 ? ",)" : ")");
    case Kind::Dict:
      return pairs_repr(heap, heap.pairs(v));
    case Kind::Namespace:
      return "<Namespace " + pairs_repr(heap, heap.pairs(v)) + ">";
    case Kind::Macro:
      return "<Macro>";
    case Kind::Builtin:
      return "<function>";
    case Kind::Method:
      return "<method>";
    case Kind::Loop:
      return "<LoopContext>";
  }
  return {};
}

std::string str(const Heap& heap, const Value& v) {
  if (v.kind == Kind::String) return heap.text(v);
  if (v.kind == Kind::Undefined) return {};
  return repr(heap, v);
}

std::string_view type_name(const Value& v) {
  switch (v.kind) {
    case Kind::Undefined:
      return "undefined";
    case Kind::None:
      return "none";
    case Kind::Bool:
      return "a boolean";
    case Kind::Int:
      return "an integer";
    case Kind::Float:
      return "a float";
    case Kind::String:
      return "a string";
    case Kind::List:
      return "a list";
    case Kind::Tuple:
      return "a tuple";
    case Kind::Dict:
      return "a mapping";
    case Kind::Namespace:
      return "a namespace";
    case Kind::Macro:
      return "a macro";
    case Kind::Builtin:
    case Kind::Method:
      return "a function";
    case Kind::Loop:
      return "the loop variable";
  }
  return {};
}

std::vector<std::string> code_points(const std::string& text) {
  std::vector<std::string> out;
  for (size_t pos = 0; pos < text.size();) {
    size_t begin = pos;
    next_code_point(text, pos);
    out.push_back(text.substr(begin, pos - begin));
  }
  return out;
}

size_t code_point_count(const std::string& text) {
  size_t count = 0;
  for (char c : text) count += (static_cast<uint8_t>(c) & 0xC0) != 0x80;
  return count;
}

namespace {

// What is not ASCII, and the delete character, as escapes of UTF-16 units.
std::string ascii_only(std::string_view text) {
  std::string out;
  char buffer[16];
  for (size_t pos = 0; pos < text.size();) {
    uint32_t c = next_code_point(text, pos);
    if (c < 0x7F) {
      out += static_cast<char>(c);
    } else if (c < 0x10000) {
      std::snprintf(buffer, sizeof buffer, "\\u%04x", c);
      out += buffer;
    } else {
      uint32_t rest = c - 0x10000;
      std::snprintf(buffer, sizeof buffer, "\\u%04x\\u%04x", 0xD800 + (rest >> 10),
                    0xDC00 + (rest & 0x3FF));
      out += buffer;
    }
  }
  return out;
}

void json_string(const std::string& text, bool ascii, std::string& out) {
  std::string escaped = json_escape(text);
  out += '"' + (ascii ? ascii_only(escaped) : escaped) + '"';
}

void json_break(const JsonStyle& style, int depth, std::string& out) {
  if (style.indent < 0) return;
  out += '\n';
  out.append(static_cast<size_t>(style.indent * depth), ' ');
}

bool json_key(const Heap& heap, const Value& key, const JsonStyle& style, std::string& out) {
  switch (key.kind) {
    case Kind::String:
      json_string(heap.text(key), style.ensure_ascii, out);
      return true;
    case Kind::None:
      out += "\"null\"";
      return true;
    case Kind::Bool:
      out += key.integer ? "\"true\"" : "\"false\"";
      return true;
    case Kind::Int:
    case Kind::Float:
      out += '"' + repr(heap, key) + '"';
      return true;
    default:
      return false;
  }
}

bool json_list(const Heap& heap, const Items& items, const JsonStyle& style, std::string& out,
               int depth) {
  if (items.empty()) return out += "[]", true;
  out += '[';
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out += style.item_separator;
    json_break(style, depth + 1, out);
    if (!to_json(heap, items[i], style, out, depth + 1)) return false;
  }
  json_break(style, depth, out);
  out += ']';
  return true;
}

bool json_dict(const Heap& heap, const Pairs& pairs, const JsonStyle& style, std::string& out,
               int depth) {
  if (pairs.empty()) return out += "{}", true;
  Pairs sorted = pairs;
  if (style.sort_keys) {
    std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
      return compare(heap, a.first, b.first) == -1;
    });
  }
  out += '{';
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i) out += style.item_separator;
    json_break(style, depth + 1, out);
    if (!json_key(heap, sorted[i].first, style, out)) return false;
    out += style.key_separator;
    if (!to_json(heap, sorted[i].second, style, out, depth + 1)) return false;
  }
  json_break(style, depth, out);
  out += '}';
  return true;
}

}  // namespace

bool to_json(const Heap& heap, const Value& v, const JsonStyle& given, std::string& out,
             int depth) {
  if (depth > 200) return false;
  JsonStyle style = given;
  if (style.item_separator.empty()) style.item_separator = style.indent < 0 ? ", " : ",";
  if (style.key_separator.empty()) style.key_separator = ": ";
  switch (v.kind) {
    case Kind::None:
      out += "null";
      return true;
    case Kind::Bool:
      out += v.integer ? "true" : "false";
      return true;
    case Kind::Int:
      out += std::to_string(v.integer);
      return true;
    case Kind::Float:
      out += std::isnan(v.number)   ? "NaN"
             : std::isinf(v.number) ? (v.number > 0 ? "Infinity" : "-Infinity")
                                    : repr(heap, v);
      return true;
    case Kind::String:
      json_string(heap.text(v), style.ensure_ascii, out);
      return true;
    case Kind::List:
    case Kind::Tuple:
      return json_list(heap, heap.items(v), style, out, depth);
    case Kind::Dict:
      return json_dict(heap, heap.pairs(v), style, out, depth);
    case Kind::Undefined:
    case Kind::Namespace:
    case Kind::Macro:
    case Kind::Builtin:
    case Kind::Method:
    case Kind::Loop:
      return false;
  }
  return false;
}

}  // namespace axon::text::tmpl
