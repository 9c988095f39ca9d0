// Entry of the parser: text, tree, structural checks, warnings.
#include "syntax/parse.h"

#include "syntax/lint.h"
#include "syntax/parser.h"
#include "syntax/structure.h"

namespace axon::syntax {

Module parse(FileId file, const FileTable& files, Interner& names, Ast& ast, DiagSink& sink) {
  Parser parser(file, files, names, ast, sink);
  Module module = parser.parse_file();
  validate_ast(module, ast, names, sink);
  lint(module, files.text(file), ast, names, sink);
  return module;
}

}  // namespace axon::syntax
