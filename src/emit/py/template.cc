// Reads expression templates: a tokenizer and a parser by binding strength.
#include "emit/py/template.h"

#include <cctype>

#include "emit/py/precedence.h"
#include "support/check.h"

namespace axon::emit::py {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Parser {
 public:
  Parser(std::string_view text, const std::vector<Expr>& documents)
      : text_(text), documents_(documents) {
    next();
  }

  Expr whole() {
    Expr out = expression(0);
    if (token_ == ",") {
      std::vector<Expr> items = {std::move(out)};
      while (take(",")) items.push_back(expression(0));
      out = tuple(std::move(items));
    }
    AXON_CHECK(token_.empty(), "template: text behind the expression");
    return out;
  }

 private:
  void next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    size_t begin = at_;
    if (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '{') {
        at_ = text_.find('}', at_) + 1;
      } else if (c == '"') {
        at_ = text_.find('"', at_ + 1) + 1;
      } else if (is_word(c) ||
                 (c == '.' && at_ + 1 < text_.size() && std::isdigit(text_[at_ + 1]))) {
        bool number = std::isdigit(static_cast<unsigned char>(c)) || c == '.';
        while (at_ < text_.size() && (is_word(text_[at_]) || (number && text_[at_] == '.'))) ++at_;
        if (number && text_[at_ - 1] == 'e') {  // an exponent with its sign
          ++at_;
          while (at_ < text_.size() && is_word(text_[at_])) ++at_;
        }
      } else {
        std::string_view two = text_.substr(at_, 2);
        bool wide =
            two == "==" || two == "!=" || two == "<=" || two == ">=" || two == "//" || two == "**";
        at_ += wide ? 2 : 1;
      }
    }
    token_ = text_.substr(begin, at_ - begin);
  }

  bool take(std::string_view token) {
    if (token_ != token) return false;
    next();
    return true;
  }
  void expect(std::string_view token) { AXON_CHECK(take(token), "template: bracket or comma"); }

  // The operator at the current token, `is not` and `not in` joined; empty for none.
  std::string operator_here() {
    std::string op(token_);
    if (op == "is" || op == "not") {
      size_t at = at_;
      std::string_view token = token_;
      next();
      if (op == "is" && token_ == "not") return "is not";
      if (op == "not" && token_ == "in") return "not in";
      at_ = at, token_ = token;
    }
    return op;
  }

  Expr expression(int least) {
    Expr left = prefix();
    while (!token_.empty()) {
      if (least == 0 && token_ == "if") {
        next();
        Expr condition = expression(1);
        expect("else");
        left = conditional(std::move(left), std::move(condition), expression(0));
        continue;
      }
      std::string op = operator_here();
      int strength = binding(op);
      if (strength == 0 || strength < least) break;
      next();
      int right = op == "**" ? strength : strength + 1;
      left = binary(std::move(left), op, expression(right));
    }
    return left;
  }

  Expr prefix() {
    if (token_ == "-" || token_ == "~" || token_ == "not") {
      std::string op(token_);
      next();
      return unary(op, expression(op == "not" ? kNot : kUnary));
    }
    return suffix(primary());
  }

  Expr primary() {
    if (take("(")) {
      if (take(")")) return tuple({});
      Expr out = expression(0);
      if (token_ == ",") {
        std::vector<Expr> items = {std::move(out)};
        while (take(",")) {
          if (token_ != ")") items.push_back(expression(0));
        }
        out = tuple(std::move(items));
      }
      expect(")");
      return out;
    }
    if (take("[")) {
      std::vector<Expr> items;
      while (token_ != "]") {
        items.push_back(expression(0));
        if (!take(",")) break;
      }
      expect("]");
      return list(std::move(items));
    }
    AXON_CHECK(!token_.empty(), "template: an operand is missing");
    std::string_view token = token_;
    next();
    if (token[0] == '{') {
      size_t place = 0;
      for (char c : token.substr(1, token.size() - 2))
        place = place * 10 + static_cast<size_t>(c - '0');
      AXON_CHECK(place < documents_.size(), "template: no document for a placeholder");
      return documents_[place];
    }
    if (token[0] == '"') return py::text(token.substr(1, token.size() - 2));
    AXON_CHECK(is_word(token[0]) || token[0] == '.', "template: an operand is missing");
    return atom(token);
  }

  Expr suffix(Expr left) {
    for (;;) {
      if (take(".")) {
        std::string_view name = token_;
        next();
        left = attribute(std::move(left), name);
      } else if (take("(")) {
        left = call(std::move(left), arguments());
      } else if (take("[")) {
        std::vector<Expr> places;
        do {
          places.push_back(place());
        } while (take(","));
        expect("]");
        left = index(std::move(left), std::move(places));
      } else {
        return left;
      }
    }
  }

  std::vector<Expr> arguments() {
    std::vector<Expr> out;
    while (token_ != ")") {
      if (take("*")) {
        out.push_back(Expr{Expr::Kind::Starred, "", {expression(0)}});
      } else {
        Expr value = expression(0);
        if (value.kind == Expr::Kind::Atom && take("="))
          value = keyword(std::string(value.text), expression(0));
        out.push_back(std::move(value));
      }
      if (!take(",")) break;
    }
    expect(")");
    return out;
  }

  Expr place() {
    Expr lower;
    if (token_ != ":") lower = expression(0);
    if (!take(":")) return lower;
    Expr upper;
    if (token_ != "]" && token_ != ",") upper = expression(0);
    return Expr{Expr::Kind::Slice, "", {std::move(lower), std::move(upper)}};
  }

  std::string_view text_, token_;
  const std::vector<Expr>& documents_;
  size_t at_ = 0;
};

}  // namespace

Expr expand(std::string_view text, const std::vector<Expr>& documents) {
  return Parser(text, documents).whole();
}

}  // namespace axon::emit::py
