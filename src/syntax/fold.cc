// Breaks long lines at their loosest operators.
#include "syntax/fold.h"

#include <algorithm>

#include "support/text.h"
#include "syntax/lexer.h"

namespace axon::syntax {
namespace {

// Where a line may be broken, loosest first.
enum class Break : uint8_t {
  None,
  Comma,
  Bind,
  Branch,
  Pipe,
  Arrow,
  Or,
  And,
  Compare,
  Sum,
  Product,
  Argument,
  Head,
  Parameter
};

// Breaks in the head of a bind or definition, or behind it, come last.
constexpr int kHeadDepth = 1000;

size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

class Folder {
 public:
  Folder(std::string_view line, size_t width, Interner& names);
  std::string fold();

 private:
  struct Place {
    int depth = 0;
    Break kind = Break::None;
  };
  void read_tokens(Interner& names);
  void find_head();
  void find_places();
  Break break_at(size_t i) const;
  bool ends_operand(size_t i) const;
  bool is_word(size_t i, std::initializer_list<std::string_view> words) const;
  std::vector<size_t> segments(size_t begin, size_t end, Break& kind) const;
  bool moves_down(const std::vector<size_t>& starts, Break kind) const;
  void lay(size_t begin, size_t end, size_t indent);
  void new_line(size_t indent);
  std::string_view text(size_t begin, size_t end) const;

  std::string_view line_;
  size_t width_;
  std::vector<Token> tokens_;
  std::vector<Place> places_;
  std::string_view comment_;
  size_t head_ = 0;  // tokens up to the `<-` or `=` of a bind or definition
  bool is_signature_ = false;
  bool ends_in_do_ = false;
  std::string out_;
};

Folder::Folder(std::string_view line, size_t width, Interner& names) : line_(line), width_(width) {
  read_tokens(names);
  find_head();
  find_places();
}

void Folder::read_tokens(Interner& names) {
  Lexer lexer(FileId{0}, line_, names);
  while (true) {
    Token token = lexer.next();
    if (token.kind == Tok::Eof) break;
    tokens_.push_back(std::move(token));
  }
  for (const Comment& comment : lexer.take_comments())
    comment_ = line_.substr(static_cast<size_t>(comment.span.begin));
}

std::string_view Folder::text(size_t begin, size_t end) const {
  size_t from = static_cast<size_t>(tokens_[begin].begin);
  return line_.substr(from, static_cast<size_t>(tokens_[end - 1].end) - from);
}

bool Folder::is_word(size_t i, std::initializer_list<std::string_view> words) const {
  if (tokens_[i].kind != Tok::Name) return false;
  return std::find(words.begin(), words.end(), text(i, i + 1)) != words.end();
}

void Folder::find_head() {
  if (tokens_.empty()) return;
  is_signature_ = tokens_.size() > 2 && tokens_[1].kind == Tok::ColonColon;
  ends_in_do_ = is_word(tokens_.size() - 1, {"do"});
  int depth = 0;
  for (size_t i = 0; i < tokens_.size() && head_ == 0; ++i) {
    Tok kind = tokens_[i].kind;
    if (kind == Tok::LParen || kind == Tok::LBracket) ++depth;
    if (kind == Tok::RParen || kind == Tok::RBracket) --depth;
    bool marks = kind == Tok::LArrow || (kind == Tok::Equal && tokens_[i].blank_before);
    if (marks && depth == 0) head_ = i;
  }
}

// The depth of a bracket is that of what stands around it.
void Folder::find_places() {
  places_.resize(tokens_.size());
  int depth = 0;
  int least = 0;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    Tok kind = tokens_[i].kind;
    if (kind == Tok::RParen || kind == Tok::RBracket) --depth;
    places_[i].depth = depth;
    least = std::min(least, depth);
    if (kind == Tok::LParen || kind == Tok::LBracket) ++depth;
  }
  for (Place& place : places_) place.depth -= least;
  for (size_t i = 1; i < tokens_.size(); ++i) {
    places_[i].kind = break_at(i);
    if (places_[i].kind >= Break::Head) places_[i].depth = kHeadDepth;
  }
}

bool Folder::ends_operand(size_t i) const {
  switch (tokens_[i].kind) {
    case Tok::Int:
    case Tok::Float:
    case Tok::String:
    case Tok::Path:
    case Tok::RParen:
    case Tok::RBracket:
      return true;
    case Tok::Name:
      return !is_word(i, {"do", "return", "yield", "if", "then", "else", "for", "scope", "import",
                          "export", "type", "carry", "and", "or"});
    default:
      return false;
  }
}

// The kind of break before token `i`.
Break Folder::break_at(size_t i) const {
  const Token& token = tokens_[i];
  bool in_head = i <= head_ && places_[i].depth == places_[head_].depth;
  if (tokens_[i - 1].kind == Tok::Comma) return in_head ? Break::None : Break::Comma;
  if (!token.blank_before || is_word(i, {"do"})) return Break::None;
  bool blank_behind = i + 1 < tokens_.size() && tokens_[i + 1].blank_before;
  if (in_head) return ends_operand(i - 1) && i < head_ ? Break::Parameter : Break::None;
  if (head_ > 0 && i == head_ + 1)
    return is_word(i, {"for", "scope", "if"}) ? Break::None : Break::Head;
  bool infix = ends_operand(i - 1);
  switch (token.kind) {
    case Tok::BindOp:
      return Break::Bind;
    case Tok::PipeOp:
      return Break::Pipe;
    case Tok::Question:
    case Tok::Colon:
      return blank_behind ? Break::Branch : Break::None;
    case Tok::RArrow:
      return is_signature_ ? Break::Arrow : Break::None;
    case Tok::EqEq:
    case Tok::NotEq:
    case Tok::Less:
    case Tok::LessEq:
    case Tok::Greater:
    case Tok::GreaterEq:
      return Break::Compare;
    case Tok::Plus:
    case Tok::Minus:
      if (blank_behind) return Break::Sum;
      return infix ? Break::Argument : Break::None;
    case Tok::Star:
    case Tok::Slash:
    case Tok::Percent:
      return Break::Product;
    default:
      break;
  }
  if (is_word(i, {"then", "else"})) return Break::Branch;
  if (infix && is_word(i, {"or"})) return Break::Or;
  if (infix && is_word(i, {"and"})) return Break::And;
  bool operand = token.kind == Tok::Name || token.kind == Tok::LParen ||
                 token.kind == Tok::LBracket || ends_operand(i);
  // The first argument stays with the name that is called.
  bool first = tokens_[i - 1].kind == Tok::Name && (i < 2 || !ends_operand(i - 2));
  bool pragma = tokens_[0].kind == Tok::PragmaOpen;
  return infix && operand && !first && !pragma ? Break::Argument : Break::None;
}

// The beginnings of the pieces of the range, cut at its loosest breaks outside of most brackets.
std::vector<size_t> Folder::segments(size_t begin, size_t end, Break& kind) const {
  std::vector<size_t> out{begin};
  int depth = -1;
  kind = Break::None;
  for (size_t i = begin + 1; i < end; ++i) {
    const Place& place = places_[i];
    if (place.kind == Break::None) continue;
    bool looser = depth < 0 || place.depth < depth || (place.depth == depth && place.kind < kind);
    if (looser) {
      depth = place.depth;
      kind = place.kind;
      out = {begin};
    }
    if (place.depth == depth && place.kind == kind) out.push_back(i);
  }
  return out;
}

void Folder::new_line(size_t indent) {
  out_ += '\n';
  out_.append(indent, ' ');
}

// Whether the right side of a definition goes to a line of its own instead of being cut among its
// arguments or inside of brackets.
bool Folder::moves_down(const std::vector<size_t>& starts, Break kind) const {
  size_t body = head_ + 1;
  if (head_ == 0 || tokens_[head_].kind != Tok::Equal || kind >= Break::Head) return false;
  if (body >= tokens_.size() || places_[body].kind != Break::Head) return false;
  return kind >= Break::Argument || places_[starts[1]].depth > 0;
}

// Writes the range, whose first token stands at column `indent`.
void Folder::lay(size_t begin, size_t end, size_t indent) {
  std::string_view whole = text(begin, end);
  Break kind = Break::None;
  std::vector<size_t> starts;
  if (indent + width_of(whole) > width_) starts = segments(begin, end, kind);
  if (kind == Break::None) {
    out_ += whole;
    return;
  }
  if (end == tokens_.size() && begin == 0 && moves_down(starts, kind)) starts = {0, head_ + 1};
  bool fills = kind != Break::Branch && kind != Break::Pipe && kind != Break::Bind;
  size_t deeper = indent + (ends_in_do_ && begin == 0 ? 4 : 2);
  size_t column = indent;
  for (size_t k = 0; k < starts.size(); ++k) {
    size_t stop = k + 1 < starts.size() ? starts[k + 1] : end;
    std::string_view piece = text(starts[k], stop);
    size_t gap = k > 0 && tokens_[starts[k]].blank_before ? 1 : 0;
    bool fits = column + gap + width_of(piece) <= width_;
    if (k > 0 && fills && fits) {
      out_.append(gap, ' ');
      out_ += piece;
      column += gap + width_of(piece);
      continue;
    }
    size_t place = k == 0 ? indent : deeper;
    if (k > 0) new_line(deeper);
    lay(starts[k], stop, place);
    // What follows a piece that was broken itself starts a line of its own.
    column = place + width_of(piece) <= width_ ? place + width_of(piece) : width_;
  }
}

std::string Folder::fold() {
  size_t indent = tokens_.empty() ? 0 : static_cast<size_t>(tokens_[0].begin);
  size_t code = tokens_.empty() ? 0 : width_of(line_.substr(0, tokens_.back().end));
  if (code <= width_) return std::string(line_);
  out_.append(indent, ' ');
  lay(0, tokens_.size(), indent);
  if (!comment_.empty()) out_ += "  " + std::string(comment_);
  return std::move(out_);
}

}  // namespace

std::string fold_lines(std::string_view text, size_t width, Interner& names) {
  std::string out;
  for (std::string_view line : split(text, '\n')) {
    if (!out.empty()) out += '\n';
    // Bytes are at least as many as columns.
    if (line.size() <= width) {
      out += line;
    } else {
      out += Folder(line, width, names).fold();
    }
  }
  return out;
}

}  // namespace axon::syntax
