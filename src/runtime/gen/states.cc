// Row and token operations on the stores, as runs of bytes.
#include "runtime/gen/states.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/int_table.h"
#include "runtime/core/number.h"
#include "support/check.h"

namespace axon::runtime {
namespace {

int64_t element_bytes(const View& view) { return storage_info(view.storage).block_bytes; }
int64_t buffer_bytes(const View& view) { return view.count() * element_bytes(view); }

}  // namespace

Result<StateSet> StateSet::plan(const Program& program, const Bindings& bindings,
                                DType token_dtype) {
  StateSet set;
  set.program_ = &program;
  IntTable ints(program);
  ints.evaluate(bindings);
  for (const State& state : program.states) {
    View view;
    const bool narrow = state.kind == State::Kind::Token && state.dtype == DType::F32;
    view.storage = plain_storage(narrow ? token_dtype : state.dtype);
    view.rank = static_cast<int8_t>(state.shape.size());
    for (size_t a = 0; a < state.shape.size(); ++a) {
      if (!ints.known(state.shape[a]) || ints[state.shape[a]] < 0) {
        return Error{"RUN-SHAPE", "the size of state `" + state.name + "` is not known"};
      }
      view.shape[a] = ints[state.shape[a]];
    }
    set_contiguous(view);
    set.bytes_ += buffer_bytes(view);
    set.views_.push_back(view);
  }
  return set;
}

Result<void> StateSet::allocate() {
  for (View& view : views_) {
    AXON_TRY(Buffer buffer, Buffer::allocate(static_cast<size_t>(buffer_bytes(view))));
    view.data = buffer.data();
    buffers_.push_back(std::move(buffer));
  }
  return {};
}

bool StateSet::all_token() const {
  return std::all_of(program_->states.begin(), program_->states.end(), [](const State& s) {
    return s.kind == State::Kind::Token || s.kind == State::Kind::Fixed;
  });
}

int64_t StateSet::tokens(size_t state) const {
  const int32_t axis = program_->states[program_->states.id_at(state)].token_axis;
  return axis < 0 ? -1 : views_[state].shape[axis];
}

template <class Body>
void StateSet::each_run(size_t state, int64_t row, int64_t from, int64_t to, Body&& body) const {
  const State& facts = program_->states[program_->states.id_at(state)];
  const View& view = views_[state];
  const int token = facts.token_axis;
  const int last = std::max(facts.row_axis, token);  // runs are contiguous behind this axis
  int64_t run = element_bytes(view), prefixes = 1;
  for (int a = last + 1; a < view.rank; ++a) run *= view.shape[a];
  for (int a = 0; a < last; ++a) prefixes *= view.shape[a];
  for (int64_t p = 0; p < prefixes; ++p) {
    int64_t index[kMaxRank] = {};
    int64_t rest = p;
    for (int a = last - 1; a >= 0; --a) {
      index[a] = rest % view.shape[a];
      rest /= view.shape[a];
    }
    if (facts.row_axis < last && index[facts.row_axis] != row) continue;
    if (token >= 0 && token < last && (index[token] < from || index[token] >= to)) continue;
    const int64_t first = last == token ? from : last == facts.row_axis ? row : 0;
    const int64_t count = last == token ? to - from : 1;
    if (count > 0) body((p * view.shape[last] + first) * run, count * run);
  }
}

void StateSet::reset(int64_t row) {
  for (size_t s = 0; s < views_.size(); ++s) {
    each_run(s, row, 0, tokens(s), [&](int64_t at, int64_t bytes) {
      buffers_[s].discard(static_cast<size_t>(at), static_cast<size_t>(at + bytes));
    });
  }
}

void StateSet::fork(int64_t from, int64_t to, int64_t length) {
  if (from == to) return;
  for (size_t s = 0; s < views_.size(); ++s) {
    const int64_t held = std::min(length, tokens(s));
    std::vector<int64_t> sources;
    each_run(s, from, 0, held, [&](int64_t at, int64_t) { sources.push_back(at); });
    size_t next = 0;
    each_run(s, to, 0, held, [&](int64_t at, int64_t bytes) {
      std::memcpy(buffers_[s].data() + at, buffers_[s].data() + sources[next++],
                  static_cast<size_t>(bytes));
    });
  }
}

void StateSet::reorder(const std::vector<int64_t>& perm, int64_t length) {
  const auto rows = static_cast<int64_t>(perm.size());
  std::vector<std::string> saved(perm.size());
  for (int64_t r = 0; r < rows; ++r) {
    const bool moved = perm[static_cast<size_t>(r)] != r;
    const bool wanted =
        std::any_of(perm.begin(), perm.end(), [&](int64_t from) { return from == r; });
    if (moved && !wanted) continue;
    saved[static_cast<size_t>(r)] = save(r, length);
  }
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t from = perm[static_cast<size_t>(r)];
    if (from == r) continue;
    const auto put = restore(r, saved[static_cast<size_t>(from)]);
    AXON_CHECK(put.ok(), "a row of the same set fits");
  }
}

void StateSet::truncate(int64_t row, int64_t length) {
  AXON_CHECK(all_token(), "only token states can be cut");
  for (size_t s = 0; s < views_.size(); ++s) {
    if (tokens(s) < 0) continue;
    each_run(s, row, std::min(length, tokens(s)), tokens(s), [&](int64_t at, int64_t bytes) {
      buffers_[s].discard(static_cast<size_t>(at), static_cast<size_t>(at + bytes));
    });
  }
}

std::string StateSet::save(int64_t row, int64_t length) const {
  std::string out;
  for (size_t s = 0; s < views_.size(); ++s) {
    const int64_t held = tokens(s) < 0 ? -1 : std::min(length, tokens(s));
    uint8_t header[8];
    store_as(header, held);
    out.append(reinterpret_cast<const char*>(header), sizeof header);
    each_run(s, row, 0, held, [&](int64_t at, int64_t bytes) {
      out.append(reinterpret_cast<const char*>(buffers_[s].data() + at),
                 static_cast<size_t>(bytes));
    });
  }
  return out;
}

Result<void> StateSet::restore(int64_t row, std::string_view bytes) {
  const Error misfit{"FILE-FORMAT", "saved state does not fit this session"};
  size_t pos = 0;
  for (size_t s = 0; s < views_.size(); ++s) {
    if (bytes.size() - pos < 8) return misfit;
    const int64_t held = load_as<int64_t>(bytes.data() + pos);
    pos += 8;
    if (held > tokens(s) || (held < 0) != (tokens(s) < 0)) return misfit;
    bool fits = true;
    each_run(s, row, 0, held, [&](int64_t at, int64_t count) {
      if (!fits || bytes.size() - pos < static_cast<size_t>(count)) {
        fits = false;
        return;
      }
      std::memcpy(buffers_[s].data() + at, bytes.data() + pos, static_cast<size_t>(count));
      pos += static_cast<size_t>(count);
    });
    if (!fits) return misfit;
  }
  return pos == bytes.size() ? Result<void>{} : Result<void>{misfit};
}

}  // namespace axon::runtime
