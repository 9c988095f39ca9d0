// Runs a parsed template. Failures are sticky: the first error stops the run.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/text/template.h"
#include "runtime/text/template_ast.h"
#include "runtime/text/template_value.h"

namespace axon::text::tmpl {

// Arguments of a call, filter or test after the subject.
struct CallArgs {
  Items positional;
  std::vector<std::pair<std::string, Value>> keywords;
  // Argument `index` by position, else by name, else the default.
  Value get(size_t index, std::string_view name, Value otherwise = {Kind::None}) const;
  bool has(size_t index, std::string_view name) const;
};

class Evaluator {
 public:
  Evaluator(const Template& tmpl, const std::string& source, Heap& heap,
            const TemplateLimits& limits, int64_t now);

  void set_global(std::string_view name, Value value);
  Result<RenderedChat> run();

  // Shared with filters and methods.
  Heap& heap() { return heap_; }
  bool failed() const { return failed_; }
  Value fail(std::string message, const char* code = "TMPL-RUN");
  // The items that a `for` over the value would see.
  bool iterate(const Value& v, Items& out);
  Value attribute(const Value& object, const std::string& name);
  Value item(const Value& object, const Value& index);
  Value call(const Value& callee, const CallArgs& args);
  Value apply_filter(const std::string& name, const Value& subject, const CallArgs& args);
  bool apply_test(const std::string& name, const Value& subject, const CallArgs& args);
  bool contains(const Value& container, const Value& v);
  Value binary(const std::string& op, const Value& a, const Value& b);
  int64_t now() const { return now_; }
  // Charges work done inside one step (repeated strings, long ranges).
  bool charge(size_t units);

 private:
  enum class Flow : uint8_t { Next, Break, Continue };
  using Scope = std::vector<std::pair<std::string, Value>>;
  // Names that a statement sees, innermost last. Macros keep those where they were written, for
  // as long as they can be called.
  using Scopes = std::vector<std::shared_ptr<Scope>>;
  struct Macro {
    const Stmt* stmt;
    Scopes visible;
  };

  Flow exec_all(const std::vector<StmtId>& body);
  Flow exec(const Stmt& stmt);
  Flow exec_if(const Stmt& stmt);
  void exec_for(const Stmt& stmt, Items items, int depth);
  void exec_set_block(const Stmt& stmt);
  void exec_call_block(const Stmt& stmt);
  void exec_with(const Stmt& stmt);
  Value define_macro(const Stmt& stmt);
  void enter(Scope scope) { scopes_.push_back(std::make_shared<Scope>(std::move(scope))); }
  std::string capture(const std::vector<StmtId>& body);
  Value filter_chain(ExprId chain, const Value& subject);
  void assign(const AssignTarget& target, const Value& v);

  Value eval(ExprId id);
  Value eval_inner(const Expr& e);
  Value eval_compare(const Expr& e);
  Value eval_call(const Expr& e);
  Value eval_slice(const Expr& e);
  Value eval_dict(const Expr& e);
  CallArgs eval_args(const Expr& e);
  Value lookup(const std::string& name);
  Value call_macro(int32_t index, const CallArgs& args);
  Value call_builtin(int32_t which, const CallArgs& args);
  Value call_loop(const Value& loop, const CallArgs& args);
  bool step();
  void write(const std::string& text);

  const Template& template_;
  const std::string& source_;
  Heap& heap_;
  TemplateLimits limits_;
  int64_t now_ = 0;
  Scopes scopes_;
  std::vector<Macro> macros_;
  std::string out_;
  std::vector<std::pair<size_t, size_t>> generated_;
  int captures_ = 0;
  int64_t steps_ = 0;
  int depth_ = 0;
  size_t offset_ = 0;
  bool failed_ = false;
  Error error_;
};

// Methods of strings, mappings and lists: the handle of `object.name`, or undefined.
Value find_method(Heap& heap, const Value& object, const std::string& name);
Value call_method(Evaluator& run, const Value& method, const CallArgs& args);
bool known_filter(const std::string& name);
bool known_test(const std::string& name);
// Text helpers shared by filters and methods.
std::string strip_text(const std::string& text, const std::string* chars, bool left, bool right);
std::string change_case(const std::string& text,
                        char how);  // 'u', 'l', 't' (title), 'c' (capitalise)
std::string replace_text(const std::string& text, const std::string& from, const std::string& to,
                         int64_t count);
std::string format_percent(Evaluator& run, const std::string& format, const Items& args);
std::string format_time(int64_t seconds, const std::string& format);

}  // namespace axon::text::tmpl
