// The recursive-descent parser (language.md 4). Internal to the syntax layer; parse.h is the door.
#pragma once

#include "syntax/parser_base.h"

namespace axon::syntax {

// Kept out of line: what lies in the frame of a caller counts a thousand times when brackets nest
// as deeply as they may, and sanitizers make frames several times larger.
#define AXON_SMALL_FRAMES [[gnu::noinline]]

class Parser : private ParserBase {
 public:
  Parser(FileId file, const FileTable& files, Interner& names, Ast& ast, DiagSink& sink)
      : ParserBase(file, files, names, ast, sink) {}
  Module parse_file();

 private:
  enum class Place : uint8_t { Expr, Arg, ArgBranch };

  // parse_items.cc
  void parse_item(Module& module);
  std::optional<Word> item_word();
  void expect_item_end(std::string_view expected);
  void skip_rest();
  void end_definition(Definition& definition);
  void report_hashes();
  void parse_pragma(Module& module);
  ExprId parse_pragma_value();
  ExprId parse_pragma_items(Tok close, bool tuple);
  void parse_import(Module& module);
  void parse_import_item(Module& module);
  void parse_export(Module& module);
  std::vector<ImportMember> parse_members();
  bool take_star();
  bool lacks_comma();
  void parse_alias(Module& module);
  void add_main(Module& module);

  // parse_definitions.cc
  void parse_definition(Module& module);
  DefName parse_def_name();
  void add_path_param(DefName& head, const PathLit& path);
  void parse_signature(DefName head);
  void parse_global(Module& module, DefName head);
  void parse_head_and_body(Module& module, DefName head);
  void suggest_item(const DefName& head, bool has_params, Diagnostic& report);
  bool colon_body(Definition& definition);
  bool is_signature(const Definition& definition, Span equal);
  bool returns(const std::vector<StmtId>& body) const;
  void take_level_rest(Definition& definition);
  Param parse_param();
  ExprId parse_default();
  void parse_body(Definition& definition);
  AXON_SMALL_FRAMES void end_body(Definition& definition, int32_t begin, int losses);
  void check_def_name(const DefName& head);
  void drop_signature(std::string_view followed_by, Span follower = {});
  void apply_signature(Definition& definition, const DefName& head, const Signature& signature);
  void apply_types(Definition& definition, const Signature& signature, size_t path_types,
                   bool check_arity);
  void wrap_fixed_scope(Definition& definition, const std::vector<Target>& scope);
  size_t count_returned(const std::vector<StmtId>& body) const;

  // parse_types.cc
  TypeExprId parse_type();
  TypeExprId parse_named_type();
  TypeExprId parse_tuple_type();
  TypeArg parse_type_arg();
  TypeArg parse_paren_arg();
  std::vector<TypeArg> parse_type_args();
  TypeExprId type_of_arg(const TypeArg& arg);
  DimExprId parse_dim(DimExprId first = {}, bool may_negate = true);
  DimExprId parse_dim_factor(bool may_negate);
  NameId take_qname(std::string_view role);

  // parse_statements.cc
  void parse_block(std::vector<StmtId>& body);
  void skip_block() override;
  bool parse_suite(std::vector<StmtId>& body);
  void parse_level_block(std::vector<StmtId>& body);
  AXON_SMALL_FRAMES void drop_colon(Span word);
  void parse_inline(std::vector<StmtId>& body);
  void parse_statement(std::vector<StmtId>& body, bool is_inline);
  AXON_SMALL_FRAMES StmtId no_statement(std::string_view expected);
  void suggest_return(Diagnostic& report, int32_t begin);
  bool suggest_bind(Diagnostic& report, const std::vector<Token>& next);
  AXON_SMALL_FRAMES void keep_statement(std::vector<StmtId>& body, StmtId statement, int losses);
  static ExprId value_of(const Stmt& statement);
  AXON_SMALL_FRAMES void spoil_last(std::vector<StmtId>& body, size_t before, int losses);
  bool at_bind();
  std::optional<Word> statement_word(bool is_inline);
  AXON_SMALL_FRAMES void join_misspelt_else();
  StmtId parse_values(bool is_return);
  AXON_SMALL_FRAMES StmtId add_values(bool is_return, std::vector<ExprId> values, int32_t begin);
  StmtId parse_if_statement();
  StmtId parse_bind(bool is_inline);
  StmtId parse_bound(const std::vector<Target>& targets, bool is_inline, int32_t begin);
  AXON_SMALL_FRAMES StmtId add_bind(std::vector<Target> targets, ExprId value, int32_t begin);
  AXON_SMALL_FRAMES StmtId add_unread(std::vector<Target> targets, int32_t value, int32_t begin);
  AXON_SMALL_FRAMES StmtId add_loop(Loop& loop, int32_t begin);
  AXON_SMALL_FRAMES void expect_arrow();
  std::vector<Target> parse_targets(std::string_view role);
  AXON_SMALL_FRAMES void parse_for_header(Loop& loop, int32_t begin);
  StmtId parse_for(int32_t begin, std::vector<Target> targets, bool has_targets);
  AXON_SMALL_FRAMES void parse_step(Loop& loop, int32_t begin);
  AXON_SMALL_FRAMES void parse_carry(Loop& loop);
  void parse_bare_carry(Loop& loop);
  AXON_SMALL_FRAMES StmtId add_statement(decltype(Stmt::data) data, int32_t begin);
  AXON_SMALL_FRAMES void parse_for_scope(Loop& loop);
  AXON_SMALL_FRAMES void parse_range(Loop& loop, bool& closed_end);
  ExprId plus_one(ExprId bound);
  AXON_SMALL_FRAMES void part_range();
  void parse_loop_body(Loop& loop);
  void parse_loop_block(Loop& loop);
  AXON_SMALL_FRAMES void take_loop_value(Loop& loop, ExprId value);
  StmtId parse_scope(int32_t begin, std::vector<Target> targets);
  AXON_SMALL_FRAMES void parse_scope_head(ScopeBind& node);
  AXON_SMALL_FRAMES PathLit parse_scope_ref();
  AXON_SMALL_FRAMES void reject_tuple_bind(ExprId first, size_t targets);
  std::vector<ExprId> parse_expr_list();

  // parse_expressions.cc
  ExprId parse_expr();
  ExprId parse_bind_expr();
  AXON_SMALL_FRAMES ExprId parse_bind_function(ExprId value, int32_t begin);
  ExprId parse_pipe();
  AXON_SMALL_FRAMES ExprId parse_stages(ExprId value, int32_t begin);
  ExprId parse_cond();
  AXON_SMALL_FRAMES ExprId parse_ternary(ExprId cond, int32_t begin);
  ExprId parse_if(bool arg);
  ExprId parse_branch(size_t& items);
  AXON_SMALL_FRAMES ExprId parse_branch_tuple(ExprId first, size_t& items, int32_t begin);
  ExprId parse_arg(Place place);
  AXON_SMALL_FRAMES ExprId parse_arg_ternary(ExprId cond, Place place, int32_t begin);
  AXON_SMALL_FRAMES ExprId add_ternary(ExprId cond, ExprId then_value, ExprId else_value,
                                       int32_t begin);
  AXON_SMALL_FRAMES ExprId add_if(ExprId cond, ExprId then_value, ExprId else_value, int32_t begin);
  ExprId parse_do();
  ExprId parse_operators(Place place);
  AXON_SMALL_FRAMES ExprId reduce(ExprId right, int bound, size_t base);
  std::optional<BinaryOp> infix_operator(Place place);
  ExprId parse_application();
  AXON_SMALL_FRAMES Call begin_call();
  void parse_args();
  AXON_SMALL_FRAMES ExprId finish_call(int32_t begin);
  bool at_arg();
  AXON_SMALL_FRAMES ExprId parse_ascription(ExprId value, int32_t begin);

  // parse_atoms.cc
  bool at_expr();
  bool at_negative();
  ExprId parse_atom(bool tuple_allowed);
  AXON_SMALL_FRAMES ExprId parse_literal();
  AXON_SMALL_FRAMES ExprId parse_negative();
  ExprId parse_number(const Token& token, bool negative, Span where);
  ExprId parse_unary_minus();
  ExprId parse_paren(bool tuple_allowed);
  AXON_SMALL_FRAMES ExprId finish_paren(ExprId inner, int32_t begin);
  AXON_SMALL_FRAMES ExprId parse_tuple(ExprId first, int32_t begin, bool tuple_allowed);
  bool is_call_paren(int32_t begin) const;
  bool is_method() const;
  AXON_SMALL_FRAMES ExprId parse_empty_call(int32_t begin);
  AXON_SMALL_FRAMES ExprId parse_call_in_parens(Tuple tuple, int32_t begin);
  std::string as_argument(ExprId id) const;
  std::string as_arguments(const Tuple& tuple, Span whole) const;
  AXON_SMALL_FRAMES ExprId finish_tuple(Tuple tuple, int32_t begin, bool tuple_allowed);
  ExprId parse_list();
  ExprId add(decltype(Expr::data) data, int32_t begin) {
    return ast_.add(Expr{std::move(data), since(begin)});
  }

  // greedy.cc: W-GREEDY
  void warn_greedy_args(ExprId call);
  void warn_greedy_branch(ExprId conditional, size_t then_items, size_t else_items);

  struct Waiting {
    ExprId left;
    BinaryOp op;
    Span span;
  };
  std::vector<Waiting> waiting_;       // operators without their right operand, of all open chains
  std::vector<Call> calls_;            // calls whose arguments are being read
  size_t returned_ = 1, yielded_ = 0;  // how many values the block around hands on; 0: any number
  std::optional<Signature> pending_;   // a signature that waits for its definition
};

#undef AXON_SMALL_FRAMES

}  // namespace axon::syntax
