// `axon tokenize`: text to token ids and back.
#include <fmt/core.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/verbs.h"

namespace axon::cli {
namespace {

Result<std::string> input_text(const TokenizeOptions& options) {
  if (!options.file.empty()) return read_given(options.file);
  if (options.text_given && options.text != "-") return options.text;
  return read_given("-");
}

// A conversation as the chat template writes it.
Result<std::string> conversation_text(const LoadedModel& loaded, const TokenizeOptions& options) {
  AXON_TRY(std::string bytes, read_given(options.chat));
  auto chat = read_chat(bytes);
  if (!chat) {
    chat.error().file = options.chat;
    return chat.error();
  }
  AXON_TRY(std::string source,
           chat_template(loaded, options.chat_template_file, !chat->tools_json.empty()));
  if (source.empty()) return no_template("give one with --chat-template FILE");
  return chat_text(loaded, source, std::move(*chat));
}

Result<std::string> answer(const LoadedModel& loaded, const Options& options) {
  const TokenizeOptions& o = options.tokenize;
  if (!o.decode.empty()) {
    AXON_TRY(std::vector<int64_t> ids, parse_ids(o.decode, "--decode"));
    AXON_TRY_VOID(check_ids(ids, loaded.tokenizer->end_id()));
    std::vector<int32_t> narrow(ids.begin(), ids.end());
    std::string text = loaded.tokenizer->decode(
        narrow, o.show_special ? text::ShowSpecial::Yes : text::ShowSpecial::No);
    return options.common.json ? ids_json(ids, text) + "\n" : text + "\n";
  }
  const bool is_chat = !o.chat.empty();  // templates write the special tokens themselves
  AXON_TRY(std::string text, is_chat ? conversation_text(loaded, o) : input_text(o));
  AXON_TRY(std::vector<int64_t> ids, text_ids(loaded, text, !is_chat && !o.no_special));
  if (options.common.json) return ids_json(ids, text) + "\n";
  std::string out;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (o.ids) {
      out += (i ? "," : "") + std::to_string(ids[i]);
    } else {
      out += fmt::format("{:>8} {}\n", ids[i],
                         loaded.tokenizer->token_of(static_cast<int32_t>(ids[i])).value_or(""));
    }
  }
  return o.ids ? out + "\n" : out;
}

}  // namespace

int verb_tokenize(const Options& options) {
  LoadedModel loaded;
  auto interruptible = std::make_unique<NothingToKeep>(options.common.json);
  formats::CheckpointOptions open;
  open.text_only = true;
  auto checkpoint = formats::open_checkpoint(options.model.model, open);
  if (!checkpoint) return report_error(checkpoint.error(), options.common);
  auto tokenizer = make_tokenizer(*checkpoint);
  if (!tokenizer) return report_error(tokenizer.error(), options.common);
  loaded.tokenizer = std::move(*tokenizer);
  loaded.compiled.checkpoint = std::move(*checkpoint);
  auto text = answer(loaded, options);
  if (!text) return report_error(text.error(), options.common);
  interruptible.reset();
  put(*text);
  return interrupt_status();
}

}  // namespace axon::cli
