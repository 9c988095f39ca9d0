// Values of constants as far as config, checkpoint names and literals determine them
// (language.md 10.3).
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sema/stages.h"
#include "sema/walk.h"

namespace axon::sema {

struct ConstValue {
  enum class Kind : uint8_t { Null, Bool, Int, Float, String, Path, List } kind = Kind::Null;
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;
  std::string text;  // String; Path: the dotted segments
  std::vector<ConstValue> items;

  static ConstValue of(bool v);
  static ConstValue of(int64_t v);
  static ConstValue of(double v);
  static ConstValue of(std::string v);
};
std::optional<ConstValue> binary_value(syntax::BinaryOp op, const ConstValue& a,
                                       const ConstValue& b);

// The definitions of the library that evaluation knows, by canonical name.
enum class KnownCall : uint8_t {
  None,
  ConfigInt,
  ConfigDim,
  ConfigFloat,
  ConfigStr,
  ConfigBool,
  ConfigList,
  ConfigValue,
  ConfigHasKey,
  ConfigHasValue,
  HasRoot,
  Sqrt,
  Log,
  Exp,
  Sin,
  Cos,
  Pow,
  Abs,
  Min,
  Max,
  Floor
};
bool reads_config(KnownCall call);

struct ConfigAnswer {
  std::string key;
  bool has_default = false;
  bool present = false;             // neither absent nor null
  std::string shown;                // the value in the config
  std::optional<ConstValue> value;  // nothing: the read fails
  std::string converted_from;       // not empty: an integral float was read as an integer
};

class ConstEval {
 public:
  ConstEval(const Program& program, const Answers& answers, Session& session);

  KnownCall known_call(NameId callee) const;
  // A call of `Config.*`: nothing when an argument is not known. `piped` comes first when valid.
  std::optional<ConfigAnswer> config_call(const syntax::Call& call, syntax::ExprId piped,
                                          const LocalScope& locals);
  std::optional<ConstValue> constant(NameId name);
  syntax::ExprId literal(const ConstValue& value, Span span) const;

 private:
  using Frame = std::unordered_map<NameId, std::optional<ConstValue>, IdHash>;

  std::optional<ConstValue> eval(syntax::ExprId id);
  std::optional<ConstValue> eval_body(const syntax::Definition& def);
  std::optional<ConstValue> eval_block(const std::vector<syntax::StmtId>& body);
  std::optional<ConstValue> eval_name(NameId name);
  std::optional<ConstValue> eval_call(const syntax::Call& call, syntax::ExprId piped);
  std::optional<ConstValue> eval_pipe(const syntax::Pipe& pipe);
  std::optional<ConstValue> eval_choice(syntax::ExprId cond, syntax::ExprId a, syntax::ExprId b);
  std::optional<ConstValue> eval_path(const syntax::PathLit& path);
  std::optional<ConstValue> eval_ascription(const syntax::Ascribe& node);
  std::optional<ConstValue> math(KnownCall call, const std::vector<ConstValue>& args) const;
  // Actual arguments in the order of the callee's parameters; nothing when they do not fit.
  std::optional<std::vector<std::optional<ConstValue>>> arguments(const syntax::Call& call,
                                                                  syntax::ExprId piped);
  ConfigAnswer read(KnownCall call, const std::string& key,
                    const std::optional<ConstValue>& fallback) const;

  const Program& program_;
  const Answers& answers_;
  Session& session_;
  std::unordered_map<NameId, KnownCall, IdHash> known_;
  std::unordered_map<NameId, std::optional<ConstValue>, IdHash> constants_;
  NameSet open_;
  std::vector<Frame> frames_;
  const LocalScope* locals_ = nullptr;  // names that have no known value
};

}  // namespace axon::sema
