// Reads JSON documents of checkpoints into ConfigValue, with the byte offset of every mistake.
#include "runtime/formats/json.h"

#include <unordered_map>

#include "support/json.h"

namespace axon::formats {
namespace {

using model::ConfigValue;

class Converter {
 public:
  Converter(const std::string& file, const JsonOptions& options) : file_(file), options_(options) {}

  Error fail(int64_t at, const std::string& what) const {
    return Error{"FILE-JSON",
                 "`" + file_ + "` is not valid JSON: " + what,
                 file_,
                 options_.base_offset + at,
                 {}};
  }

  Result<ConfigValue> value(json::Value from) const {
    switch (from.kind()) {
      case json::Kind::Missing:
      case json::Kind::Null:
        return ConfigValue::null();
      case json::Kind::Bool:
        return scalar<bool>(from);
      case json::Kind::Int:
        return scalar<int64_t>(from);
      case json::Kind::Float:
        return scalar<double>(from);
      case json::Kind::String: {
        std::string_view text;
        from.get(text);
        return ConfigValue::of(std::string(text));
      }
      case json::Kind::Array:
        return list(from);
      case json::Kind::Object:
        return map(from);
    }
    return ConfigValue::null();
  }

 private:
  template <class T>
  static ConfigValue scalar(json::Value from) {
    T out{};
    from.get(out);
    return ConfigValue::of(out);
  }

  Result<ConfigValue> list(json::Value from) const {
    ConfigValue out;
    out.kind = ConfigValue::Kind::List;
    for (json::Value item : from) {
      AXON_TRY(ConfigValue converted, value(item));
      out.items.push_back(std::move(converted));
    }
    return out;
  }

  Result<ConfigValue> map(json::Value from) const {
    ConfigValue out;
    out.kind = ConfigValue::Kind::Map;
    std::unordered_map<std::string_view, size_t> seen;
    for (auto it = from.begin(); it != from.end(); ++it) {
      AXON_TRY(ConfigValue converted, value(*it));
      auto [place, fresh] = seen.emplace(it.key(), out.members.size());
      if (fresh) {
        out.members.emplace_back(std::string(it.key()), std::move(converted));
      } else if (options_.duplicates == DuplicateKeys::Refuse) {
        return fail(static_cast<int64_t>(it.key_offset()),
                    "key `" + std::string(it.key()) + "` occurs twice");
      } else {
        out.members[place->second].second = std::move(converted);
      }
    }
    return out;
  }

  const std::string& file_;
  const JsonOptions& options_;
};

}  // namespace

Result<ConfigValue> parse_json(std::string_view text, const std::string& file,
                               const JsonOptions& options) {
  Converter converter(file, options);
  auto document = json::parse(text);
  if (!document) return converter.fail(document.error().offset, document.error().message);
  return converter.value(document->root());
}

}  // namespace axon::formats
