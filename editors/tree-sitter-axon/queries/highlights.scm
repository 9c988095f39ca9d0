; Highlighting for the tree-sitter grammar.
(comment) @comment
(pragma) @attribute
(string) @string
(path) @string.special.path
(path_suffix) @string.special.path
(path_parameter) @variable.parameter
(scope_reference) @string.special.path
(integer) @number
(float) @number.float
(boolean) @boolean
(null) @constant.builtin

(signature name: (identifier) @function)
(definition name: (identifier) @function)
(global_binding name: (identifier) @constant)
(parameter (identifier) @variable.parameter)
(optional_parameter name: (identifier) @variable.parameter)
(keyword_argument name: (identifier) @variable.parameter)
(call callee: (name) @function.call)
(import_item module: (identifier) @module)
(type_alias name: (identifier) @type.definition)
(named_type (identifier) @type)
(list_type) @type

["import" "export" "as"] @keyword.import
["type" "do" "scope" "step" "carry"] @keyword
["if" "then" "else"] @keyword.conditional
["for"] @keyword.repeat
["return" "yield"] @keyword.return
["and" "or"] @keyword.operator
["+" "-" "*" "/" "%" "==" "!=" "<" "<=" ">" ">=" "|>" ">>=" "<-" "->" "::" "=" "?" ":" ".." "\\"] @operator
["(" ")" "[" "]" "{-#" "#-}"] @punctuation.bracket
["," ";"] @punctuation.delimiter
