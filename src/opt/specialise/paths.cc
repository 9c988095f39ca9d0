// Evaluation of paths: placeholders become text, empty pieces vanish (language.md 8.5).
#include <fmt/format.h>

#include "opt/specialise/specialiser.h"
#include "support/text.h"

namespace axon::opt {
namespace {

// Dots that placeholders brought in start new segments; empty segments vanish.
std::string without_empty_segments(std::string_view dotted) {
  std::string out;
  for (std::string_view segment : split(dotted, '.')) {
    if (segment.empty()) continue;
    if (!out.empty()) out += '.';
    out += segment;
  }
  return out;
}

}  // namespace

NameId Specialiser::path_text(Frame& frame, const graph::Path& path) {
  std::string text;
  for (const graph::PathPiece& piece : path.pieces) {
    if (!piece.joined && !text.empty()) text += '.';
    if (!piece.placeholder) {
      text += names_.text(piece.text);
      continue;
    }
    TreeId tree;
    if (piece.value.valid()) {
      tree = frame.values[static_cast<size_t>(piece.value.index)];
    } else if (piece.global.valid()) {
      tree = global(piece.global);
    } else {
      DimId dim = resolve_dim(frame, piece.dim);
      if (dim.valid()) tree = forest_.integer(dim);
    }
    if (!tree.valid()) return {};
    const Tree& t = forest_[tree];
    if (t.kind == Tree::Kind::String || t.kind == Tree::Kind::Path) {
      text += names_.text(t.text);
      continue;
    }
    if (t.kind == Tree::Kind::Int && depends_on_round(t.dim)) {
      text += names_.text(marker(t.dim));
      continue;
    }
    std::optional<int64_t> value =
        t.kind == Tree::Kind::Int ? dims_.as_integer(t.dim) : std::nullopt;
    if (!value && t.kind == Tree::Kind::Int) {
      fail(fmt::format("placeholder `{{{}}}` is known only at run time", names_.text(piece.text)));
      return {};
    }
    if (!value) {
      report(Diag::RunPlaceholder, {std::string(names_.text(piece.text)), opt::spelling(t.kind)});
      return {};
    }
    text += std::to_string(*value);
  }
  return names_.intern(without_empty_segments(text));
}

TreeId Specialiser::path(Frame& frame, const graph::Path& path) {
  NameId text = path_text(frame, path);
  return text.valid() ? forest_.path(text, path.absolute) : TreeId{};
}

NameId Specialiser::scope_of(Frame& frame, const graph::Node& node) {
  if (node.scope.pieces.empty()) return frame.scope;
  NameId text = path_text(frame, node.scope);
  return text.valid() && !names_.text(text).empty() ? text : frame.scope;
}

}  // namespace axon::opt
