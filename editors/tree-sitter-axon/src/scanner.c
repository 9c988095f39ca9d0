// Layout for the tree-sitter grammar: separators of statements and items, beginnings and ends of blocks.
#include "tree_sitter/parser.h"

#include <stdint.h>
#include <stdlib.h>

enum TokenType { SEPARATOR, INDENT, DEDENT };

enum { MAX_DEPTH = 256 };

// The columns of the open blocks; the file itself is the first.
typedef struct {
  uint16_t columns[MAX_DEPTH];
  uint16_t depth;
} Layout;

void *tree_sitter_axon_external_scanner_create(void) {
  Layout *layout = calloc(1, sizeof(Layout));
  if (layout) layout->depth = 1;
  return layout;
}

void tree_sitter_axon_external_scanner_destroy(void *payload) { free(payload); }

unsigned tree_sitter_axon_external_scanner_serialize(void *payload, char *buffer) {
  const Layout *layout = payload;
  unsigned size = 0;
  for (uint16_t i = 1; i < layout->depth && size + 2 <= TREE_SITTER_SERIALIZATION_BUFFER_SIZE; ++i) {
    buffer[size++] = (char)(layout->columns[i] & 0xFF);
    buffer[size++] = (char)(layout->columns[i] >> 8);
  }
  return size;
}

void tree_sitter_axon_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  Layout *layout = payload;
  layout->columns[0] = 0;
  layout->depth = 1;
  for (unsigned i = 0; i + 1 < length && layout->depth < MAX_DEPTH; i += 2)
    layout->columns[layout->depth++] = (uint16_t)((unsigned char)buffer[i] | ((unsigned char)buffer[i + 1] << 8));
}

static void skip(TSLexer *lexer) { lexer->advance(lexer, true); }

// Skips blanks, line ends and comment lines. Returns whether a line end was passed; `column` is then
// where the next code stands. A tab counts as eight blanks.
static bool skip_to_code(TSLexer *lexer, uint16_t *column) {
  bool new_line = false;
  *column = 0;
  while (true) {
    switch (lexer->lookahead) {
      case ' ':
        ++*column;
        skip(lexer);
        break;
      case '\t':
        *column += 8;
        skip(lexer);
        break;
      case '\r':
        skip(lexer);
        break;
      case '\n':
        new_line = true;
        *column = 0;
        skip(lexer);
        break;
      case '-':
        // Only a comment starts with two; what follows one is left to the grammar.
        lexer->mark_end(lexer);
        if (!new_line) return false;
        skip(lexer);
        if (lexer->lookahead != '-') return true;
        while (lexer->lookahead != '\n' && !lexer->eof(lexer)) skip(lexer);
        break;
      default:
        lexer->mark_end(lexer);
        return new_line;
    }
    if (lexer->eof(lexer)) {
      lexer->mark_end(lexer);
      *column = 0;
      return true;
    }
  }
}

// Whether the next word is `else`, which never starts a statement.
static bool at_else(TSLexer *lexer) {
  for (const char *word = "else"; *word; ++word) {
    if (lexer->lookahead != *word) return false;
    skip(lexer);
  }
  int32_t c = lexer->lookahead;
  bool goes_on = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  return !goes_on;
}

static bool give(TSLexer *lexer, enum TokenType type) {
  lexer->result_symbol = (TSSymbol)type;
  return true;
}

bool tree_sitter_axon_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  Layout *layout = payload;
  uint16_t column = 0;
  bool new_line = skip_to_code(lexer, &column);
  uint16_t top = layout->columns[layout->depth - 1];
  bool at_end = lexer->eof(lexer);
  if (!new_line) {
    // A closing bracket ends the blocks that were opened inside of it.
    bool closes = lexer->lookahead == ')' || lexer->lookahead == ']';
    if (closes && valid[DEDENT] && layout->depth > 1) {
      --layout->depth;
      return give(lexer, DEDENT);
    }
    return false;
  }
  if (valid[INDENT] && column > top && !at_end && layout->depth < MAX_DEPTH) {
    layout->columns[layout->depth++] = column;
    return give(lexer, INDENT);
  }
  if (valid[DEDENT] && layout->depth > 1 && (column < top || at_end)) {
    --layout->depth;
    return give(lexer, DEDENT);
  }
  if (valid[SEPARATOR] && column == top && !at_end && !at_else(lexer)) return give(lexer, SEPARATOR);
  return false;
}
