// JSON documents as one flat array of nodes; every mistake has its byte offset.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace axon::json {

enum class Kind : uint8_t { Missing, Null, Bool, Int, Float, String, Array, Object };

class Document;

// A value of a document that outlives it. Reads of another kind answer false.
class Value {
 public:
  Value() = default;
  Kind kind() const;
  bool is_null() const { return kind() == Kind::Null; }
  bool get(bool& out) const;
  bool get(int64_t& out) const;
  bool get(double& out) const;  // integers too
  bool get(std::string_view& out) const;
  size_t size() const;           // items of an array, members of an object
  Value at(size_t index) const;  // of an array; Missing outside
  Value operator[](
      std::string_view key) const;  // of an object, the last of equal keys; Missing without
  size_t offset() const;            // byte of the document's text
  bool get(Value& out) const {
    out = *this;
    return kind() != Kind::Missing;
  }

  // Items of an array in order; values of an object with key().
  class Iterator {
   public:
    Iterator(const Document* document, uint32_t node, bool keyed)
        : document_(document), node_(node), keyed_(keyed) {}
    bool operator!=(const Iterator& other) const { return node_ != other.node_; }
    Iterator& operator++();
    Value operator*() const;
    std::string_view key() const;
    size_t key_offset() const;

   private:
    const Document* document_;
    uint32_t node_;
    bool keyed_;
  };
  Iterator begin() const;
  Iterator end() const;

 private:
  friend class Document;
  Value(const Document* document, uint32_t node) : document_(document), node_(node) {}
  const Document* document_ = nullptr;
  uint32_t node_ = 0;
};

// The same with a kind that has been checked.
struct Array : Value {
  using Value::Value;
  Array() = default;
  explicit Array(Value v) : Value(v) {}
};
struct Object : Value {
  using Value::Value;
  Object() = default;
  explicit Object(Value v) : Value(v) {}
};
bool get(const Value& value, Array& out);
bool get(const Value& value, Object& out);

class Document {
 public:
  Value root() const { return Value(this, 0); }

 private:
  friend class Value;
  friend class Value::Iterator;
  friend class Reader;
  struct Node {
    Kind kind = Kind::Null;
    uint32_t end = 0;  // one past the last node below this one
    uint32_t offset = 0;
    uint32_t count = 0;  // Array, Object; String: bytes
    union {
      int64_t integer = 0;  // Bool, Int
      double number;        // Float
      uint64_t text;        // String: where it begins in `texts_`
    };
  };
  std::vector<Node> nodes_;  // an object's members are a key (String) and a value each
  std::string texts_;
};

// Accepts what Python's json module accepts: strict JSON plus NaN, Infinity and -Infinity; integers
// beyond 64 bits become floats. Texts of at least 4 GiB are refused. Errors: FILE-JSON, the offset
// being that in `text`.
Result<Document> parse(std::string_view text);

}  // namespace axon::json
