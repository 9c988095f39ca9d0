// Values that errors take out of a definition, so that the rest of it can be checked.
#pragma once

#include "sema/session.h"
#include "syntax/nodes.h"

namespace axon::sema {

// Puts an unread value in place of the call around `span`, or, where it stands in none, of the
// value of its statement. False where the definition has no such place, or only one that is unread
// already.
bool take_out_value(syntax::Definition& def, Span span, Session& session);
// The same with all of the body.
bool take_out_body(syntax::Definition& def, Session& session);
// A `return` of what is not known, behind the statement at `last`.
syntax::StmtId unread_return(Span last, Session& session);
// Whether `span` begins in a value of the definition that is unread.
bool is_unread_at(const syntax::Definition& def, Span span, const syntax::Ast& ast);
// The texts that unread values of the definition stand for.
std::vector<Span> unread_in(const syntax::Definition& def, const syntax::Ast& ast);

}  // namespace axon::sema
