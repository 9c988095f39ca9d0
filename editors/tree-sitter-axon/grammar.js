// The grammar of Axon for tree-sitter. Layout (separators, blocks) comes from src/scanner.c.
// Punctuation and words are those of src/syntax/tokens.def; a test compares the two.

const PREC = {
  lambda: 1,
  pipe: 2,
  conditional: 3,
  or: 4,
  and: 5,
  compare: 6,
  add: 7,
  multiply: 8,
  call: 9,
  ascription: 10,
};

const list = (rule) => seq(rule, repeat(seq(",", rule)), optional(","));

// Binary operators of one level; they lean to the left.
const chain = ($, level, operators, operand) =>
  prec.left(
    level,
    seq(
      field("left", operand),
      field("operator", choice(...operators)),
      field("right", operand),
    ),
  );

module.exports = grammar({
  name: "axon",

  extras: ($) => [/[ \t\r\n]/, $.comment],

  externals: ($) => [$._separator, $._indent, $._dedent],

  word: ($) => $.identifier,

  conflicts: ($) => [
    [$._atom, $.call],
    [$._argument, $.call],
    [$.tuple, $.parenthesized],
    [$.dim_parenthesized, $.tuple_type],
    [$._dim, $._type],
    [$.signature, $.definition],
  ],

  rules: {
    file: ($) => seq(optional($._item), repeat(seq($._separator, $._item))),

    _item: ($) =>
      choice(
        $.pragma,
        $.import,
        $.export,
        $.type_alias,
        $.signature,
        $.definition,
        $.global_binding,
      ),

    comment: () => token(seq("--", /[^\n]*/)),

    // ---- items ----------------------------------------------------------------------------

    pragma: ($) =>
      seq("{-#", field("name", $.identifier), field("value", $._literal_value), "#-}"),

    _literal_value: ($) => choice($._literal, $.list, $.tuple),

    import: ($) => seq("import", $.import_item, repeat(seq(",", $.import_item))),

    import_item: ($) =>
      prec.right(seq(field("module", $._qualified), optional($.members), optional($.rename))),

    // Not part of the language: `as` after an import is reported by the compiler.
    rename: ($) => seq("as", $.identifier),

    export: ($) => seq("export", $.members),

    members: ($) =>
      prec.right(
        choice(seq("(", optional(list($.identifier)), ")"), repeat1($.identifier)),
      ),

    type_alias: ($) =>
      seq(
        "type",
        field("name", $.identifier),
        optional(seq("[", list(choice($.identifier, $.variadic)), "]")),
        "=",
        field("type", $._type),
      ),

    variadic: ($) => seq("..", $.identifier),

    signature: ($) =>
      seq(
        field("name", $._definition_name),
        "::",
        $._type,
        repeat(seq("->", $._type)),
      ),

    definition: ($) =>
      seq(
        field("name", $._definition_name),
        repeat(choice($.parameter, $.optional_parameter)),
        "=",
        field("body", $._expression),
      ),

    global_binding: ($) =>
      seq(field("name", $._qualified), "<-", field("value", $._expression)),

    _definition_name: ($) => prec.right(seq($._qualified, repeat($.path_parameter))),

    path_parameter: ($) => seq("@", $.identifier),

    parameter: ($) => $.identifier,

    optional_parameter: ($) =>
      seq(
        "?",
        field("name", $.identifier),
        "=",
        field("default", choice($._literal, $._qualified, $.parenthesized)),
      ),

    // ---- types ----------------------------------------------------------------------------

    _type: ($) => choice($.optional_type, $.tuple_type, $.list_type, $.named_type),

    optional_type: ($) => seq("?", $._type),

    tuple_type: ($) => seq("(", $._type, ",", list($._type), ")"),

    list_type: ($) => seq("List", "[", $._type, "]"),

    named_type: ($) =>
      prec.right(seq(choice($._qualified, $.path), optional($.type_arguments))),

    type_arguments: ($) => seq("[", list(choice($._dim, $._type)), "]"),

    _dim: ($) =>
      choice($.integer, $.negative, $._qualified, $.variadic, $.dim_parenthesized, $.dim_operation),

    dim_parenthesized: ($) => seq("(", $._dim, ")"),

    dim_operation: ($) =>
      choice(
        chain($, PREC.add, ["+", "-"], $._dim),
        chain($, PREC.multiply, ["*", "/", "%"], $._dim),
      ),

    // ---- statements -----------------------------------------------------------------------

    _suite: ($) => choice($.block, $._inline_suite),

    block: ($) =>
      seq($._indent, $._line, repeat(seq($._separator, $._line)), $._dedent),

    _line: ($) => seq($._statement, repeat(seq(";", $._statement)), optional(";")),

    _inline_suite: ($) =>
      prec.right(seq($._simple, repeat(seq(";", $._simple)), optional(";"))),

    _simple: ($) => choice($.return, $.yield, $.bind),

    _statement: ($) =>
      choice($._simple, $.for, $.for_bind, $.if_statement, $.scope_bind),

    return: ($) => prec.right(seq("return", $._expression, repeat(seq(",", $._expression)))),

    yield: ($) => prec.right(seq("yield", $._expression, repeat(seq(",", $._expression)))),

    targets: ($) => seq($.identifier, repeat(seq(",", $.identifier))),

    bind: ($) => seq($.targets, "<-", field("value", $._expression)),

    for: ($) => seq($._for_header, $._loop_body),

    for_bind: ($) => seq($.targets, "<-", $._for_header, $._loop_body),

    _for_header: ($) =>
      seq(
        "for",
        optional(seq("@", $.scope_reference)),
        field("variable", $.identifier),
        "<-",
        $.range,
        optional(seq("step", "=", field("step", $._argument))),
        optional(seq("carry", "(", $.targets, ")")),
      ),

    _loop_body: ($) => choice(seq("do", $._suite), $._expression),

    range: ($) =>
      seq(choice("[", "("), $._expression, "..", $._expression, choice("]", ")")),

    if_statement: ($) =>
      seq("if", $._expression, "then", "do", $._suite, "else", "do", $._suite),

    scope_bind: ($) =>
      seq(
        $.targets,
        "<-",
        "scope",
        choice($.path, $.string, seq(optional("@"), choice($.scope_reference, $.string))),
        "do",
        $._suite,
      ),

    scope_reference: () =>
      /([A-Za-z0-9_]+|\{[A-Za-z_][A-Za-z0-9_]*\})(\.([A-Za-z0-9_]+|\{[A-Za-z_][A-Za-z0-9_]*\}))*/,

    // ---- expressions ----------------------------------------------------------------------

    _expression: ($) =>
      choice(
        $.do,
        $.bind_expression,
        $.pipe,
        $.if,
        $.conditional,
        $.binary,
        $.ascription,
        $.call,
        $._atom,
      ),

    do: ($) => prec.right(seq("do", $._suite)),

    bind_expression: ($) =>
      prec.right(
        PREC.lambda,
        seq($._expression, ">>=", "\\", field("variable", $.identifier), "->", $._expression),
      ),

    pipe: ($) => prec.left(PREC.pipe, seq($._expression, "|>", $._expression)),

    if: ($) =>
      prec.right(
        PREC.conditional,
        seq("if", $._expression, "then", $._branch, "else", $._branch),
      ),

    conditional: ($) =>
      prec.right(PREC.conditional, seq($._expression, "?", $._branch, ":", $._branch)),

    _branch: ($) => prec.right(seq($._expression, repeat(seq(",", $._expression)))),

    binary: ($) =>
      choice(
        chain($, PREC.or, ["or"], $._expression),
        chain($, PREC.and, ["and"], $._expression),
        chain($, PREC.compare, ["==", "!=", "<", "<=", ">", ">="], $._expression),
        chain($, PREC.add, ["+", "-"], $._expression),
        chain($, PREC.multiply, ["*", "/", "%"], $._expression),
      ),

    ascription: ($) => prec.left(PREC.ascription, seq($._expression, "::", $._type)),

    call: ($) =>
      prec.right(
        PREC.call,
        seq(field("callee", $.name), repeat1(choice($._argument, $.keyword_argument))),
      ),

    keyword_argument: ($) => seq(field("name", $.identifier), "=", $._argument),

    // An argument is a whole operator expression without calls and pipes.
    _argument: ($) => choice($._atom, $.argument_operation, $.do),

    argument_operation: ($) =>
      choice(
        chain($, PREC.or, ["or"], $._argument),
        chain($, PREC.and, ["and"], $._argument),
        chain($, PREC.compare, ["==", "!=", "<", "<=", ">", ">="], $._argument),
        chain($, PREC.add, ["+", "-"], $._argument),
        chain($, PREC.multiply, ["*", "/", "%"], $._argument),
      ),

    _atom: ($) => choice($.parenthesized, $.tuple, $.list, $._literal, $.name),

    parenthesized: ($) => seq("(", $._expression, ")"),

    tuple: ($) => seq("(", $._expression, ",", list($._expression), ")"),

    list: ($) => seq("[", optional(list($._expression)), "]"),

    _literal: ($) =>
      choice($.integer, $.float, $.negative, $.boolean, $.null, $.string, $.path),

    boolean: () => choice("true", "false"),

    null: () => "null",

    negative: ($) => prec(PREC.call, seq("-", choice($.integer, $.float))),

    // ---- tokens ---------------------------------------------------------------------------

    name: ($) => prec.right(seq($._qualified, repeat($.path_suffix))),

    _qualified: ($) => choice($.identifier, $.qualified),

    identifier: () => /[A-Za-z_][A-Za-z0-9_]*/,

    qualified: () => token(/[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+/),

    path_suffix: () =>
      token.immediate(/@@?([A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*|'([^'\\\n]|\\.)*')/),

    path: () => token(/@@?([A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*|'([^'\\\n]|\\.)*')/),

    integer: () => /[0-9]+/,

    float: () => token(/[0-9]+\.[0-9]+([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+/),

    string: () => token(choice(/"([^"\\\n]|\\.)*"/, /'([^'\\\n]|\\.)*'/)),
  },
});
