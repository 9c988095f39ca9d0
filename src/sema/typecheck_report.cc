// Diagnostics of the type checker, in the names that the user wrote.
#include <algorithm>

#include "ops/signature.h"
#include "sema/typecheck_checker.h"
#include "support/check.h"
#include "types/rests.h"

namespace axon::sema::types {

using namespace syntax;

NameId Checker::home_of(const Definition& def) {
  return def.helper.kind == HelperKind::None ? def.name : def.helper.parent;
}

std::string Checker::title(const Definition& def) const {
  const std::string home = "`" + std::string(s_.names.text(home_of(def))) + "`";
  if (def.helper.kind == HelperKind::None) return home;
  if (def.helper.kind != HelperKind::LoopStep) return "a branch in " + home;
  return "the body of the loop over `" + std::string(s_.names.text(def.helper.loop_var)) + "` in " +
         home;
}

void Checker::note_type(Frame& f, Diagnostic& report, Span where, TypeId type) {
  const bool tensor = t_.is_tensor(t_.strip_optional(f.u.resolve(type)));
  if (tensor)
    report.note(Note::NoteShapeHere, where, {show(f, type)});
  else
    report.note(Note::NoteHere, where, {"this has type " + show(f, type)});
}

int Checker::origin(Frame& f, Span span) {
  if (f.origins.empty() || !(f.origins.back() == span)) f.origins.push_back(span);
  return static_cast<int>(f.origins.size()) - 1;
}

namespace {

// Symbols made for one call print as the name that they were made from.
SymbolId shown_symbol(DimTable& d, SymbolId symbol) {
  const Symbol s = d.symbol(symbol);
  if (!s.generated || s.kind == SymbolKind::Unknown) return symbol;
  std::string_view name = d.names().text(s.name);
  size_t cut = name.rfind("__");
  if (cut == std::string_view::npos || cut == 0) return symbol;
  return d.symbol(d.names().intern(std::string(name.substr(0, cut))), s.kind);
}

}  // namespace

std::string Checker::show(Frame& f, DimId dim) {
  return d_.show(
      d_.substitute(f.u.resolve(dim), [&](SymbolId s) { return d_.of(shown_symbol(d_, s)); }));
}

std::string Checker::show(Frame& f, TypeId type) {
  TypeId shown = t_.substitute(
      f.u.resolve(type), [&](SymbolId s) { return d_.of(shown_symbol(d_, s)); },
      [&](SymbolId s, bool& found) {
        found = true;
        return std::vector<Axis>{{{}, shown_symbol(d_, s)}};
      },
      [&](SymbolId s) { return t_.variable(shown_symbol(d_, s)); });
  return t_.show(shown);
}

// Reports, or keeps the first error of a check that has no place of its own. The result is null
// where nothing was reported.
Diagnostic* Checker::report(Frame& f, Diag id, Span span, std::vector<DiagArg> args) {
  if (f.muted > 0) return nullptr;
  if (f.reports) {
    failed_[f.definition] = true;
    auto parent = program_.by_name.find(f.def.helper.parent);
    if (parent != program_.by_name.end()) failed_[parent->second] = true;
    Diagnostic& d = s_.sink.report(id, span, std::move(args));
    d.context = std::string(s_.names.text(home_of(f.def)));
    for (const std::string& overlay : program_.overlays) d.note(Note::NoteOverlay, span, {overlay});
    return &d;
  }
  if (!f.failure) {
    f.failure = Failure{};
    f.failure->message = format_message(diag_info(id).format, args);
    f.failure->span = span;
  }
  return nullptr;
}

Diagnostic* Checker::warn(Frame& f, Diag id, Span span, std::vector<DiagArg> args) {
  // The library's own text takes optionals for required values in places, by design of its
  // interface.
  if (f.muted > 0 || !f.reports || f.def.from_library) return nullptr;
  Diagnostic& d = s_.sink.report(id, span, std::move(args));
  d.context = std::string(s_.names.text(home_of(f.def)));
  return &d;
}

namespace {

std::string value_text(Frame& f, DimId dim) {
  auto value = f.u.value(dim);
  return value ? std::to_string(*value) : "not known";
}

}  // namespace

// A remainder that should be 0: what does not divide what.
Diagnostic* Checker::report_remainder(Frame& f, const Mismatch& m, const std::string& what,
                                      Span span) {
  const auto sides = remainder_of(d_, m.left_dim);
  if (!sides || d_.as_integer(m.right_dim) != 0) return nullptr;
  auto text = [&](DimId dim) {
    const auto value = f.u.value(dim);
    const std::string name = show(f, dim);
    return value && !d_.as_integer(dim) ? name + " (" + std::to_string(*value) + ")" : name;
  };
  return report(f, Diag::TypeDim, span,
                {what, text(sides->first), "a multiple of " + text(sides->second)});
}

Diagnostic* Checker::report_mismatch(Frame& f, const Mismatch& m, const std::string& place,
                                     Span span,
                                     std::optional<std::pair<Diag, std::vector<DiagArg>>> otherwise,
                                     Span expected) {
  Diagnostic* d = nullptr;
  std::string what = m.axis >= 0 ? "axis " + std::to_string(m.axis) + " of " + place : place;
  auto axes = [&](TypeId type) { return t_.get(f.u.resolve(type)).axes.size(); };
  switch (m.kind) {
    case Mismatch::Kind::Type:
    case Mismatch::Kind::TupleSize:
      d = otherwise
              ? report(f, otherwise->first, span, otherwise->second)
              : report(f, Diag::TypeMismatch, span, {what, show(f, m.left), show(f, m.right)});
      break;
    case Mismatch::Kind::Numeric:
      d = report(f, Diag::TypeNumeric, span, {what, show(f, m.left), show(f, m.right)});
      break;
    case Mismatch::Kind::Null:
      d = report(f, Diag::TypeNull, span, {what, show(f, m.right)});
      break;
    case Mismatch::Kind::Rank:
      d = report(f, Diag::TypeRank, span,
                 {what, show(f, m.left), axes(m.left), show(f, m.right), axes(m.right)});
      break;
    case Mismatch::Kind::Dim:
      if ((d = report_remainder(f, m, what, span))) break;
      d = report(f, Diag::TypeDim, span, {what, show(f, m.left_dim), show(f, m.right_dim)});
      break;
    case Mismatch::Kind::DimConst:
      if ((d = report_remainder(f, m, what, span))) break;
      d = report(f, Diag::TypeDimConst, span,
                 {what, show(f, m.left_dim), show(f, m.right_dim), value_text(f, m.left_dim),
                  value_text(f, m.right_dim)});
      break;
    case Mismatch::Kind::Variadic:
      d = report(f, Diag::TypeVariadic, span, {what, show(f, m.left), show(f, m.right)});
      break;
  }
  if (!d) return nullptr;
  bool shape = m.left.valid() && t_.is_tensor(f.u.resolve(m.left));
  if (shape) note_type(f, *d, span, m.left);
  if (expected.valid()) d->note(Note::NoteExpectedHere, expected);
  bool dims = m.kind == Mismatch::Kind::Dim || m.kind == Mismatch::Kind::DimConst;
  if (!dims) return d;
  for (SymbolId symbol : d_.symbols(f.u.resolve(m.left_dim))) {
    for (const Param& param : f.def.params) {
      if (!param.type.valid() || d_.symbol(symbol).generated) continue;
      std::vector<SymbolId> symbols;
      collect_symbols(f.params[static_cast<size_t>(&param - f.def.params.data())].type, symbols);
      if (std::find(symbols.begin(), symbols.end(), symbol) == symbols.end()) continue;
      d->note(Note::NoteBoundHere, s_.ast[param.type].span,
              {s_.names.text(d_.symbol(symbol).name)});
      break;
    }
  }
  return d;
}

void Checker::report_rule(Frame& f, const ops::RuleError& e, Op op, const Call* call, Span span,
                          const Binary* binary) {
  bool infix = op_info(op).op_class == OpClass::Core;
  std::string name =
      infix ? std::string(op_info(op).name.substr(std::string_view("core.binary.").size()))
            : std::string(s_.names.text(call->callee));
  std::string what = "`" + name + "`";
  Span where = span;
  if (!infix && e.argument >= 0) {
    auto i = static_cast<size_t>(e.argument);
    what = "argument `" + std::string(op_signature(op).params[i].name) + "` of " + what;
    if (i < call->args.size()) where = s_.ast[call->args[i].value].span;
  } else if (infix && e.argument >= 0) {
    what = std::string(e.argument == 0 ? "left" : "right") + " operand of " + what;
  }
  switch (e.kind) {
    case ops::RuleError::Kind::Mismatch:
      report_mismatch(f, e.mismatch, what, where);
      return;
    case ops::RuleError::Kind::Null:
      report(f, Diag::TypeNull, where, {what, show(f, e.mismatch.right)});
      return;
    case ops::RuleError::Kind::Other:
      report(f, Diag::TypePrim, where, {name, e.text});
      return;
    case ops::RuleError::Kind::Broadcast:
      break;
  }
  Diagnostic* d = report(f, Diag::TypeBroadcast, where,
                         {"`" + name + "`", show(f, e.mismatch.left), show(f, e.mismatch.right)});
  if (!d) return;
  auto note = [&](ExprId operand, TypeId type) { note_type(f, *d, s_.ast[operand].span, type); };
  if (call && call->args.size() >= 2) {
    note(call->args[0].value, e.mismatch.left);
    note(call->args[1].value, e.mismatch.right);
  } else if (binary) {
    note(binary->left, e.mismatch.left);
    note(binary->right, e.mismatch.right);
  }
}

// An error inside a definition that shows with these arguments only.
void Checker::report_call(Frame& f, const Failure& failure, size_t callee, Span span) {
  const Definition& def = program_.definitions[callee];
  if (f.muted > 0) return;
  if (!f.reports) {
    if (f.failure) return;
    f.failure = failure;
    f.failure->chain.emplace_back(span, home_of(f.def));
    return;
  }
  Diagnostic* d = report(f, Diag::TypeCall, span, {s_.names.text(def.name), failure.message});
  if (!d) return;
  if (failure.span.valid()) d->note(Note::NoteHere, failure.span, {failure.message});
  d->notes.insert(d->notes.end(), failure.notes.begin(), failure.notes.end());
  for (const auto& [where, name] : failure.chain) {
    d->note(Note::NoteCalledHere, where, {s_.names.text(name)});
  }
  d->note(Note::NoteCalledHere, span, {s_.names.text(home_of(f.def))});
}

}  // namespace axon::sema::types
