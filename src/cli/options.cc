// Fills Options from the command line; the only file that includes CLI11.
#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "cli/output.h"
#include "cli/report.h"
#include "cli/verb_table.h"
#include "cli/version.h"
#include "driver/library.h"
#include "support/text.h"

namespace axon::cli {
namespace {

void add_common(CLI::App& app, CommonOptions& o) {
  app.add_flag("--json", o.json, "machine-readable output");
  app.add_flag("-q,--quiet", o.quiet, "no progress, no notes");
  // Summed by hand: newer releases of CLI11 set a counter to 0 for each parser that did not see it.
  app.add_flag_function(
      "-v,--verbose", [&o](int64_t times) { o.verbose += static_cast<int>(times); },
      "more of what happens");
  app.add_option("--color", o.color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

void add_program(CLI::App& app, ModelOptions& o) {
  app.add_option("--program", o.program, "program file (.axon) instead of the one that fits");
  app.add_option("--overlay", o.overlays, "library overlay, repeatable");
  app.add_option("--main", o.main, "entry definition");
}

void add_passes(CLI::App& app, ModelOptions& o, int& optimize) {
  app.add_option("--optimize", optimize, "0 switches folding and fusion off")
      ->check(CLI::Range(0, 1));
  app.add_option("--skip-pass", o.skip_pass, "pass to leave out, repeatable");
  app.add_option("--stop-after-pass", o.stop_after_pass, "last pass to run, once");
  app.add_option("--dump-after", o.dump_after, "print the graph after each change of this pass");
}

void add_model(CLI::App& app, ModelOptions& o) {
  app.add_option("model", o.model, "directory, .gguf, .safetensors or hub id")->required();
  add_program(app, o);
  app.add_option("--math", o.math, "numeric preset: exact, auto or fast")
      ->check(CLI::IsMember({"exact", "auto", "fast"}));
  app.add_option("--kv-dtype", o.kv_dtype, "element type of key/value stores: f32 or f16")
      ->check(CLI::IsMember({"f32", "f16"}));
  app.add_option("--activations", o.activations, "activations of products: f32 or int8")
      ->check(CLI::IsMember({"f32", "int8"}));
  app.add_option("-t,--threads", o.threads, "threads (default: physical cores)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--chunk", o.chunk, "rows of one prefill step")->check(CLI::Range(1, 1 << 20));
  app.add_option("--isa", o.isa, "instruction set: ref, avx2, avx512, …");
  app.add_flag("--no-mmap", o.no_mmap, "read weights into memory");
  app.add_flag("--deterministic", o.deterministic, "results do not depend on the thread count");
  add_passes(app, o, o.optimize);
}

void add_sampling(CLI::App& app, SamplingOptions& o) {
  app.add_option("--temp,--temperature", o.temperature, "sampling temperature");
  app.add_option("--top-k,--top_k", o.top_k, "keep the k likeliest tokens");
  app.add_option("--top-p,--top_p", o.top_p, "keep the likeliest tokens up to this mass");
  app.add_option("--min-p,--min_p", o.min_p, "drop tokens below this share of the likeliest");
  app.add_option("--repeat-penalty,--repetition-penalty,--repetition_penalty", o.repeat_penalty,
                 "divide the logits of tokens seen before");
  app.add_option("--presence-penalty", o.presence_penalty,
                 "subtract once for tokens generated before");
  app.add_option("--frequency-penalty", o.frequency_penalty, "subtract per earlier occurrence");
  app.add_option("-s,--seed", o.seed, "seed of sampling")->each([&o](const std::string&) {
    o.seed_given = true;
  });
}

void add_run(CLI::App& app, Options& o) {
  add_model(app, o.model);
  auto given = [&o](const std::string&) {
    o.run.prompt_given = true;
    ++o.run.prompts;
  };
  app.add_option("-p,--prompt", o.run.prompt, "prompt; `-` reads standard input")->each(given);
  app.add_option("text", o.run.prompt, "prompt")->each(given);
  app.add_option("-f,--file", o.run.prompt_file, "file with the prompt");
  app.add_option("--prompt-ids", o.run.prompt_ids,
                 "prompt as token ids: 5,17,3; several, separated by `;`, are one batch");
  app.add_option("--system", o.run.system, "system message of the chat template");
  app.add_option("-n,--max-new-tokens,--max_new_tokens,--n-predict,--predict", o.run.max_new_tokens,
                 "most tokens to generate");
  app.add_option("-c,--ctx,--ctx-size", o.run.context, "positions to make room for");
  app.add_option("--stop,-r,--reverse-prompt", o.run.stop, "text that ends the answer");
  app.add_option("--chat-template,--chat-template-file", o.run.chat_template_file, "template file");
  app.add_option("--logprobs", o.run.logprobs, "log-probabilities of the K likeliest tokens")
      ->check(CLI::Range(0, 1000));
  app.add_option("--batch", o.run.batch_file, "prompts, one JSON object a line");
  app.add_option("-o,--output", o.run.output, "results of --batch");
  app.add_flag("--raw,--no-chat-template", o.run.raw, "no chat template");
  app.add_flag("--ignore-eos", o.run.ignore_eos, "go on after an end token");
  app.add_option("--eos-ids", o.run.eos_ids, "end tokens in place of the model's: 2,7");
  app.add_flag("--echo", o.run.echo, "print the prompt too");
  app.add_flag("--stats", o.run.stats, "times and counts on standard error");
  app.add_flag("--show-special", o.run.show_special, "print special tokens");
  app.add_flag("--jsonl", o.run.jsonl, "one JSON object a token");
  add_sampling(app, o.sampling);
}

void add_chat(CLI::App& app, Options& o) {
  add_model(app, o.model);
  app.add_option("--system", o.chat.system, "system message");
  app.add_option("--chat-template,--chat-template-file", o.chat.chat_template_file,
                 "template file");
  app.add_option("-n,--max-new-tokens", o.chat.max_new_tokens, "most tokens of an answer");
  app.add_option("-c,--ctx", o.chat.context, "positions to make room for");
  app.add_option("--overflow", o.chat.overflow, "at the context limit: stop or drop-oldest")
      ->check(CLI::IsMember({"stop", "drop-oldest"}));
  app.add_flag("--greedy", o.chat.greedy, "always the likeliest token");
  app.add_flag("--show-special", o.chat.show_special, "print special tokens");
  add_sampling(app, o.sampling);
}

void add_embed(CLI::App& app, Options& o) {
  add_model(app, o.model);
  app.add_option("text", o.embed.texts, "texts");
  app.add_option("-f,--file", o.embed.file, "file with one text a line");
  app.add_option("--pool", o.embed.pool, "mean, cls, last or none")
      ->check(CLI::IsMember({"mean", "cls", "last", "none"}));
  auto unit = [&o](int64_t count) { o.embed.normalize = count > 0; };  // nothing when not given
  app.add_flag_function("--normalize,!--no-normalize", unit, "unit length");
  app.add_option("-o,--output", o.embed.output, "out.npy or out.safetensors");
}

void add_verify(CLI::App& app, Options& o) {
  app.add_option("model", o.verify.model, "checkpoint directory");
  app.add_option("--target", o.verify.targets, "what to compare: native, torch, jax")
      ->delimiter(',');
  app.add_option("--tiny", o.verify.tiny,
                 "random checkpoints of this FAMILY, or of FAMILY-VARIANT, in place of a model");
  app.add_option("--keep", o.verify.keep, "folder in which the checkpoints of --tiny stay");
  app.add_option("--python", o.verify.python,
                 "interpreter that has Transformers (default: $AXON_PYTHON, else python3)");
  app.add_option("-p,--prompt", o.verify.prompt, "text in place of random tokens");
  app.add_option("--prompt-ids", o.verify.prompt_ids,
                 "token ids in place of random ones: 5,17,3; prompts are separated by `;`");
  app.add_option("-n,--max-new-tokens", o.verify.tokens, "greedy tokens to compare")
      ->check(CLI::Range(1, 4096));
  app.add_flag("--trace", o.verify.trace, "the first value that differs, with its line");
  app.add_flag("--float64", o.verify.float64,
               "Transformers in float64, so that rounding is that of the targets alone");
  add_program(app, o.model);
}

void add_compile_verbs(CLI::App& app, Options& o) {
  auto verb = [&](const char* name, const char* text, Verb value) {
    CLI::App* sub = app.add_subcommand(name, text);
    sub->callback([&o, value] { o.verb = value; });
    add_common(*sub, o.common);
    sub->set_version_flag("--version", version_text());
    return sub;
  };
  CLI::App* check =
      verb("check", "diagnose a program, or a program against a checkpoint", Verb::Check);
  check->add_option("target", o.check.target, "program file or checkpoint directory")->required();
  check->add_option("--checkpoint", o.check.checkpoint, "checkpoint to check against");
  check->add_option("--from-stage", o.check.from_stage, "what the file is the dump of");
  check->add_flag("--strict", o.check.strict, "warnings count as errors");
  add_program(*check, o.model);
  CLI::App* dump = verb("dump", "print a stage of the compiler as text", Verb::Dump);
  dump->add_option("file", o.dump.file, "program file, or the name of a zoo program")->required();
  dump->add_option("--stage", o.dump.stage, "stage")->required();
  dump->add_option("--from-stage", o.dump.from_stage, "what the file is the dump of");
  dump->add_option("--checkpoint", o.dump.checkpoint, "checkpoint to compile for");
  dump->add_option("--format", o.dump.format, "text, or dot for the stages that are graphs")
      ->check(CLI::IsMember({"text", "dot"}));
  dump->add_option("-o,--output", o.dump.output, "file");
  add_passes(*dump, o.model, o.dump.optimize);
  add_program(*dump, o.model);
  CLI::App* fmt = verb("fmt", "lay out program files", Verb::Fmt);
  fmt->add_option("file", o.fmt.files, "program files; `-` reads standard input, writes the result")
      ->required();
  fmt->add_flag("--check", o.fmt.check, "write nothing; list the files whose layout differs");
  CLI::App* compile = verb("compile", "write a standalone module for a framework", Verb::Compile);
  compile->add_option("file", o.compile.file, "checkpoint, program file or zoo program")
      ->required();
  compile->add_option("--checkpoint", o.compile.checkpoint, "checkpoint to compile for");
  compile
      ->add_option("--target", o.compile.target,
                   "framework: jax, torch; `torch:rope,attention` uses only these fused operations")
      ->required();
  compile->add_option("-o,--output", o.compile.output, "file to write")->required();
  compile->add_flag("--force", o.compile.force, "write over a file that is there");
  compile->add_flag("--scan-layers", o.compile.scan_layers,
                    "jax: layers are stacked and run by one scan");
  add_passes(*compile, o.model, o.model.optimize);
  add_program(*compile, o.model);
  CLI::App* explain = verb("explain", "what a diagnostic means", Verb::Explain);
  explain->add_option("code", o.explain_code, "diagnostic code")->required();
  CLI::App* completion = verb("completion", "shell completion script", Verb::Completion);
  completion->add_option("shell", o.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb("man", "manual page: axon man | man -l -", Verb::Man);
  verb("zoo", "programs that come with axon", Verb::Zoo);
  verb("list", "checkpoints found on this machine", Verb::List);
}

void add_model_verbs(CLI::App& app, Options& o) {
  auto verb = [&](const char* name, const char* text, Verb value) {
    CLI::App* sub = app.add_subcommand(name, text);
    sub->callback([&o, value] { o.verb = value; });
    add_common(*sub, o.common);
    sub->set_version_flag("--version", version_text());
    return sub;
  };
  add_run(*verb("run", "generate text", Verb::Run), o);
  add_chat(*verb("chat", "talk with a model", Verb::Chat), o);
  add_embed(*verb("embed", "embeddings of texts", Verb::Embed), o);
  CLI::App* score = verb("score", "log-likelihood of a text", Verb::Score);
  add_model(*score, o.model);
  score->add_option("-f,--file", o.score.file, "text file");
  score->add_option("--prompt-ids", o.score.ids, "token ids: 5,17,3");
  score->add_option("-c,--ctx", o.score.context, "positions of one window");
  CLI::App* tokenize = verb("tokenize", "text to token ids and back", Verb::Tokenize);
  add_model(*tokenize, o.model);
  tokenize->add_option("text", o.tokenize.text, "text")->each([&o](const std::string&) {
    o.tokenize.text_given = true;
  });
  tokenize->add_option("-f,--file", o.tokenize.file, "text file");
  tokenize->add_option("--chat", o.tokenize.chat,
                       "JSON file: a list of messages, or an object with `messages`, `tools` and "
                       "what else the chat template reads; `-` reads standard input");
  tokenize->add_option("--chat-template,--chat-template-file", o.tokenize.chat_template_file,
                       "template file");
  tokenize->add_option("--decode", o.tokenize.decode, "ids to turn into text: 1,2,3");
  tokenize->add_flag("--ids", o.tokenize.ids, "print ids only");
  tokenize->add_flag("--no-special", o.tokenize.no_special, "add no special tokens");
  tokenize->add_flag("--show-special", o.tokenize.show_special, "print special tokens");
  CLI::App* forward = verb("forward", "one call of the main definition", Verb::Forward);
  add_model(*forward, o.model);
  forward->add_option("--inputs", o.forward.inputs, "safetensors file with the inputs")->required();
  forward->add_option("-o,--output", o.forward.output, "safetensors file for the outputs")
      ->required();
  forward->add_flag("--trace", o.forward.trace,
                    "further outputs: the values at parameter paths, with their lines");
  CLI::App* inspect = verb("inspect", "what a checkpoint holds", Verb::Inspect);
  add_model(*inspect, o.model);
  CLI::App* bench = verb("bench", "speed, memory, start-up", Verb::Bench);
  add_model(*bench, o.model);
  bench->remove_option(bench->get_option("--threads"));
  bench->add_option("-p,--prompt", o.bench.prompt, "prompt lengths")->delimiter(',');
  bench->add_option("-n,--generate", o.bench.generate, "tokens to generate")->delimiter(',');
  bench->add_option("-d,--depth", o.bench.depth, "positions already filled")->delimiter(',');
  bench->add_option("-b,--batch", o.bench.batch, "sequences at once")->delimiter(',');
  bench->add_option("-t,--threads", o.bench.threads, "threads")->delimiter(',');
  bench->add_option("-r,--repetitions", o.bench.repeats, "rounds")->check(CLI::Range(1, 1000));
  bench->add_flag("--compile", o.bench.compile, "compile stages");
  bench->add_flag("--quality", o.bench.quality, "what the numeric preset costs");
  bench->add_flag("--roofline", o.bench.roofline, "against the machine's limits");
  add_verify(*verb("verify", "compare with Transformers", Verb::Verify), o);
}

// The first argument that is neither an option nor the value of one that stands before the verb.
std::string first_word(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--color") ++i;
    if (!starts_with(word, "-")) return std::string(word);
  }
  return {};
}

// A usage error with the closest verb or option named.
int usage_error(const CLI::App& app, const std::string& text, int argc, char** argv,
                const Options& options) {
  std::string message = text;
  std::vector<std::string> candidates;
  const CLI::App* used = &app;
  for (const CLI::App* sub : app.get_subcommands()) used = sub;
  for (const CLI::Option* option : used->get_options()) {
    for (const std::string& name : option->get_lnames()) candidates.push_back("--" + name);
  }
  std::string near;
  for (int i = 1; i < argc && near.empty(); ++i) {
    std::string word = argv[i];
    if (starts_with(word, "--")) {
      word = word.substr(0, word.find('='));
      bool known = false;
      for (const std::string& name : candidates) known |= name == word;
      std::vector<std::string> close = closest(word, candidates, 1);
      if (!known && !close.empty()) near = close[0];
    }
  }
  if (used == &app) {
    std::string word = first_word(argc, argv);
    std::vector<std::string> verbs;
    for (const CLI::App* sub : app.get_subcommands({})) verbs.push_back(sub->get_name());
    std::vector<std::string> close = closest(word, verbs, 1);
    if (near.empty()) message = word.empty() ? "a verb is missing" : "unknown verb `" + word + "`";
    if (near.empty() && !close.empty()) near = close[0];
  }
  Error error{"USE-OPTION", message, {}, -1, {}};
  std::string help = used == &app ? "axon --help" : "axon " + used->get_name() + " --help";
  error.hint = near.empty() ? "see `" + help + "`" : "did you mean `" + near + "`?";
  return report_error(error, options.common);
}

// `base` is the library without any.
std::optional<int> check_overlays(const Options& options) {
  std::vector<std::string> known = driver::library_overlays();
  known.emplace_back("base");
  for (const std::string& name : options.model.overlays) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    Error error{"USE-VALUE",
                "the library has no overlay `" + name + "`",
                {},
                -1,
                "there are `" + join(known, "`, `") + "`"};
    return report_error(error, options.common);
  }
  return {};
}

constexpr const char* kPurpose =
    "Write a neural language model once; check, run and emit it everywhere.";

void add_all(CLI::App& app, Options& options) {
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default(false);
  app.set_version_flag("--version", version_text());
  app.set_help_all_flag("--help-all", "help of all verbs");
  add_common(app, options.common);
  add_model_verbs(app, options);
  add_compile_verbs(app, options);
}

OptionInfo describe(const CLI::Option& option) {
  OptionInfo out{{}, option.get_description(), {}, {}, option.get_required()};
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  out.positional = out.names.empty() ? option.get_single_name() : std::string();
  if (option.get_items_expected_max() == 0) return out;
  std::string type = option.get_type_name();  // TEXT, or TEXT:{a,b,c}
  out.value = type.substr(0, type.find_first_of(": "));
  size_t open = type.find('{'), close = type.find('}');
  if (open == type.npos || close == type.npos) return out;
  for (std::string_view choice :
       split(std::string_view(type).substr(open + 1, close - open - 1), ','))
    out.choices.emplace_back(choice);
  return out;
}

}  // namespace

std::vector<VerbInfo> verb_table() {
  Options options;
  CLI::App app(kPurpose, "axon");
  add_all(app, options);
  std::vector<VerbInfo> out;
  for (const CLI::App* sub : app.get_subcommands({})) {
    VerbInfo verb{sub->get_name(), sub->get_description(), {}};
    for (const CLI::Option* option : sub->get_options()) verb.options.push_back(describe(*option));
    out.push_back(std::move(verb));
  }
  return out;
}

std::optional<int> parse_options(int argc, char** argv, Options& options) {
  CLI::App app(kPurpose, "axon");
  add_all(app, options);
  for (int i = 1; i < argc; ++i) {  // a usage error must already know whether JSON is wanted
    std::string_view word = argv[i];
    if (word == "--json" || word == "--jsonl") options.common.json = true;
  }
  for (int i = 1; i < argc; ++i) {
    size_t bad = find_invalid_utf8(argv[i]);
    if (bad != std::string_view::npos) {
      Error error{"USE-UTF8",
                  "argument " + std::to_string(i) + " is not UTF-8",
                  {},
                  static_cast<int64_t>(bad),
                  {}};
      return report_error(error, options.common);
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    std::ostringstream out;
    int status = app.exit(done, out, out);
    put(out.str());
    return status;
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error.what(), argc, argv, options);
  }
  return check_overlays(options);
}

}  // namespace axon::cli
