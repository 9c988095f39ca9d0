// The command line as plain data: one struct per verb, filled by parse_options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace axon::cli {

// Options of every verb.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  int verbose = 0;
  std::string color = "auto";  // auto, always, never
};

// How a model is opened, compiled and run (design.md 7).
struct ModelOptions {
  std::string model;    // directory, .gguf, .safetensors, hub id
  std::string program;  // .axon file, empty: by architecture
  std::vector<std::string> overlays;
  std::string main;           // entry definition, empty: the program's
  std::string math = "auto";  // exact, auto, fast
  std::string kv_dtype;       // empty: by preset
  std::string activations;    // empty: by preset
  std::string quantize;
  std::string isa;  // empty: the best that the machine has
  int threads = 0;  // 0: physical cores allowed
  int chunk = 512;
  bool no_mmap = false;
  bool deterministic = false;
  int optimize = 1;
  std::vector<std::string> skip_pass;
  std::string stop_after_pass, dump_after;
};

struct SamplingOptions {
  std::optional<double> temperature;
  std::optional<int64_t> top_k;
  std::optional<double> top_p;
  std::optional<double> min_p;
  double repeat_penalty = 1.0;
  double presence_penalty = 0.0;
  double frequency_penalty = 0.0;
  uint64_t seed = 0;
  bool seed_given = false;
};

struct RunOptions {
  std::string prompt;  // -p; `-` reads standard input
  bool prompt_given = false;
  int prompts = 0;          // how many times -p or the positional argument stood
  std::string prompt_file;  // -f
  std::string prompt_ids;   // --prompt-ids 5,17,3; rows of one batch are separated by `;`
  std::string eos_ids;      // --eos-ids, in place of the model's
  std::string system;
  std::string batch_file;  // --batch FILE.jsonl
  std::string output;      // -o
  std::string chat_template_file;
  std::vector<std::string> stop;
  int64_t max_new_tokens = 512;
  int64_t context = 0;  // 0: by default rule
  int logprobs = 0;
  bool raw = false;
  bool ignore_eos = false;
  bool echo = false;
  bool stats = false;
  bool show_special = false;
  bool jsonl = false;
};

struct ChatOptions {
  std::string system;
  std::string chat_template_file;
  std::string overflow = "stop";  // stop, drop-oldest
  int64_t context = 0;
  int64_t max_new_tokens = 0;  // 0: until an end token or the context limit
  bool greedy = false;
  bool show_special = false;
};

struct EmbedOptions {
  std::vector<std::string> texts;
  std::string file;
  std::string pool;  // mean, cls, last, none; empty: by the model's files
  std::optional<bool> normalize;
  std::string output;  // .npy or .safetensors
};

struct ScoreOptions {
  std::string file;
  std::string ids;  // --prompt-ids
  int64_t context = 0;
};

struct TokenizeOptions {
  std::string text;
  bool text_given = false;
  std::string file;
  std::string decode;  // ids to decode
  std::string chat;    // file with a conversation
  std::string chat_template_file;
  bool ids = false;
  bool no_special = false;
  bool show_special = false;
};

struct ForwardOptions {
  std::string inputs;
  std::string output;
  bool trace = false;
};

struct CheckOptions {
  std::string target;  // FILE or DIR
  std::string checkpoint;
  std::string from_stage;
  bool strict = false;
};

struct DumpOptions {
  std::string file;
  std::string stage;
  std::string from_stage;
  std::string checkpoint;
  std::string format = "text";
  std::string output;
  int optimize = 0;  // of the stage `final`; other verbs have 1
};

struct FmtOptions {
  std::vector<std::string> files;  // `-` is standard input
  bool check = false;
};

struct CompileOptions {
  std::string file;        // program, or checkpoint directory
  std::string checkpoint;  // beside a program
  std::string target;      // jax, torch, torch:rope
  std::string output;
  bool force = false;
  bool scan_layers = false;
};

struct VerifyOptions {
  std::string model;                           // checkpoint directory
  std::string tiny;                            // FAMILY or FAMILY-VARIANT in place of a checkpoint
  std::string keep;                            // folder for the tiny checkpoints
  std::vector<std::string> targets{"native"};  // native, torch, jax
  std::string python;                          // interpreter that has Transformers
  std::string prompt;                          // -p
  std::string prompt_ids;
  int64_t tokens = 32;
  bool trace = false;
  bool float64 = false;  // of the oracle
};

struct BenchOptions {
  std::vector<int64_t> prompt{512};
  std::vector<int64_t> generate{128};
  std::vector<int64_t> depth{0};
  std::vector<int64_t> batch{1};
  std::vector<int64_t> threads;
  int repeats = 5;
  bool compile = false;
  bool quality = false;
  bool roofline = false;
};

enum class Verb : uint8_t {
  Run,
  Chat,
  Embed,
  Score,
  Tokenize,
  Forward,
  Check,
  Dump,
  Fmt,
  Compile,
  Explain,
  Inspect,
  Zoo,
  List,
  Bench,
  Verify,
  Version,
  Completion,
  Man,
  None
};

struct Options {
  Verb verb = Verb::None;
  CommonOptions common;
  ModelOptions model;
  SamplingOptions sampling;
  RunOptions run;
  ChatOptions chat;
  EmbedOptions embed;
  ScoreOptions score;
  TokenizeOptions tokenize;
  ForwardOptions forward;
  CheckOptions check;
  DumpOptions dump;
  FmtOptions fmt;
  CompileOptions compile;
  BenchOptions bench;
  VerifyOptions verify;
  std::string explain_code;
  std::string shell;  // completion bash|zsh|fish
};

// Fills `options`. Returns nothing when the command should go on, else the exit status: 0 after
// `--help` or `--version` (printed), 2 after a usage error (reported).
std::optional<int> parse_options(int argc, char** argv, Options& options);

}  // namespace axon::cli
