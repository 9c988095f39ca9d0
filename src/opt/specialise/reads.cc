// Reads of parameters, checked against the shapes that the program gives them. A read that fails
// is noted, and the program goes on as if the tensor were right, so that all failures are found.
#include <fmt/format.h>

#include <algorithm>

#include "opt/specialise/specialiser.h"
#include "support/text.h"

namespace axon::opt {
namespace {

using Outcome = ParamRead::Outcome;

std::string show(const std::vector<int64_t>& shape) {
  std::vector<std::string> sizes;
  for (int64_t n : shape) sizes.push_back(std::to_string(n));
  return fmt::format("[{}]", join(sizes, ","));
}

// Where any size will do, the size that is there, else `*`.
std::string show(const std::vector<std::optional<int64_t>>& wants,
                 const std::vector<int64_t>& found) {
  std::vector<std::string> sizes;
  for (size_t i = 0; i < wants.size(); ++i) {
    std::optional<int64_t> n = wants[i];
    if (!n && found.size() == wants.size()) n = found[i];
    sizes.push_back(n ? std::to_string(*n) : "*");
  }
  return fmt::format("[{}]", join(sizes, ","));
}

bool fits(const std::vector<int64_t>& found, const std::vector<std::optional<int64_t>>& wants) {
  if (found.size() != wants.size()) return false;
  for (size_t i = 0; i < wants.size(); ++i) {
    if (wants[i] && *wants[i] != found[i]) return false;
  }
  return true;
}

}  // namespace

std::vector<DiagNote> Specialiser::calls() const {
  std::vector<DiagNote> notes;
  NameId last;
  for (const Frame* f = frame_; f && f->caller && f->call; f = f->caller) {
    // Of branches and loops, which are modules too, the innermost says where.
    const NameId made = graph_[f->caller->id].name;
    const NameId source = f->call->source.valid() ? f->call->source : made;
    if (source == last) continue;
    last = source;
    notes.push_back({Note::NoteCalledHere, f->call->span, {std::string(names_.text(source))}});
  }
  return notes;
}

ParamRead& Specialiser::note_read(NameId key, Outcome outcome) {
  ParamRead read;
  read.key = names_.text(at(key, round_));
  read.outcome = outcome;
  if (node_) read.span = node_->span;
  if (outcome != Outcome::Found) read.notes = calls();
  broken_ |= read.fails();
  read_keys_.push_back(key);
  reads_.push_back(std::move(read));
  return reads_.back();
}

// What a round reads when it is not written because it is like another.
void Specialiser::repeat_reads(const WrittenRound& written, int64_t round) {
  for (size_t i = written.first_read; i < written.after_read; ++i) {
    ParamRead read = reads_[i];
    read.key = names_.text(at(read_keys_[i], round));
    read_keys_.push_back(read_keys_[i]);
    reads_.push_back(std::move(read));
  }
}

const model::Resolved* Specialiser::read_param(NameId key, const Wants* wants) {
  const model::Resolved* found = resolve(key);
  if (found && (!wants || fits(found->shape, *wants))) {
    note_read(key, Outcome::Found);
    return found;
  }
  // There is no going on with sizes that no tensor has.
  if (wants && std::any_of(wants->begin(), wants->end(), [](auto n) { return n && *n < 1; }))
    failed_ = true;
  if (!found) {
    ParamRead& read = note_read(key, Outcome::Missing);
    if (wants) read.wants = show(*wants, {});
    return nullptr;
  }
  ParamRead& read = note_read(key, Outcome::Shape);
  read.found = show(found->shape);
  read.wants = show(*wants, found->shape);
  return nullptr;
}

// The same for parameters of layers, which compute with floats.
const model::Resolved* Specialiser::read_weight(NameId key, const Wants& wants) {
  const model::Resolved* found = read_param(key, &wants);
  if (!found || is_float(storage_info(found->storage).dtype)) return found;
  ParamRead& read = reads_.back();
  read.outcome = Outcome::Type;
  broken_ = true;
  read.notes = calls();
  read.found = storage_info(found->storage).name;
  read.wants = "no layer computes with";
  return nullptr;
}

// A width that only the call knows must be that of the weight then.
void Specialiser::bind_width(DimId dim, int64_t wanted, NameId key) {
  if (dims_.as_integer(dim)) return;
  DimFact fact;
  fact.tensor = at(key, round_);
  fact.left = dim;
  fact.right = dims_.integer(wanted);
  add_fact(fact);
}

// The matrix of a layer, or a bank of them, for an input of width `in`.
Specialiser::Matrix Specialiser::read_matrix(NameId key, bool banked, bool transpose,
                                             std::optional<int64_t> out, DimId in) {
  std::optional<int64_t> width = dims_.as_integer(in);
  Wants wants;
  if (banked) wants.push_back(std::nullopt);
  wants.push_back(transpose ? width : out);
  wants.push_back(transpose ? out : width);
  const model::Resolved* weight = read_weight(key, wants);
  Matrix made;
  if (weight) {
    size_t lead = banked ? 1 : 0;
    bind_width(in, weight->shape[lead + (transpose ? 0 : 1)], key);
    if (!out) out = weight->shape[lead + (transpose ? 1 : 0)];
    if (banked) made.bank = weight->shape[0];
  }
  made.out = out ? dims_.integer(*out) : guess();
  return made;
}

// Whether there is a bias; one that was asked for may be missing.
bool Specialiser::read_bias(NameId key, const Wants& wants) {
  bool found = resolve(key) != nullptr;
  if (found)
    read_weight(key, wants);
  else
    note_read(key, Outcome::NoBias);
  return found;
}

// The tensor of the latest read of `key` turned out to have a wrong shape.
void Specialiser::spoil(NameId key, std::string wants) {
  size_t i = reads_.size();
  while (i > 0 && read_keys_[i - 1] != key) --i;
  if (i == 0) return;
  ParamRead& read = reads_[i - 1];
  if (read.fails()) return;
  const model::Resolved* found = resolve(key);
  read.outcome = Outcome::Shape;
  broken_ = true;
  read.found = found ? show(found->shape) : "";
  read.wants = std::move(wants);
  read.notes = calls();
}

// An operation of two tensors whose shapes do not fit: when one of them is a parameter, that one is
// wrong, and the result is as large as the other.
TreeId Specialiser::misfit(const Args& args) {
  if (args.size() != 2 || !is_tensor(args[0]) || !is_tensor(args[1])) return {};
  auto first = params_.find(forest_[args[0]].value), second = params_.find(forest_[args[1]].value);
  if ((first == params_.end()) == (second == params_.end())) return {};
  size_t i = first != params_.end() ? 0 : 1;
  const Tree& param = forest_[args[i]];
  const Tree& other = forest_[args[1 - i]];
  if (param.dims.size() > other.dims.size()) return {};
  Wants wants;  // leading axes that no constant faces are not wanted
  std::vector<int64_t> found;
  bool differs = false;
  for (size_t axis = 0; axis < param.dims.size(); ++axis) {
    DimId dim = other.dims[other.dims.size() - param.dims.size() + axis];
    found.push_back(dims_.as_integer(param.dims[axis]).value_or(1));
    std::optional<int64_t> want = found.back() == 1 ? 1 : dims_.as_integer(dim);
    differs |= (want && *want != found.back()) || is_guess(dim);
    if (want || !wants.empty()) wants.push_back(want);
  }
  if (!differs || fits(found, wants)) return {};  // only a call knows
  spoil((i == 0 ? first : second)->second, show(wants, found));
  return args[1 - i];
}

// A size that nothing says.
DimId Specialiser::guess() {
  unsure_ = true;
  if (!guess_.valid()) guess_ = dims_.fresh("unknown", SymbolKind::Param);
  return dims_.of(guess_);
}

std::optional<int64_t> Specialiser::wanted(TreeId dim) {
  if (!dim.valid() || forest_[dim].kind != Tree::Kind::Int) return {};
  return integer_of(forest_[dim].dim);
}

// Hands the reads over; false when one fails.
bool Specialiser::deliver_reads() {
  ParamReads own;
  ParamReads& to = options_.reads ? *options_.reads : own;
  for (ParamRead& read : reads_) {
    read.call = to.calls;
    to.all.push_back(std::move(read));
  }
  ++to.calls;
  to.stopped |= failed_;
  if (!options_.reads) report_reads(own, answers_.params, sink_);
  return !broken_;
}

}  // namespace axon::opt
