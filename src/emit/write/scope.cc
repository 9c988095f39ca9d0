// Naming and inlining.
#include "emit/write/scope.h"

#include <cctype>

#include "emit/py/print.h"
#include "support/check.h"
#include "support/text.h"

namespace axon::emit {
namespace {

// Longer expressions are not put into others: the line would have to be broken.
constexpr size_t kInlineWidth = 72;

}  // namespace

int Scope::uses(graph::ValueId value) const {
  auto it = uses_.find(value);
  return it == uses_.end() ? 0 : it->second;
}

std::string Scope::base_name(std::string_view source_name) {
  std::string base(source_name);
  size_t shadow = base.rfind("__g");
  if (shadow != std::string::npos && shadow > 0) base.resize(shadow);
  for (size_t cut;
       (cut = base.rfind('_')) != std::string::npos && cut > 0 && cut + 1 < base.size();) {
    bool digits = true;
    for (size_t i = cut + 1; i < base.size(); ++i)
      digits &= std::isdigit(static_cast<unsigned char>(base[i])) != 0;
    if (!digits) break;
    base.resize(cut);
  }
  size_t dot = base.find('.');
  if (dot != std::string::npos) base.resize(dot);
  bool generated = starts_with(base, "_v") || base.empty() || base == "_";
  return generated ? "y" : base;
}

std::string Scope::parameter(graph::ValueId value) {
  std::string name =
      names_.unique(base_name(types_.dims().names().text(joined_.values[value].name)));
  bind(value, name);
  return name;
}

void Scope::bind(graph::ValueId value, const std::string& name) {
  names_.reserve(name);
  bound_[value] = name;
  holder_[name] = value;
}

const std::string* Scope::name_of(graph::ValueId value) const {
  auto it = bound_.find(value);
  return it == bound_.end() ? nullptr : &it->second;
}

std::string Scope::name_for(graph::ValueId value) {
  std::string base = base_name(types_.dims().names().text(joined_.values[value].name));
  if (py::is_keyword(base)) base += '_';
  for (int n = 1;; ++n) {
    std::string name = n == 1 ? base : base + "_" + std::to_string(n);
    if (is_free(name)) return name;
  }
}

bool Scope::is_free(const std::string& name) const {
  auto it = holder_.find(name);
  return it == holder_.end() ? !names_.taken(name) : uses(it->second) <= 0;
}

Built Scope::use(graph::ValueId value) {
  auto waiting = pending_.find(value);
  if (waiting != pending_.end()) {
    Built built = std::move(waiting->second);
    pending_.erase(waiting);
    --uses_[value];
    return built;
  }
  const std::string* name = name_of(value);
  AXON_CHECK(name != nullptr, "a value is defined before its use");
  return {py::atom(*name), {value}};
}

void Scope::spend(const Built& built) {
  for (graph::ValueId value : built.reads) --uses_[value];
}

void Scope::define(graph::ValueId value, Built built, bool may_wait) {
  bool fits = waits_.count(value) != 0 || py::flat(built.expr).size() <= kInlineWidth;
  if (may_wait && uses(value) == 1 && fits) {
    pending_[value] = std::move(built);
    return;
  }
  spend(built);
  std::string name = name_for(value);
  bind(value, name);
  statement(py::assign(py::atom(name), std::move(built.expr)));
}

void Scope::define_all(const std::vector<graph::ValueId>& values, Built built) {
  spend(built);
  std::vector<py::Expr> targets;
  for (graph::ValueId value : values) {
    if (uses(value) <= 0) {
      targets.push_back(py::atom("_"));
      continue;
    }
    std::string name = name_for(value);
    bind(value, name);
    targets.push_back(py::atom(name));
  }
  statement(py::assign(py::one_or_tuple(std::move(targets)), std::move(built.expr)));
}

size_t Scope::pending_width(graph::ValueId value) const {
  auto it = pending_.find(value);
  return it == pending_.end() ? 0 : py::flat(it->second.expr).size();
}

std::optional<py::Expr> Scope::take_last(const py::Expr& names) {
  using Kind = py::Stmt::Kind;
  if (out_->empty() || out_->back().kind != Kind::Assign || names.kind != py::Expr::Kind::Tuple ||
      out_->back().exprs[0] != names)
    return std::nullopt;
  py::Expr made = std::move(out_->back().exprs[1]);
  out_->pop_back();
  return made;
}

void Scope::settle(const std::vector<graph::ValueId>& values) {
  for (graph::ValueId value : values) {
    auto waiting = pending_.find(value);
    if (waiting == pending_.end()) continue;
    Built built = std::move(waiting->second);
    pending_.erase(waiting);
    define(value, std::move(built), false);
  }
}

std::vector<py::Stmt>* Scope::redirect(std::vector<py::Stmt>* to) {
  std::vector<py::Stmt>* before = out_;
  out_ = to;
  return before;
}

}  // namespace axon::emit
