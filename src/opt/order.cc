// Hashes and equality of operands and nodes.
#include "opt/order.h"

#include <cstring>

namespace axon::opt {
namespace {

size_t bits_of(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<size_t>(bits);
}

size_t hash_path(const graph::Path& path) {
  size_t h = path.absolute;
  for (const graph::PathPiece& piece : path.pieces) {
    h = hash_mix(h, static_cast<size_t>(piece.text.index));
    h = hash_mix(h, static_cast<size_t>(piece.value.index + 1));
  }
  return h;
}

}  // namespace

size_t hash_operand(const graph::Operand& operand) {
  using graph::OperandKind;
  size_t h = static_cast<size_t>(operand.kind());
  switch (operand.kind()) {
    case OperandKind::Ref:
      return hash_mix(h, static_cast<size_t>(operand.as<graph::Ref>().value.index));
    case OperandKind::Global:
      return hash_mix(h, static_cast<size_t>(operand.as<graph::GlobalRef>().module.index));
    case OperandKind::Dim:
      return hash_mix(h, static_cast<size_t>(operand.as<graph::DimRef>().dim.index));
    case OperandKind::Null:
      return h;
    case OperandKind::Bool:
      return hash_mix(h, operand.as<graph::LitBool>().value);
    case OperandKind::Int:
      return hash_mix(h, static_cast<size_t>(operand.as<graph::LitInt>().value));
    case OperandKind::Float:
      return hash_mix(h, bits_of(operand.as<graph::LitFloat>().value));
    case OperandKind::String:
      return hash_mix(h, static_cast<size_t>(operand.as<graph::LitString>().value.index));
    case OperandKind::Path:
      return hash_mix(h, hash_path(operand.as<graph::Path>()));
    case OperandKind::Nested:
      return hash_mix(h, static_cast<size_t>(operand.as<graph::Nested>().expr.index));
  }
  return h;
}

bool same_operand(const graph::Operand& a, const graph::Operand& b) {
  using graph::OperandKind;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case OperandKind::Ref:
      return a.as<graph::Ref>().value == b.as<graph::Ref>().value;
    case OperandKind::Global:
      return a.as<graph::GlobalRef>().module == b.as<graph::GlobalRef>().module;
    case OperandKind::Dim:
      return a.as<graph::DimRef>().dim == b.as<graph::DimRef>().dim;
    case OperandKind::Null:
      return true;
    case OperandKind::Bool:
      return a.as<graph::LitBool>().value == b.as<graph::LitBool>().value;
    case OperandKind::Int:
      return a.as<graph::LitInt>().value == b.as<graph::LitInt>().value;
    case OperandKind::Float:
      return bits_of(a.as<graph::LitFloat>().value) == bits_of(b.as<graph::LitFloat>().value);
    case OperandKind::String:
      return a.as<graph::LitString>().value == b.as<graph::LitString>().value;
    case OperandKind::Path:
      return a.as<graph::Path>() == b.as<graph::Path>();
    case OperandKind::Nested:
      return a.as<graph::Nested>().expr == b.as<graph::Nested>().expr;
  }
  return false;
}

size_t hash_node(const graph::Node& node) {
  size_t h = hash_mix(static_cast<size_t>(node.op), static_cast<size_t>(node.callee.index + 1));
  for (const graph::Operand& input : node.inputs) h = hash_mix(h, hash_operand(input));
  for (const graph::Attr& attr : node.attrs) {
    h = hash_mix(hash_mix(h, static_cast<size_t>(attr.name.index)), hash_operand(attr.value));
  }
  return h;
}

bool same_node(const graph::Node& a, const graph::Node& b) {
  if (a.op != b.op || a.callee != b.callee || a.repeat != b.repeat) return false;
  if (a.inputs.size() != b.inputs.size() || a.attrs.size() != b.attrs.size()) return false;
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    if (!same_operand(a.inputs[i], b.inputs[i])) return false;
  }
  for (size_t i = 0; i < a.attrs.size(); ++i) {
    if (a.attrs[i].name != b.attrs[i].name || !same_operand(a.attrs[i].value, b.attrs[i].value))
      return false;
  }
  return true;
}

}  // namespace axon::opt
