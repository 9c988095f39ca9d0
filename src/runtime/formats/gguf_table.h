// How a GGUF architecture is read as a Hugging Face checkpoint: rows of
// zoo/formats/gguf/<arch>.toml.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/config_value.h"
#include "runtime/text/tokenizer_spec.h"
#include "support/result.h"

namespace axon::formats {

// What must be done to a stored tensor to give the one that Hugging Face names.
struct Transform {
  enum class Kind : uint8_t {
    None,
    PermuteRope,  // rows of each head are interleaved in the file, halves one after the other in
                  // Hugging Face
    Transpose,    // the file holds the matrix transposed
    AddOne,       // stored value + 1
    SubOne,       // stored value − 1
    GroupQkv      // all queries, keys and values one after the other in the file; in Hugging Face
                  // queries, key and value of one group after those of another
  } kind = Kind::None;
  int64_t heads = 0;   // PermuteRope, GroupQkv
  int64_t groups = 0;  // GroupQkv
};

// `blk.{i}.attn_q.{p}` → `model.layers.{i}.self_attn.q_proj.{p}`; a placeholder is one dotted part.
struct TensorRule {
  std::string stored;
  std::string published;
  Transform transform;
  std::string heads_key;   // PermuteRope, GroupQkv: the metadata key that counts the heads
  std::string groups_key;  // GroupQkv: the one that counts heads of keys
  std::string where;       // the rule is for files that have this tensor
};

// One config key and where its value comes from; the first source that has a value wins.
struct ConfigRule {
  std::string key;                                          // dotted
  std::vector<std::string> from;                            // metadata keys, first present
  std::vector<std::pair<std::string, std::string>> values;  // renamings of string values
  std::string rows_of;                                      // rows of this tensor
  std::string has, lacks;                  // Bool: whether the file has this tensor …
  std::optional<model::ConfigValue> then;  // … or this where it is so, and else `otherwise`
  std::vector<std::string> product, over;  // metadata keys: a quotient of products
  std::string when_key;                    // the rule is for files whose metadata has this key …
  int64_t when_is = 0;                     // … with this value
  std::string items_of;                    // a list of the numbers in this tensor
  std::string rope_factors;  // `rope_scaling` of kind llama3 from per-frequency factors
  std::optional<model::ConfigValue> otherwise;  // constant or default
  bool required = false;
};

struct GgufTable {
  std::string arch;
  std::vector<TensorRule> tensors;
  std::vector<ConfigRule> config;
};

// What a pre-tokenizer name in GGUF metadata stands for
// (zoo/formats/gguf/text/pre_tokenizers.toml).
struct GgufPreTokenizer {
  std::vector<text::NormalizerStep> normalizers;
  std::vector<text::PreTokenizerStep> steps;
  bool ignore_merges = false;
  bool add_bos = false;  // where the metadata does not say
};
// Errors: TOK-UNSUPPORTED.
Result<GgufPreTokenizer> find_gguf_pre_tokenizer(std::string_view name);

// The table of an architecture. Errors: FILE-MODEL when there is none, naming the closest.
Result<GgufTable> find_gguf_table(std::string_view arch);
// Names of all architectures that have a table, sorted.
std::vector<std::string> gguf_architectures();
// The published name of a stored tensor under a rule, if the rule fits.
std::optional<std::string> apply_name(const TensorRule& rule, std::string_view stored);

}  // namespace axon::formats
