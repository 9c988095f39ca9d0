// Values of a template run: small handles into a heap that lives as long as one rendering.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/result.h"

namespace axon::text::tmpl {

enum class Kind : uint8_t {
  Undefined,
  None,
  Bool,
  Int,
  Float,
  String,
  List,
  Tuple,
  Dict,
  Namespace,
  Macro,
  Builtin,
  Method,
  Loop
};

struct Value {
  Kind kind = Kind::Undefined;
  int32_t ref = -1;     // heap index; Builtin and Method: which one
  int32_t self = -1;    // Method: heap index of the receiver in `boxes`
  int64_t integer = 0;  // Bool, Int
  double number = 0;    // Float
};

using Items = std::vector<Value>;
using Pairs = std::vector<std::pair<Value, Value>>;

// State behind the `loop` variable.
struct LoopState {
  Items items;
  size_t index = 0;
  int depth = 0;
  Value last_changed;
  bool has_changed = false;
  int32_t for_stmt = -1;  // recursive loops: the statement to call again
};

class Heap {
 public:
  Value none() const { return {Kind::None}; }
  Value boolean(bool v) const { return {Kind::Bool, -1, -1, v, 0}; }
  Value integer(int64_t v) const { return {Kind::Int, -1, -1, v, 0}; }
  Value number(double v) const { return {Kind::Float, -1, -1, 0, v}; }
  Value string(std::string v);
  Value list(Items items);
  Value tuple(Items items);
  Value dict(Pairs pairs);
  Value name_space(Pairs pairs);
  Value loop(LoopState state);
  Value method(Value receiver, int32_t which);
  // The name of the missing thing is kept for messages.
  Value undefined(std::string_view name);

  const std::string& text(const Value& v) const { return strings_[static_cast<size_t>(v.ref)]; }
  const Items& items(const Value& v) const { return lists_[static_cast<size_t>(v.ref)]; }
  const Pairs& pairs(const Value& v) const { return dicts_[static_cast<size_t>(v.ref)]; }
  Pairs& pairs(const Value& v) { return dicts_[static_cast<size_t>(v.ref)]; }
  LoopState& loop_state(const Value& v) { return loops_[static_cast<size_t>(v.ref)]; }
  const Value& receiver(const Value& method) const {
    return boxes_[static_cast<size_t>(method.self)];
  }

  const Value* find(const Value& dict, std::string_view key) const;
  void set(const Value& dict, std::string_view key, Value value);
  size_t bytes() const { return bytes_; }

 private:
  std::deque<std::string> strings_;
  std::deque<Items> lists_;
  std::deque<Pairs> dicts_;
  std::deque<LoopState> loops_;
  std::deque<Value> boxes_;
  size_t bytes_ = 0;
};

bool is_number(const Value& v);    // Bool, Int, Float
bool is_sequence(const Value& v);  // List, Tuple
double as_double(const Value& v);
bool truthy(const Heap& heap, const Value& v);
bool equal(const Heap& heap, const Value& a, const Value& b);
// -1, 0, 1, or 2 when the two cannot be ordered.
int compare(const Heap& heap, const Value& a, const Value& b);
// Python's str() and repr().
std::string str(const Heap& heap, const Value& v);
std::string repr(const Heap& heap, const Value& v);
std::string_view type_name(const Value& v);

// Strings by code points.
std::vector<std::string> code_points(const std::string& text);
size_t code_point_count(const std::string& text);

struct JsonStyle {
  int indent = -1;             // -1: one line
  std::string item_separator;  // empty: Python's default
  std::string key_separator;
  bool sort_keys = false;
  bool ensure_ascii = false;
};
// Nothing when a value has no JSON form (undefined, a macro, …).
bool to_json(const Heap& heap, const Value& v, const JsonStyle& style, std::string& out,
             int depth = 0);
Result<Value> from_json(Heap& heap, const std::string& text);

}  // namespace axon::text::tmpl
