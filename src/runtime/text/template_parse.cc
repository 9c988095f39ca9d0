// Parses the tokens of a template.
#include <algorithm>
#include <initializer_list>

#include "runtime/text/template_ast.h"
#include "runtime/text/template_lex.h"

namespace axon::text::tmpl {
namespace {

constexpr int kMaxNesting = 400;

class Parser {
 public:
  Parser(const std::string& source, std::vector<Token> tokens)
      : source_(source), tokens_(std::move(tokens)) {}

  Result<Template> run() {
    out_.body = parse_body({});
    if (!failed_ && peek().kind != TokenKind::End) fail("found something after the end");
    if (failed_) return error_;
    return std::move(out_);
  }

 private:
  // ---- tokens ----
  const Token& peek(size_t ahead = 0) const {
    return tokens_[std::min(pos_ + ahead, tokens_.size() - 1)];
  }
  const Token& next() {
    const Token& token = peek();
    if (pos_ + 1 < tokens_.size()) ++pos_;
    return token;
  }
  bool is_name(const char* word, size_t ahead = 0) const {
    return peek(ahead).kind == TokenKind::Name && peek(ahead).text == word;
  }
  bool is_op(const char* op, size_t ahead = 0) const {
    return peek(ahead).kind == TokenKind::Operator && peek(ahead).text == op;
  }
  bool take_op(const char* op) { return is_op(op) && (next(), true); }
  bool take_name(const char* word) { return is_name(word) && (next(), true); }
  void expect_op(const char* op) {
    if (!take_op(op)) fail("found " + show(peek()) + ", expected `" + op + "`");
  }
  std::string expect_name(const char* what) {
    if (peek().kind != TokenKind::Name) {
      fail("found " + show(peek()) + ", expected " + what);
      return {};
    }
    return next().text;
  }
  void expect_block_end() {
    if (peek().kind != TokenKind::BlockEnd)
      return fail("found " + show(peek()) + ", expected `%}`");
    next();
  }
  static std::string show(const Token& token) {
    switch (token.kind) {
      case TokenKind::Text:
        return "text";
      case TokenKind::OutputBegin:
        return "`{{`";
      case TokenKind::OutputEnd:
        return "`}}`";
      case TokenKind::BlockBegin:
        return "`{%`";
      case TokenKind::BlockEnd:
        return "`%}`";
      case TokenKind::String:
        return "a string";
      case TokenKind::Int:
      case TokenKind::Float:
        return "a number";
      case TokenKind::Name:
      case TokenKind::Operator:
        return "`" + token.text + "`";
      case TokenKind::End:
        return "the end of the template";
    }
    return {};
  }
  void fail(std::string message) {
    if (!failed_)
      error_ = template_error("TMPL-SYNTAX", source_, peek().offset, std::move(message));
    failed_ = true;
    pos_ = tokens_.size() - 1;  // everything that follows sees the end
  }
  Expr make(ExprKind kind) const {
    Expr e;
    e.kind = kind;
    e.offset = peek().offset;
    return e;
  }
  ExprId add(Expr e) { return out_.exprs.add(std::move(e)); }

  struct Depth {
    Parser& parser;
    explicit Depth(Parser& p) : parser(p) {
      if (++p.depth_ > kMaxNesting) p.fail("more than 400 nested expressions or blocks");
    }
    ~Depth() { --parser.depth_; }
  };

  // ---- statements ----
  bool at_end_word(std::initializer_list<const char*> words) const {
    if (peek().kind != TokenKind::BlockBegin) return false;
    for (const char* word : words) {
      if (is_name(word, 1)) return true;
    }
    return false;
  }

  std::vector<StmtId> parse_body(std::initializer_list<const char*> end_words) {
    Depth depth(*this);
    std::vector<StmtId> body;
    while (!failed_ && peek().kind != TokenKind::End && !at_end_word(end_words)) {
      Stmt stmt;
      stmt.offset = peek().offset;
      if (peek().kind == TokenKind::Text) {
        stmt.text = next().text;
      } else if (peek().kind == TokenKind::OutputBegin) {
        next();
        stmt.kind = StmtKind::Output;
        stmt.expr = parse_tuple();
        if (peek().kind != TokenKind::OutputEnd) fail("found " + show(peek()) + ", expected `}}`");
        next();
      } else {
        next();
        parse_block(stmt);
      }
      if (!failed_) body.push_back(out_.stmts.add(std::move(stmt)));
    }
    if (!failed_ && end_words.size() && peek().kind == TokenKind::End) {
      fail(std::string("block is not closed with `") + *(end_words.end() - 1) + "`");
    }
    return body;
  }

  // The closing tag `{% word %}`.
  void close(const char* word) {
    if (failed_) return;
    next();
    if (!take_name(word)) fail("found " + show(peek()) + ", expected `" + word + "`");
    if (std::string_view(word) == "endmacro" && peek().kind == TokenKind::Name) next();
    expect_block_end();
  }

  void parse_block(Stmt& stmt) {
    std::string word = expect_name("a statement");
    if (word == "if") return parse_if(stmt);
    if (word == "for") return parse_for(stmt);
    if (word == "set") return parse_set(stmt);
    if (word == "macro") return parse_macro(stmt);
    if (word == "call") return parse_call_block(stmt);
    if (word == "with") return parse_with(stmt);
    if (word == "filter") {
      stmt.kind = StmtKind::FilterBlock;
      stmt.filter = parse_filter_chain(ExprId{}, true);
      expect_block_end();
      stmt.body = parse_body({"endfilter"});
      return close("endfilter");
    }
    if (word == "generation") {
      stmt.kind = StmtKind::Generation;
      expect_block_end();
      stmt.body = parse_body({"endgeneration"});
      return close("endgeneration");
    }
    if (word == "break" || word == "continue") {
      if (loops_ == 0) return fail("`" + word + "` outside of a loop");
      stmt.kind = word == "break" ? StmtKind::Break : StmtKind::Continue;
      return expect_block_end();
    }
    if (word == "do") {
      stmt.kind = StmtKind::Do;
      stmt.expr = parse_tuple();
      return expect_block_end();
    }
    fail("`" + word + "` is not a statement of chat templates");
  }

  void parse_if(Stmt& stmt) {
    stmt.kind = StmtKind::If;
    while (!failed_) {
      IfArm arm;
      arm.condition = parse_tuple();
      expect_block_end();
      arm.body = parse_body({"elif", "else", "endif"});
      stmt.arms.push_back(std::move(arm));
      if (failed_) return;
      if (is_name("elif", 1)) {
        next(), next();
        continue;
      }
      if (is_name("else", 1)) {
        next(), next();
        expect_block_end();
        stmt.arms.push_back({ExprId{}, parse_body({"endif"})});
      }
      return close("endif");
    }
  }

  AssignTarget parse_target(bool allow_attribute) {
    AssignTarget first = parse_target_item(allow_attribute);
    if (!is_op(",")) return first;
    AssignTarget list;
    list.items.push_back(std::move(first));
    while (take_op(",")) {
      if (is_name("in") || is_op("=")) break;
      list.items.push_back(parse_target_item(allow_attribute));
    }
    return list;
  }

  AssignTarget parse_target_item(bool allow_attribute) {
    AssignTarget target;
    if (take_op("(")) {
      target = parse_target(allow_attribute);
      expect_op(")");
      if (target.items.empty()) return target;
      return target;
    }
    target.name = expect_name("a name to assign");
    if (allow_attribute && take_op(".")) target.attribute = expect_name("an attribute");
    return target;
  }

  void parse_for(Stmt& stmt) {
    stmt.kind = StmtKind::For;
    stmt.target = parse_target(false);
    if (!take_name("in")) fail("found " + show(peek()) + ", expected `in`");
    stmt.expr = parse_tuple(true);
    if (take_name("if")) stmt.filter = parse_expr();
    if (take_name("recursive")) stmt.recursive = true;
    expect_block_end();
    ++loops_;
    stmt.body = parse_body({"else", "endfor"});
    --loops_;
    if (!failed_ && is_name("else", 1)) {
      next(), next();
      expect_block_end();
      stmt.else_body = parse_body({"endfor"});
    }
    close("endfor");
  }

  void parse_set(Stmt& stmt) {
    stmt.target = parse_target(true);
    if (take_op("=")) {
      stmt.kind = StmtKind::Set;
      stmt.expr = parse_tuple();
      return expect_block_end();
    }
    stmt.kind = StmtKind::SetBlock;
    if (is_op("|")) stmt.filter = parse_filter_chain(ExprId{}, false);
    expect_block_end();
    stmt.body = parse_body({"endset"});
    close("endset");
  }

  std::vector<MacroParam> parse_params() {
    std::vector<MacroParam> params;
    expect_op("(");
    while (!failed_ && !is_op(")")) {
      MacroParam param;
      param.name = expect_name("a parameter");
      if (take_op("=")) param.default_value = parse_expr();
      params.push_back(std::move(param));
      if (!take_op(",")) break;
    }
    expect_op(")");
    return params;
  }

  void parse_macro(Stmt& stmt) {
    stmt.kind = StmtKind::Macro;
    stmt.text = expect_name("a macro name");
    stmt.params = parse_params();
    expect_block_end();
    int loops = std::exchange(loops_, 0);
    stmt.body = parse_body({"endmacro"});
    loops_ = loops;
    close("endmacro");
  }

  void parse_call_block(Stmt& stmt) {
    stmt.kind = StmtKind::CallBlock;
    if (is_op("(")) stmt.params = parse_params();
    stmt.expr = parse_expr();
    if (!failed_ && out_.exprs[stmt.expr].kind != ExprKind::Call) fail("`call` needs a macro call");
    expect_block_end();
    int loops = std::exchange(loops_, 0);
    stmt.body = parse_body({"endcall"});
    loops_ = loops;
    close("endcall");
  }

  void parse_with(Stmt& stmt) {
    stmt.kind = StmtKind::With;
    while (!failed_ && peek().kind != TokenKind::BlockEnd) {
      MacroParam param;
      param.name = expect_name("a name");
      expect_op("=");
      param.default_value = parse_expr();
      stmt.params.push_back(std::move(param));
      if (!take_op(",")) break;
    }
    expect_block_end();
    stmt.body = parse_body({"endwith"});
    close("endwith");
  }

  // ---- expressions ----

  // One expression, or several separated by commas: a tuple. In a `for` header the conditional
  // form is left to the header's own `if`.
  ExprId parse_tuple(bool no_condition = false) {
    Expr tuple = make(ExprKind::Tuple);
    ExprId first = no_condition ? parse_or() : parse_expr();
    if (!is_op(",")) return first;
    tuple.items.push_back(first);
    while (take_op(",")) {
      TokenKind kind = peek().kind;
      if (kind == TokenKind::BlockEnd || kind == TokenKind::OutputEnd || is_op(")")) break;
      tuple.items.push_back(no_condition ? parse_or() : parse_expr());
    }
    return add(std::move(tuple));
  }

  ExprId parse_expr() {
    Depth depth(*this);
    if (failed_) return ExprId{};
    ExprId value = parse_or();
    while (is_name("if")) {
      Expr cond = make(ExprKind::Cond);
      next();
      ExprId condition = parse_or();
      ExprId otherwise;
      if (take_name("else")) otherwise = parse_expr();
      cond.items = {value, condition, otherwise};
      value = add(std::move(cond));
    }
    return value;
  }

  ExprId parse_or() { return parse_logic(ExprKind::Or, "or"); }
  ExprId parse_logic(ExprKind kind, const char* word) {
    auto operand = [&] {
      return kind == ExprKind::Or ? parse_logic(ExprKind::And, "and") : parse_not();
    };
    ExprId left = operand();
    while (is_name(word)) {
      Expr e = make(kind);
      next();
      e.items = {left, operand()};
      left = add(std::move(e));
    }
    return left;
  }

  ExprId parse_not() {
    if (!is_name("not")) return parse_compare();
    Depth depth(*this);
    Expr e = make(ExprKind::Not);
    next();
    e.items = {failed_ ? ExprId{} : parse_not()};
    return add(std::move(e));
  }

  std::string compare_operator() {
    for (const char* op : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (take_op(op)) return op;
    }
    if (take_name("in")) return "in";
    if (is_name("not") && is_name("in", 1)) {
      next(), next();
      return "not in";
    }
    return {};
  }

  ExprId parse_compare() {
    Expr e = make(ExprKind::Compare);
    ExprId left = parse_sum();
    e.items.push_back(left);
    for (std::string op = compare_operator(); !op.empty(); op = compare_operator()) {
      e.operators.push_back(op);
      e.items.push_back(parse_sum());
    }
    return e.operators.empty() ? left : add(std::move(e));
  }

  ExprId parse_sum() {
    ExprId left = parse_concat();
    while (is_op("+") || is_op("-")) {
      Expr e = make(ExprKind::Binary);
      e.text = next().text;
      e.items = {left, parse_concat()};
      left = add(std::move(e));
    }
    return left;
  }

  ExprId parse_concat() {
    Expr e = make(ExprKind::Concat);
    ExprId left = parse_product();
    e.items.push_back(left);
    while (take_op("~")) e.items.push_back(parse_product());
    return e.items.size() == 1 ? left : add(std::move(e));
  }

  ExprId parse_product() {
    ExprId left = parse_power();
    while (is_op("*") || is_op("/") || is_op("//") || is_op("%")) {
      Expr e = make(ExprKind::Binary);
      e.text = next().text;
      e.items = {left, parse_power()};
      left = add(std::move(e));
    }
    return left;
  }

  ExprId parse_power() {
    ExprId left = parse_unary(true);
    while (is_op("**")) {
      Expr e = make(ExprKind::Binary);
      e.text = next().text;
      e.items = {left, parse_unary(true)};
      left = add(std::move(e));
    }
    return left;
  }

  ExprId parse_unary(bool with_filters) {
    Depth depth(*this);
    if (failed_) return ExprId{};
    ExprId value;
    if (is_op("-") || is_op("+")) {
      Expr e = make(is_op("-") ? ExprKind::Neg : ExprKind::Pos);
      next();
      e.items = {parse_unary(false)};
      value = add(std::move(e));
    } else {
      value = parse_primary();
    }
    value = parse_postfix(value);
    return with_filters ? parse_filters(value) : value;
  }

  ExprId parse_primary() {
    const Token token = peek();
    Expr e = make(ExprKind::None);
    switch (token.kind) {
      case TokenKind::Name:
        next();
        e.text = token.text;
        e.kind = token.text == "true" || token.text == "True"     ? ExprKind::True
                 : token.text == "false" || token.text == "False" ? ExprKind::False
                 : token.text == "none" || token.text == "None"   ? ExprKind::None
                                                                  : ExprKind::Name;
        return add(std::move(e));
      case TokenKind::String:
        e.kind = ExprKind::String;
        while (peek().kind == TokenKind::String) e.text += next().text;
        return add(std::move(e));
      case TokenKind::Int:
        e.kind = ExprKind::Int;
        e.integer = next().integer;
        return add(std::move(e));
      case TokenKind::Float:
        e.kind = ExprKind::Float;
        e.number = next().number;
        return add(std::move(e));
      default:
        break;
    }
    if (take_op("(")) return parse_parenthesis(std::move(e));
    if (take_op("[")) {
      e.kind = ExprKind::List;
      while (!failed_ && !is_op("]")) {
        e.items.push_back(parse_expr());
        if (!take_op(",")) break;
      }
      expect_op("]");
      return add(std::move(e));
    }
    if (take_op("{")) return parse_dict(std::move(e));
    fail("found " + show(token) + ", expected an expression");
    return ExprId{};
  }

  ExprId parse_parenthesis(Expr e) {
    if (take_op(")")) {
      e.kind = ExprKind::Tuple;
      return add(std::move(e));
    }
    ExprId inner = parse_tuple();
    expect_op(")");
    return inner;
  }

  ExprId parse_dict(Expr e) {
    e.kind = ExprKind::Dict;
    while (!failed_ && !is_op("}")) {
      e.items.push_back(parse_expr());
      expect_op(":");
      e.items.push_back(parse_expr());
      if (!take_op(",")) break;
    }
    expect_op("}");
    return add(std::move(e));
  }

  ExprId parse_postfix(ExprId value) {
    while (!failed_) {
      if (is_op(".")) {
        Expr e = make(ExprKind::Attr);
        next();
        if (peek().kind == TokenKind::Int) {  // `x.0` is an item
          Expr index = make(ExprKind::Int);
          index.integer = next().integer;
          e.kind = ExprKind::Item;
          e.items = {value, add(std::move(index))};
        } else {
          e.text = expect_name("an attribute");
          e.items = {value};
        }
        value = add(std::move(e));
      } else if (is_op("[")) {
        value = parse_subscript(value);
      } else if (is_op("(")) {
        value = parse_call(value);
      } else {
        break;
      }
    }
    return value;
  }

  ExprId parse_subscript(ExprId value) {
    Expr e = make(ExprKind::Item);
    next();
    ExprId first;
    if (!is_op(":")) first = parse_tuple();
    if (is_op(":")) {
      e.kind = ExprKind::Slice;
      e.items = {value, first, ExprId{}, ExprId{}};
      next();
      if (!is_op("]") && !is_op(":")) e.items[2] = parse_expr();
      if (take_op(":") && !is_op("]")) e.items[3] = parse_expr();
    } else {
      e.items = {value, first};
    }
    expect_op("]");
    return add(std::move(e));
  }

  void parse_args(Expr& e) {
    expect_op("(");
    while (!failed_ && !is_op(")")) {
      if (take_op("*")) {
        e.star_args = parse_expr();
      } else if (take_op("**")) {
        e.star_kwargs = parse_expr();
      } else if (peek().kind == TokenKind::Name && is_op("=", 1)) {
        std::string name = next().text;
        next();
        e.keywords.push_back({name, parse_expr()});
      } else {
        e.items.push_back(parse_expr());
      }
      if (!take_op(",")) break;
    }
    expect_op(")");
  }

  ExprId parse_call(ExprId value) {
    Expr e = make(ExprKind::Call);
    e.items = {value};
    parse_args(e);
    return add(std::move(e));
  }

  ExprId parse_filters(ExprId value) {
    while (!failed_) {
      if (is_op("|")) {
        value = parse_filter_chain(value, false);
      } else if (is_name("is")) {
        value = parse_test(value);
      } else if (is_op("(")) {
        value = parse_call(value);
      } else {
        break;
      }
    }
    return value;
  }

  // `| a | b(…)`; with `bare_first` the first filter stands without its bar (filter blocks).
  ExprId parse_filter_chain(ExprId value, bool bare_first) {
    while (!failed_ && (bare_first || is_op("|"))) {
      if (!bare_first) next();
      bare_first = false;
      Expr e = make(ExprKind::Filter);
      e.text = expect_name("a filter");
      while (take_op(".")) e.text += "." + expect_name("a filter");
      e.items = {value};
      if (is_op("(")) parse_args(e);
      value = add(std::move(e));
    }
    return value;
  }

  ExprId parse_test(ExprId value) {
    Expr e = make(ExprKind::Test);
    next();
    e.negated = take_name("not");
    e.text = expect_name("a test");
    e.items = {value};
    TokenKind kind = peek().kind;
    bool starts_operand = kind == TokenKind::Name || kind == TokenKind::String ||
                          kind == TokenKind::Int || kind == TokenKind::Float || is_op("[") ||
                          is_op("{");
    bool ends_test = is_name("else") || is_name("or") || is_name("and") || is_name("if") ||
                     is_name("is") || is_name("not") || is_name("in");
    if (is_op("(")) {
      parse_args(e);
    } else if (starts_operand && !ends_test) {
      e.items.push_back(parse_postfix(parse_primary()));
    }
    return add(std::move(e));
  }

  const std::string& source_;
  std::vector<Token> tokens_;
  Template out_;
  size_t pos_ = 0;
  int loops_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  Error error_;
};

}  // namespace

Result<Template> parse_template(const std::string& source) {
  auto tokens = lex_template(source);
  if (!tokens) return tokens.error();
  return Parser(source, std::move(*tokens)).run();
}

}  // namespace axon::text::tmpl
