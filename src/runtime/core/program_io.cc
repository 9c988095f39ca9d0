// The serialised form of a Program. One archive walk serves writing and reading, so that the two
// cannot differ; the reader checks every count, enumerator and id.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <type_traits>

#include "runtime/core/program.h"
#include "runtime/core/program_check.h"
#include "runtime/core/program_text.h"

namespace axon::runtime {
namespace {

constexpr char kMagic[4] = {'A', 'X', 'P', 'L'};

// ---- archives ------------------------------------------------------------------------------

class Writer {
 public:
  static constexpr bool kReading = false;
  std::string out;
  bool ok() const { return true; }
  void fail(const char*) {}
  void u64(uint64_t v) {
    for (int i = 0; i < 8; ++i) out += static_cast<char>(v >> (8 * i));
  }
  void size(size_t& n, size_t) { u64(n); }
  void integer(int64_t& v) { u64(static_cast<uint64_t>(v)); }
  void real(double& v) {
    uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof bits);
    u64(bits);
  }
  void text(std::string& s) {
    u64(s.size());
    out += s;
  }
};

class Reader {
 public:
  static constexpr bool kReading = true;
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool ok() const { return why_ == nullptr; }
  const char* why() const { return why_; }
  size_t offset() const { return pos_; }
  bool at_end() const { return pos_ == bytes_.size(); }
  void fail(const char* why) {
    if (!why_) why_ = why;
  }
  uint64_t u64() {
    if (bytes_.size() - pos_ < 8) {
      fail("ends too early");
      return 0;
    }
    uint64_t v = 0;
    for (int i = 7; i >= 0; --i)
      v = v << 8 | static_cast<uint8_t>(bytes_[pos_ + static_cast<size_t>(i)]);
    pos_ += 8;
    return v;
  }
  // A count of things that take at least `least` bytes each.
  void size(size_t& n, size_t least) {
    uint64_t v = u64();
    if (ok() && v > (bytes_.size() - pos_) / least)
      fail("count is larger than the rest of the file");
    n = ok() ? static_cast<size_t>(v) : 0;
  }
  void integer(int64_t& v) { v = static_cast<int64_t>(u64()); }
  void real(double& v) {
    uint64_t bits = u64();
    std::memcpy(&v, &bits, sizeof v);
  }
  void text(std::string& s) {
    size_t n = 0;
    size(n, 1);
    s.assign(bytes_.substr(pos_, n));
    pos_ += n;
  }

 private:
  std::string_view bytes_;
  size_t pos_ = 0;
  const char* why_ = nullptr;
};

// The same walk as words: `#3` begins a sequence of three, texts stand in quotes.
class TextWriter {
 public:
  static constexpr bool kReading = false;
  std::string out;
  bool ok() const { return true; }
  void fail(const char*) {}
  void size(size_t& n, size_t) { out += fmt::format("\n#{}", n); }
  void integer(int64_t& v) { out += fmt::format(" {}", v); }
  void real(double& v) {
    uint64_t bits = 0;
    std::memcpy(&bits, &v, sizeof bits);
    out += fmt::format(" x{:016x}", bits);
  }
  void text(std::string& s) {
    out += " \"";
    for (char c : s) {
      bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
      out += plain ? std::string(1, c) : fmt::format("\\{:02x}", static_cast<uint8_t>(c));
    }
    out += '"';
  }
};

class TextReader {
 public:
  static constexpr bool kReading = true;
  explicit TextReader(std::string_view text) : text_(text) {}
  bool ok() const { return why_ == nullptr; }
  const char* why() const { return why_; }
  size_t offset() const { return pos_; }
  void fail(const char* why) {
    if (!why_) why_ = why;
  }
  bool at_end() {
    blanks();
    return pos_ == text_.size();
  }
  void size(size_t& n, size_t) {
    int64_t count = accept('#') ? number(10) : -1;
    bool fits = count >= 0 && static_cast<uint64_t>(count) <= text_.size() - pos_;
    if (!fits) fail("count is larger than the rest of the file");
    n = ok() ? static_cast<size_t>(count) : 0;
  }
  void integer(int64_t& v) {
    blanks();
    v = number(10);
  }
  void real(double& v) {
    if (!accept('x')) fail("no number stands here");
    auto bits = static_cast<uint64_t>(number(16));
    std::memcpy(&v, &bits, sizeof v);
  }
  void text(std::string& s) {
    s.clear();
    if (!accept('"')) return fail("no text stands here");
    while (pos_ < text_.size() && text_[pos_] != '"') {
      if (text_[pos_] == '\\') {
        std::string_view digits = text_.substr(pos_ + 1, 2);
        uint8_t byte = 0;
        auto done = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (digits.size() < 2 || done.ptr != digits.data() + 2) return fail("bad escape");
        s += static_cast<char>(byte);
        pos_ += 3;
      } else {
        s += text_[pos_++];
      }
    }
    if (pos_ == text_.size()) return fail("ends too early");
    ++pos_;
  }

 private:
  void blanks() {
    while (pos_ < text_.size()) {
      if (text_[pos_] == ' ' || text_[pos_] == '\n') {
        ++pos_;
      } else if (text_.substr(pos_, 2) == "--") {
        pos_ = std::min(text_.find('\n', pos_), text_.size());
      } else {
        return;
      }
    }
  }
  bool accept(char c) {
    blanks();
    if (pos_ == text_.size() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }
  int64_t number(int base) {
    int64_t value = 0;
    uint64_t bits = 0;
    const char *begin = text_.data() + pos_, *end = text_.data() + text_.size();
    auto done =
        base == 16 ? std::from_chars(begin, end, bits, 16) : std::from_chars(begin, end, value, 10);
    if (done.ec != std::errc() || done.ptr == begin) fail("no number stands here");
    pos_ += static_cast<size_t>(done.ptr - begin);
    return base == 16 ? static_cast<int64_t>(bits) : value;
  }

  std::string_view text_;
  size_t pos_ = 0;
  const char* why_ = nullptr;
};

// ---- pieces --------------------------------------------------------------------------------

template <class A>
void io(A& a, int64_t& v) {
  a.integer(v);
}
template <class A>
void io(A& a, double& v) {
  a.real(v);
}
template <class A>
void io(A& a, std::string& v) {
  a.text(v);
}

template <class A>
void io(A& a, int32_t& v) {
  int64_t wide = v;
  a.integer(wide);
  v = static_cast<int32_t>(wide);
  if (v != wide) a.fail("number does not fit 32 bits");
}

template <class A>
void io(A& a, bool& v) {
  int64_t wide = v;
  a.integer(wide);
  if (wide != 0 && wide != 1) a.fail("neither true nor false");
  v = wide == 1;
}

template <class A, class E>
void io_enum(A& a, E& v, int64_t last) {
  int64_t wide = static_cast<int64_t>(v);
  a.integer(wide);
  if (wide < 0 || wide > last) {
    a.fail("unknown enumerator");
    wide = 0;
  }
  v = static_cast<E>(wide);
}
template <class A>
void io(A& a, DType& v) {
  io_enum(a, v, static_cast<int64_t>(DType::F32));
}

// Ids are checked against what exists once everything is read (see program_check.h).
template <class A, class Id>
requires requires(Id id) {
  id.index;
  id.valid();
}
void io(A& a, Id& id) { io(a, id.index); }

template <class A, class T>
void io(A& a, std::vector<T>& items) {
  size_t n = items.size();
  a.size(n, 8);
  if (A::kReading) items.resize(n);
  for (size_t i = 0; i < n && a.ok(); ++i) io(a, items[i]);
}

template <class A, class Id, class T>
void io(A& a, Store<Id, T>& store) {
  size_t n = store.size();
  a.size(n, 8);
  for (size_t i = 0; i < n && a.ok(); ++i) {
    if (A::kReading) store.add(T{});
    io(a, store[store.id_at(i)]);
  }
}

template <class A, size_t I = 0, class... Ts>
void io_variant(A& a, std::variant<Ts...>& v) {
  if constexpr (I == 0) {
    int64_t index = static_cast<int64_t>(v.index());
    a.integer(index);
    if (index < 0 || index >= static_cast<int64_t>(sizeof...(Ts))) {
      a.fail("unknown alternative");
      return;
    }
    if (A::kReading) {
      std::variant<Ts...> fresh[] = {std::variant<Ts...>(Ts{})...};
      v = std::move(fresh[index]);
    }
  }
  if constexpr (I < sizeof...(Ts)) {
    if (v.index() == I)
      io(a, std::get<I>(v));
    else
      io_variant<A, I + 1>(a, v);
  }
}

template <class A>
void io(A& a, Symbol& s) {
  io(a, s.name);
  io_enum(a, s.kind, 1);
  io(a, s.upper);
}
template <class A>
void io(A& a, IntExpr& e) {
  io_enum(a, e.kind, static_cast<int64_t>(IntExpr::Kind::Max));
  io(a, e.value);
  io(a, e.sym);
  io(a, e.a);
  io(a, e.b);
}
template <class A>
void io(A& a, WeightNode& node, int depth) {
  if (depth > 16) return a.fail("weight is nested too deeply");
  io_enum(a, node.kind, static_cast<int64_t>(WeightNode::Kind::Transpose));
  io(a, node.name);
  io(a, node.axis);
  io(a, node.from);
  io(a, node.to);
  size_t n = node.parts.size();
  a.size(n, 48);
  if (A::kReading) node.parts.resize(n);
  for (size_t i = 0; i < n && a.ok(); ++i) io(a, node.parts[i], depth + 1);
}
template <class A>
void io(A& a, Weight& w) {
  io(a, w.source, 0);
  io(a, w.shape);
  io_enum(a, w.storage, static_cast<int64_t>(Storage::Count) - 1);
  io_enum(a, w.use, static_cast<int64_t>(Weight::Use::Rows));
}
template <class A>
void io(A& a, Constant& c) {
  io(a, c.dtype);
  io(a, c.shape);
  io(a, c.bytes);
}
template <class A>
void io(A& a, State& s) {
  io(a, s.name);
  io_enum(a, s.kind, static_cast<int64_t>(State::Kind::Fixed));
  io(a, s.dtype);
  io(a, s.shape);
  io(a, s.row_axis);
  io(a, s.token_axis);
  io(a, s.window);
}
template <class A>
void io(A& a, StateScalar& s) {
  io(a, s.name);
  io(a, s.symbol);
  io(a, s.initial);
}
template <class A>
void io(A&, PlaceNone&) {}
template <class A>
void io(A& a, PlaceWeight& p) {
  io(a, p.weight);
}
template <class A>
void io(A& a, PlaceConstant& p) {
  io(a, p.constant);
}
template <class A>
void io(A& a, PlaceInput& p) {
  io(a, p.input);
}
template <class A>
void io(A& a, PlaceState& p) {
  io(a, p.state);
}
template <class A>
void io(A& a, PlaceArena& p) {
  io(a, p.offset);
}
template <class A>
void io(A& a, PlaceView& p) {
  io(a, p.of);
  io(a, p.offset);
  io(a, p.strides);
}
template <class A>
void io(A& a, Value& v) {
  io(a, v.dtype);
  io(a, v.shape);
  io_variant(a, v.place);
  io(a, v.name);
  io(a, v.quantised);
}
template <class A>
void io(A& a, NumericPolicy& p) {
  io_enum(a, p.activations, static_cast<int64_t>(NumericPolicy::Activations::Int8Block));
  io_enum(a, p.products, static_cast<int64_t>(NumericPolicy::Products::Int));
  io(a, p.store);
  io(a, p.reassociate);
}
template <class A>
void io(A& a, Param& p) {
  io(a, p.name);
  io_variant(a, p.value);
}
template <class A>
void io(A& a, Instr& i) {
  int64_t number = static_cast<int64_t>(i.operation);
  a.integer(number);
  i.operation = static_cast<Operation>(number);
  const OperationInfo* info = operation_info(i.operation);
  if (!info || number != static_cast<int64_t>(i.operation)) return a.fail("unknown operation");
  int64_t version = info->version;
  a.integer(version);
  if (version != info->version) return a.fail("operation of another version");
  io(a, i.inputs);
  io(a, i.outputs);
  io(a, i.params);
  io(a, i.policy);
  io(a, i.workspace);
  io(a, i.workspace_offset);
  io(a, i.barrier);
  io(a, i.source);
  io(a, i.scope);
}
template <class A>
void io(A& a, Input& in) {
  io(a, in.name);
  io(a, in.dtype);
  io(a, in.shape);
  io(a, in.is_scalar);
  io(a, in.symbol);
}
template <class A>
void io(A& a, Output& o) {
  io(a, o.name);
  io(a, o.value);
}
template <class A>
void io(A& a, ScalarUpdate& u) {
  io(a, u.scalar);
  io(a, u.value);
}
template <class A>
void io(A& a, EntryCheck& c) {
  io_enum(a, c.relation, static_cast<int64_t>(EntryCheck::Relation::NotZero));
  io(a, c.left);
  io(a, c.right);
  io(a, c.what);
}
template <class A>
void io(A& a, Pattern& p, int depth) {
  if (depth > 64) return a.fail("type is nested too deeply");
  io_enum(a, p.kind, static_cast<int64_t>(Pattern::Kind::Tuple));
  io(a, p.optional);
  io(a, p.ranked);
  io(a, p.axes);
  size_t n = p.items.size();
  a.size(n, 48);
  if (A::kReading) p.items.resize(n);
  for (size_t i = 0; i < n && a.ok(); ++i) io(a, p.items[i], depth + 1);
  io(a, p.run);
  io(a, p.text);
}
template <class A>
void io(A& a, Pattern& p) {
  io(a, p, 0);
}
template <class A>
void io(A&, LiteralNull&) {}
template <class A>
void io(A& a, PathPart& p) {
  io(a, p.text);
  io(a, p.from);
  io(a, p.joined);
}
template <class A>
void io(A& a, LoopArg& arg) {
  io_enum(a, arg.kind, static_cast<int64_t>(LoopArg::Kind::Input));
  io(a, arg.index);
}
// Operations of the language go by name: their numbers change with the table.
template <class A>
void io(A& a, Op& op) {
  std::string name(spelling(op));
  io(a, name);
  if (!A::kReading) return;
  std::optional<Op> found = find_op(name);
  if (!found) return a.fail("unknown operation of the language");
  op = *found;
}
template <class A>
void io(A& a, GeneralInstr& i) {
  io_enum(a, i.code, static_cast<int64_t>(GeneralCode::Loop));
  io(a, i.op);
  io(a, i.inputs);
  io(a, i.outputs);
  io(a, i.dead);
  io_variant(a, i.literal);
  io(a, i.path);
  io(a, i.absolute);
  io(a, i.dim);
  io(a, i.pattern);
  io(a, i.routine);
  io(a, i.args);
  io(a, i.carries);
  io(a, i.target);
  io(a, i.source);
}
template <class A>
void io(A& a, DimSource& s) {
  io(a, s.symbol);
  io(a, s.global);
  io(a, s.value);
  io(a, s.pattern);
}
template <class A>
void io(A& a, RoutineFact& f) {
  io_enum(a, f.relation, static_cast<int64_t>(RoutineFact::Relation::NotNull));
  io(a, f.left);
  io(a, f.right);
  io(a, f.left_value);
  io(a, f.right_value);
  io(a, f.left_text);
  io(a, f.right_text);
}
template <class A>
void io(A& a, RoutineCheck& c) {
  io(a, c.fact);
  io(a, c.guards);
}
template <class A>
void io(A& a, RoutineInput& in) {
  io(a, in.name);
  io(a, in.pattern);
  io(a, in.optional);
  io(a, in.has_default);
  io_variant(a, in.fallback);
  io(a, in.computed);
}
template <class A>
void io(A& a, RoutineOutput& out) {
  io(a, out.name);
  io(a, out.value);
  io(a, out.pattern);
}
template <class A>
void io(A& a, Routine& r) {
  io(a, r.name);
  io(a, r.registers);
  io(a, r.inputs);
  io(a, r.named);
  io(a, r.sources);
  io(a, r.checks);
  io(a, r.code);
  io(a, r.outputs);
}
template <class A>
void io(A& a, Phase& p) {
  io(a, p.name);
  io(a, p.masked);
  io(a, p.selects_rows);
  io(a, p.inputs);
  io(a, p.values);
  io(a, p.code);
  io(a, p.outputs);
  io(a, p.updates);
  io(a, p.checks);
  io(a, p.arena_bytes);
  io(a, p.routine);
  io(a, p.notes);
}
template <class A>
void io(A& a, Program& p) {
  io(a, p.model);
  io(a, p.task);
  io(a, p.symbols);
  io(a, p.ints);
  io(a, p.weights);
  io(a, p.constants);
  io(a, p.states);
  io(a, p.scalars);
  io(a, p.phases);
  io(a, p.patterns);
  io(a, p.routines);
}

Error format_error(const char* why, size_t offset) {
  Error error;
  error.code = "FILE-FORMAT";
  error.message = fmt::format("not a readable program: {}", why);
  error.offset = static_cast<int64_t>(offset);
  return error;
}

}  // namespace

std::string serialise(const Program& program) {
  Writer writer;
  writer.out.assign(kMagic, sizeof kMagic);
  writer.u64(Program::kFormat);
  io(writer, const_cast<Program&>(program));  // a writing walk changes nothing
  return std::move(writer.out);
}

Result<Program> deserialise(std::string_view bytes) {
  if (bytes.substr(0, sizeof kMagic) != std::string_view(kMagic, sizeof kMagic)) {
    return format_error("no program starts like this", 0);
  }
  Reader reader(bytes.substr(sizeof kMagic));
  auto offset = [&] { return reader.offset() + sizeof kMagic; };
  if (reader.u64() != Program::kFormat && reader.ok())
    return format_error("another format version", offset());
  Program program;
  if (reader.ok()) io(reader, program);
  if (reader.ok() && !reader.at_end()) reader.fail("bytes after the end");
  if (!reader.ok()) return format_error(reader.why(), offset());
  if (const char* why = unsound(program)) return format_error(why, offset());
  return program;
}

constexpr std::string_view kTextHead = "plan 1\n";

std::string write_text(const Program& program) {
  std::string out(kTextHead);
  std::string listing = show(program);
  for (size_t at = 0; at < listing.size();) {
    size_t end = std::min(listing.find('\n', at), listing.size());
    std::string_view line = std::string_view(listing).substr(at, end - at);
    out += line.empty() ? "--\n" : fmt::format("-- {}\n", line);
    at = end + 1;
  }
  TextWriter writer;
  io(writer, const_cast<Program&>(program));  // a writing walk changes nothing
  size_t begin = std::min(writer.out.find_first_not_of(" \n"), writer.out.size());
  return out + writer.out.substr(begin) + "\n";
}

Result<Program> read_text(std::string_view text) {
  if (text.substr(0, kTextHead.size()) != kTextHead)
    return format_error("no plan starts like this", 0);
  TextReader reader(text.substr(kTextHead.size()));
  Program program;
  io(reader, program);
  if (reader.ok() && !reader.at_end()) reader.fail("words after the end");
  if (!reader.ok()) return format_error(reader.why(), reader.offset() + kTextHead.size());
  if (const char* why = unsound(program))
    return format_error(why, reader.offset() + kTextHead.size());
  return program;
}

}  // namespace axon::runtime
