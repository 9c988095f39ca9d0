// Reads the signature texts of ops.def.
#include "ops/signature.h"

#include <array>

#include "support/check.h"
#include "support/text.h"

namespace axon {
namespace {

// Splits at top-level commas (outside of brackets and quotes).
std::vector<std::string_view> split_params(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      std::string_view part = trim(text.substr(begin, i - begin));
      if (!part.empty()) out.push_back(part);
      begin = i + 1;
    } else if (text[i] == '[' || text[i] == '(') {
      ++depth;
    } else if (text[i] == ']' || text[i] == ')') {
      --depth;
    }
  }
  return out;
}

OpSignature parse_signature(std::string_view text) {
  OpSignature out;
  size_t arrow = text.rfind("->");
  AXON_CHECK(arrow != text.npos, "signature without a result");
  out.result = trim(text.substr(arrow + 2));
  bool leading = true;
  for (std::string_view part : split_params(text.substr(0, arrow))) {
    OpParam param;
    if (part[0] == '?') {
      param.optional = true;
      part.remove_prefix(1);
    }
    size_t colon = part.find(':');
    param.name = trim(part.substr(0, colon));
    std::string_view rest = part.substr(colon + 1);
    size_t equals = rest.find('=');
    if (equals != rest.npos) {
      param.has_default = true;
      param.default_text = trim(rest.substr(equals + 1));
      rest = rest.substr(0, equals);
    }
    param.type = trim(rest);
    if (param.type[0] == '?') {
      param.nullable = true;
      param.type.remove_prefix(1);
    }
    if (param.type == "Any") param.nullable = true;
    if (leading && param.type == "Path" && !param.optional) {
      ++out.path_slots;
    } else {
      leading = false;
    }
    out.params.push_back(param);
  }
  return out;
}

}  // namespace

const OpSignature& op_signature(Op primitive) {
  static const auto* const kSignatures = [] {
    auto* all = new std::array<OpSignature, kOpCount>();
    for (size_t i = 0; i < kOpCount; ++i) {
      const OpInfo& info = op_info(static_cast<Op>(i));
      if (info.op_class == OpClass::Primitive) (*all)[i] = parse_signature(info.signature);
    }
    return all;
  }();
  AXON_CHECK(op_info(primitive).op_class == OpClass::Primitive, "signature of a non-primitive");
  return (*kSignatures)[static_cast<size_t>(primitive)];
}

}  // namespace axon
