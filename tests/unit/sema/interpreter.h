// A slow, direct reading of language.md 8 and 9 for untyped integer programs: what a program means,
// before and after flattening.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sema/stages.h"

namespace axon::sema::testing {

struct Value {
  enum class Kind : uint8_t { Int, Null, Bool, Path, Tuple } kind = Kind::Int;
  int64_t number = 0;
  std::string path;
  std::vector<Value> items;
  friend bool operator==(const Value&, const Value&) = default;
};
std::string show(const Value& value);

class Interpreter {
 public:
  Interpreter(const Program& program, Session& session) : program_(program), session_(session) {}
  Value call(NameId name, std::vector<Value> args, const std::string& caller_prefix);
  std::vector<std::string> reads;  // parameter keys in the order of reading
  bool exhausted() const { return calls_ > kMaxCalls; }

 private:
  using Env = std::unordered_map<NameId, Value, IdHash>;
  struct Frame {
    Env env;
    std::string prefix;
  };
  Value expr(syntax::ExprId id, Frame& frame);
  Value name(NameId name, Frame& frame);
  std::string path(const syntax::PathLit& lit, Frame& frame);
  Value binary(const syntax::Binary& node, Frame& frame);
  // Runs statements; returns what `return` or `yield` gives at the end.
  std::vector<Value> block(const std::vector<syntax::StmtId>& body, Frame& frame);
  void loop(const syntax::Loop& loop, Frame& frame);
  void if_stmt(const syntax::IfStmt& node, Frame& frame);
  void scope_bind(const syntax::ScopeBind& node, Frame& frame);
  bool truth(syntax::ExprId id, Frame& frame);
  void bind(const std::vector<syntax::Target>& targets, const Value& value, Frame& frame);

  static constexpr int kMaxCalls = 3000;  // more: the run gives up, its results mean nothing
  const Program& program_;
  Session& session_;
  int calls_ = 0;
};

}  // namespace axon::sema::testing
