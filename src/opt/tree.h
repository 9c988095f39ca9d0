// Values during specialisation: what is known of a program value, as a tree of lists and tuples.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "types/dim.h"

namespace axon::opt {

AXON_ID(TreeId);

struct Tree {
  enum class Kind : uint8_t {
    Null,
    Bool,
    Int,
    Float,
    String,
    Path,
    Tensor,
    List,
    Tuple
  } kind = Kind::Null;
  bool boolean = false;  // Bool; Path: it is absolute
  double number = 0;     // Float
  NameId text;           // String; Path: its dotted text, `{i}` for a segment that stays symbolic
  DimId dim;             // Int: an expression over shape and data symbols
  graph::ValueId value;  // Tensor: its value in the flat module (invalid in an input tree)
  std::vector<DimId> dims;  // Tensor
  DType dtype = DType::Unknown;
  std::vector<TreeId> items;  // List, Tuple
  TreeId base;                // List: the list that the last item was appended to
};
std::string_view spelling(Tree::Kind kind);

// Owns trees; the children of a tree are older than it. Trees are immutable and shared.
class Forest {
 public:
  TreeId null();
  TreeId boolean(bool value);
  TreeId integer(DimId dim);
  TreeId number(double value);
  TreeId string(NameId text);
  TreeId path(NameId text, bool absolute);
  TreeId tensor(std::vector<DimId> dims, DType dtype, graph::ValueId value = {});
  TreeId list(std::vector<TreeId> items);
  TreeId tuple(std::vector<TreeId> items);
  TreeId appended(TreeId list, TreeId item);
  // References stay valid.
  const Tree& operator[](TreeId id) const { return trees_[static_cast<size_t>(id.index)]; }
  size_t size() const { return trees_.size(); }
  // `[(f32[B,4,C,8], S)]`; values of tensors are left out.
  std::string show(TreeId id, const DimTable& dims) const;

 private:
  TreeId add(Tree tree);
  std::deque<Tree> trees_;
};

// Leaves of a tree with their places: `0.3.1`, empty for a tree that is a leaf itself.
struct Leaf {
  std::string place;
  TreeId tree;
};
std::vector<Leaf> leaves(const Forest& forest, TreeId root);
// The two trees have the same lists, tuples, nulls, strings and flags; numbers and shapes may
// differ.
bool same_structure(const Forest& forest, TreeId a, TreeId b);

}  // namespace axon::opt
