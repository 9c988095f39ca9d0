// Runs the cases of tests/conformance: tokens, trees, stages, types, diagnostics, results.
#include <algorithm>
#include <set>
#include <utility>

#include "conformance_case.h"
#include "driver/library.h"
#include "graph/evaluate.h"
#include "graph/text.h"
#include "runtime/formats/json.h"
#include "support/text.h"
#include "syntax/lexer.h"
#include "syntax/parse.h"
#include "syntax/render.h"

namespace axon::driver::testing {
namespace {

struct MemoryLibrary : sema::LibrarySource {
  const std::map<std::string, std::string, std::less<>>& files;
  mutable std::map<std::string, std::string_view, std::less<>> views;
  explicit MemoryLibrary(const std::map<std::string, std::string, std::less<>>& f) : files(f) {}
  const std::string_view* find(std::string_view path) const override {
    auto file = files.find(path);
    if (file == files.end()) return nullptr;
    return &(views[file->first] = file->second);
  }
};

// Remembers what is read.
struct SeenParams : graph::EvalParams {
  graph::MemoryParams inner;
  std::vector<std::string> seen;
  Result<std::optional<graph::EvalTensor>> find(std::string_view key) override {
    seen.emplace_back(key);
    return inner.find(key);
  }
  bool has_root(std::string_view root) override { return inner.has_root(root); }
};

// `[2,3]:1,2,…` a float tensor, `i[2]:1,2` an integer one, `null`, `true`, `3`, `2.5`; values
// repeat as needed.
graph::EvalValue read_value(std::string_view text) {
  using graph::EvalTensor, graph::EvalValue;
  if (text == "null") return EvalValue::null();
  if (text == "true" || text == "false") return EvalValue::of(text == "true");
  DType dtype = starts_with(text, "i") ? DType::I64 : DType::F32;
  if (dtype == DType::I64) text.remove_prefix(1);
  if (!starts_with(text, "[")) {
    if (auto integer = parse_int(text)) return EvalValue::of(*integer);
    return EvalValue::of(parse_double(text).value_or(0));
  }
  size_t close = text.find(']');
  std::vector<int64_t> shape;
  for (std::string_view size : split(text.substr(1, close - 1), ','))
    shape.push_back(parse_int(size).value_or(0));
  EvalTensor out = EvalTensor::make(dtype, shape);
  auto values = split(text.substr(std::min(close + 2, text.size())), ',');
  for (int64_t i = 0; i < out.count(); ++i) {
    std::string_view value = values[static_cast<size_t>(i) % values.size()];
    auto integer = parse_int(value);
    out.set(i, integer ? static_cast<double>(*integer) : parse_double(value).value_or(1));
  }
  return EvalValue::of(std::move(out));
}

std::string show_value(const graph::EvalValue& value) {
  if (value.kind == graph::EvalValue::Kind::Tuple || value.kind == graph::EvalValue::Kind::List) {
    std::string out = "(";
    for (const auto& item : value.items) out += (out.size() > 1 ? " " : "") + show_value(item);
    return out + ")";
  }
  if (!value.is_tensor()) return graph::show(value);
  const graph::EvalTensor& tensor = *value.tensor;
  std::string out = graph::show_shape(tensor.shape) + ":";
  for (int64_t i = 0; i < tensor.count(); ++i) {
    double number = tensor.get(i);
    bool whole = number == static_cast<double>(static_cast<int64_t>(number));
    out += (i ? "," : "") +
           (whole ? std::to_string(static_cast<int64_t>(number)) : show_double(number));
  }
  return out;
}

class Runner {
 public:
  explicit Runner(const Case& input) : input_(input), library_(input.files) {
    options_.path = "main.axon";
    options_.text = input.text;
    if (!input.files.empty()) options_.library = &library_;
  }

  std::string run() {
    for (const Check& check : input_.checks) {
      std::string wrong = one(check);
      if (wrong.empty()) continue;
      failures_ +=
          std::to_string(check.line) + ": " + check.word + " " + check.rest + "\n" + wrong + "\n";
    }
    return failures_;
  }

 private:
  std::string one(const Check& c) {
    if (c.word == "overlay") return options_.overlays.push_back(c.rest), "";
    if (c.word == "strict") return options_.strict = true, "";
    if (c.word == "main") return options_.main = c.rest, "";
    if (c.word == "config") return config(c.rest);
    if (c.word == "params") return params(c.rest);
    if (c.word == "clean") return reports("");
    if (c.word == "reports") return reports(c.rest);
    if (c.word == "message") return message(c.rest);
    if (c.word == "tokens") return tokens(c.rest);
    if (c.word == "body") return body(c.rest);
    if (c.word == "same") return same(c.rest);
    if (c.word == "type") return type(c.rest);
    if (c.word == "run") return evaluate(c.rest);
    if (c.word == "reads") return reads(c.rest);
    if (c.word == "graph") return graph_lines(c);
    if (c.word == "nest" || c.word == "chain") return sized(c);
    if (c.word == "auto") return automatic(c.rest);
    if (c.word == "zoo") return zoo(c.rest);
    if (auto stage = parse_stage(c.word)) return definition_at(*stage, c);
    return "no such check";
  }

  std::string expect(const std::string& got, const std::string& wanted) {
    return got == wanted ? "" : "  got    " + got + "\n  wanted " + wanted;
  }

  Frontend front(Stage stop = Stage::GraphIr) {
    options_.stop_after = stop;
    if (has_config_) options_.answers.config = &config_;
    return run_frontend(options_);
  }

  std::string config(std::string_view text) {
    auto read = formats::parse_json(text, "config.json");
    if (!read) return "  " + read.error().message;
    config_ = *read;
    has_config_ = true;
    return "";
  }

  std::string params(std::string_view text) {
    for (std::string_view item : split(text, ';')) {
      size_t mark = item.find('=');
      params_.inner.set(std::string(trim(item.substr(0, mark))),
                        *read_value(trim(item.substr(mark + 1))).tensor);
    }
    return "";
  }

  // Codes of all diagnostics, sorted. What a small example cannot avoid is left out.
  static std::string codes(const Frontend& f) {
    std::multiset<std::string> all;
    for (const Diagnostic& d : f.session->sink.all()) {
      std::string code(diag_info(d.id).code);
      bool trivial = code == "W-PRIM" || code == "W-NO-SIGNATURE" || code == "W-UNUSED-DEF" ||
                     code == "W-UNUSED-IMPORT";
      if (!trivial) all.insert(code);
    }
    std::string out;
    for (const std::string& code : all) out += (out.empty() ? "" : " ") + code;
    return out;
  }

  std::string reports(const std::string& wanted) {
    Frontend f = front();
    std::string got = codes(f);
    if (got == wanted) return "";
    std::string out = expect(got, wanted);
    for (const Diagnostic& d : f.session->sink.all()) out += "\n  " + message_of(d);
    return out;
  }

  std::string message(const std::string& part) {
    Frontend f = front();
    std::string all;
    for (const Diagnostic& d : f.session->sink.all()) {
      all += message_of(d) + "\n";
      for (const DiagNote& n : d.notes) all += message_of(n) + "\n";
    }
    return all.find(part) == all.npos ? "  got " + all : "";
  }

  // `TEXT => NAME:a PATH:@b …`
  std::string tokens(std::string_view rest) {
    size_t mark = rest.find(" => ");
    std::string text(rest.substr(0, mark));
    Interner names;
    syntax::Lexer lexer(FileId{0}, text, names);
    std::string out;
    while (true) {
      syntax::Token token = lexer.next();
      if (token.kind == syntax::Tok::Eof) break;
      if (!out.empty()) out += ' ';
      if (token.kind == syntax::Tok::Name) out += "NAME:";
      if (token.kind == syntax::Tok::Path) out += "PATH:";
      if (token.kind == syntax::Tok::Int) out += "INT:";
      if (token.kind == syntax::Tok::Float) out += "FLOAT:";
      out += text.substr(static_cast<size_t>(token.begin),
                         static_cast<size_t>(token.end - token.begin));
      for (const Diagnostic& error : token.errors)
        out += "!" + std::string(diag_info(error.id).code);
    }
    return expect(out, std::string(rest.substr(mark + 4)));
  }

  // The right side of a definition as parsed, in canonical form.
  std::string body_text(std::string_view name) {
    sema::Session s;
    FileId file = s.files.add("main.axon", input_.text);
    syntax::Module module = syntax::parse(file, s.files, s.names, s.ast, s.sink);
    for (const syntax::Definition& def : module.definitions) {
      if (s.names.text(def.name) != name) continue;
      std::string text = syntax::render_definition(def, s.ast, s.names);
      size_t head = text.find(def.is_global ? " <- " : " = ");
      size_t line = text.rfind('\n', head);
      if (line != text.npos) text = text.substr(line + 1), head = text.find(" = ");
      return std::string(trim(text.substr(head + 3)));
    }
    return "no definition `" + std::string(name) + "`";
  }

  std::string body(std::string_view rest) {
    size_t mark = rest.find(": ");
    return expect(body_text(rest.substr(0, mark)), std::string(rest.substr(mark + 2)));
  }

  std::string same(std::string_view rest) {
    auto names = split(rest, ' ');
    std::string first = body_text(names[0]);
    for (std::string_view name : names) {
      if (body_text(name) != first) return expect(body_text(name), first);
    }
    return "";
  }

  // `NAME :: TYPE`, with NAME as the entry.
  std::string type(std::string_view rest) {
    size_t mark = rest.find(" :: ");
    std::string old = options_.main;
    options_.main = std::string(rest.substr(0, mark));
    Frontend f = front();
    options_.main = old;
    if (!f.ok()) return "  " + codes(f);
    const sema::Program& program = f.typed->flat.program;
    size_t index = program.by_name.at(program.main);
    return expect(f.session->types.show(f.typed->definitions[index].return_type),
                  std::string(rest.substr(mark + 4)));
  }

  // Lines `.. ` hold the whole definition NAME as it is after a stage.
  std::string definition_at(Stage stage, const Check& c) {
    Frontend f = front(stage);
    if (!f.ok()) return "  " + codes(f);
    const sema::Program* program = nullptr;
    if (stage == Stage::Resolve) program = &f.closed->program;
    if (stage == Stage::Materialize) program = &f.materialized->closed.program;
    if (stage == Stage::Normalize) program = &f.normalized->program;
    if (stage == Stage::Elaborate) program = &f.elaborated->program;
    if (stage == Stage::Flatten) program = &f.flat->program;
    if (!program) return "  no such stage here";
    auto found = program->by_name.find(f.session->names.find(c.rest));
    if (found == program->by_name.end()) return "  no such definition";
    std::string text = syntax::render_definition(program->definitions[found->second],
                                                 f.session->ast, f.session->names);
    return text == c.block ? "" : "  got\n" + text + "  wanted\n" + c.block;
  }

  // Lines that the text of the graph must hold, in this order.
  std::string graph_lines(const Check& c) {
    Frontend f = front();
    if (!f.ok()) return "  " + codes(f);
    std::string text = graph::write_graph(*f.graph, f.session->types);
    size_t at = 0;
    for (std::string_view line : split(c.block, '\n')) {
      if (line.empty()) continue;
      size_t found = text.find(line, at);
      if (found == text.npos) return "  no line `" + std::string(line) + "` in\n" + text;
      at = found + line.size();
    }
    return "";
  }

  // `x=VALUE; n=VALUE => name=VALUE; …`, or `=> RUN-CODE`.
  std::string evaluate(std::string_view rest) {
    size_t mark = rest.find("=>");
    std::string got = outcome(trim(rest.substr(0, mark)));
    std::string wanted(trim(rest.substr(mark + 2)));
    return expect(wanted.find('=') == wanted.npos ? got.substr(0, got.find(' ')) : got, wanted);
  }

  std::string outcome(std::string_view inputs) {
    Frontend f = front();
    if (!f.ok()) return codes(f);
    graph::NamedValues values;
    for (std::string_view item : split(inputs, ';')) {
      size_t equals = item.find('=');
      if (equals == item.npos) continue;
      values.emplace_back(trim(item.substr(0, equals)), read_value(trim(item.substr(equals + 1))));
    }
    graph::EvalOptions options;
    options.params = &params_;
    if (has_config_) options.config = &config_;
    params_.seen.clear();
    auto out = graph::evaluate(*f.graph, f.session->types, values, options);
    if (!out) return out.error().code + " " + out.error().message;
    std::string shown;
    for (const auto& [name, value] : *out)
      shown += (shown.empty() ? "" : "; ") + name + "=" + show_value(value);
    return shown;
  }

  // `N => CODES` of a definition whose body nests so many parentheses, or chains so many sums.
  std::string sized(const Check& c) {
    size_t mark = c.rest.find(" =>");
    auto count = static_cast<size_t>(parse_int(c.rest.substr(0, mark)).value_or(0));
    std::string body = "x";
    if (c.word == "nest") {
      body = std::string(count, '(') + "x" + std::string(count, ')');
    } else {
      for (size_t i = 0; i < count; ++i) body += " + x";
    }
    std::string text = std::exchange(options_.text, "v :: Int -> Int\nv x = " + body + "\n");
    Frontend f = front();
    options_.text = text;
    return expect(codes(f), std::string(trim(c.rest.substr(mark + 3))));
  }

  // Which library a program gets that leaves the choice open.
  std::string automatic(const std::string& wanted) {
    options_.auto_overlay = true;
    Frontend f = front();
    options_.auto_overlay = false;
    if (!f.ok()) return "  " + codes(f);
    return expect(f.overlays.empty() ? "base" : f.overlays[0], wanted);
  }

  std::string zoo(const std::string& name) {
    auto program = find_zoo_program(name);
    if (!program) return "  no such program";
    options_.text = std::string(program->text);
    return "";
  }

  // Keys that the last run read, in order, each once.
  std::string reads(const std::string& wanted) {
    std::string got;
    std::set<std::string> once;
    for (const std::string& key : params_.seen) {
      if (once.insert(key).second) got += (got.empty() ? "" : ", ") + key;
    }
    return expect(got, wanted);
  }

  const Case& input_;
  MemoryLibrary library_;
  FrontendOptions options_;
  model::ConfigValue config_;
  bool has_config_ = false;
  SeenParams params_;
  std::string failures_;
};

}  // namespace

std::string run_case(const Case& input) { return Runner(input).run(); }

}  // namespace axon::driver::testing
