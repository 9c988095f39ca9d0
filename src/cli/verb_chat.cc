// `axon chat`: a conversation; the history is kept as ids and only the new turn is run.
#include <fmt/core.h>
#include <histedit.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/generate.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "runtime/text/stream_decoder.h"
#include "support/file.h"
#include "support/text.h"

namespace axon::cli {
namespace {

constexpr int64_t kDefaultContext = 4096;

// Lines with editing on a terminal, plain ones otherwise.
class LineReader {
 public:
  LineReader() {
    if (!::isatty(STDIN_FILENO) || !::isatty(STDOUT_FILENO)) return;
    editor_ = el_init("axon", stdin, stdout, stderr);
    history_ = history_init();
    HistEvent event;
    history(history_, &event, H_SETSIZE, 500);
    el_set(
        editor_, EL_PROMPT, +[](EditLine*) { return const_cast<char*>("> "); });
    el_set(editor_, EL_EDITOR, "emacs");
    el_set(editor_, EL_HIST, history, history_);
    el_set(editor_, EL_SIGNAL, 0);
  }
  ~LineReader() {
    if (!editor_) return;
    history_end(history_);
    el_end(editor_);
  }
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // False at the end of the input.
  bool read(std::string& line) {
    line.clear();
    if (!editor_) return read_plain(line);
    int count = 0;
    const char* text = el_gets(editor_, &count);
    if (!text || count <= 0) return false;
    line.assign(text, static_cast<size_t>(count));
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    HistEvent event;
    if (!line.empty()) history(history_, &event, H_ENTER, line.c_str());
    return true;
  }

 private:
  static bool read_plain(std::string& line) {
    for (int c = std::getchar(); c != EOF; c = std::getchar()) {
      if (c == '\n') return true;
      line += static_cast<char>(c);
    }
    return !line.empty();
  }
  EditLine* editor_ = nullptr;
  History* history_ = nullptr;
};

class Chat {
 public:
  Chat(const Options& options, LoadedModel& loaded)
      : options_(options), loaded_(loaded), system_(options.chat.system) {}

  Result<void> start() {
    AXON_TRY(source_, chat_template(loaded_, options_.chat.chat_template_file));
    if (source_.empty())
      return no_template("give one with --chat-template FILE, or use `axon run --raw`");
    const formats::Checkpoint& checkpoint = *loaded_.compiled.checkpoint;
    AXON_TRY(generate_.sampling, sampling_of(options_.sampling, checkpoint, !options_.chat.greedy));
    if (options_.chat.greedy) generate_.sampling.sample = false;
    generate_.eos = checkpoint.generation.eos_ids;
    int64_t limit = model_limit(checkpoint);
    int64_t capacity = options_.chat.context > 0 ? options_.chat.context
                       : limit > 0               ? std::min(limit, kDefaultContext)
                                                 : kDefaultContext;
    if (limit > 0 && capacity > limit) {
      return Error{"USE-CONTEXT",
                   fmt::format("`--ctx {}` is more than the model's {} positions", capacity, limit),
                   {},
                   -1,
                   {}};
    }
    AXON_TRY(session_,
             runtime::Session::create(*loaded_.model, {1, capacity, options_.model.chunk}));
    reset();
    return {};
  }

  void announce() const {
    const runtime::SamplingOptions& s = generate_.sampling;
    std::string how = s.sample ? fmt::format("temperature {}, top-p {}, top-k {}", s.temperature,
                                             s.top_p, s.top_k)
                               : "greedy";
    note(fmt::format("axon: {} with {}; {}; context {}; /help for commands\n", options_.model.model,
                     loaded_.compiled.program_name, how, session_->capacity()));
  }

  // Commands begin with `/`. False ends the conversation.
  bool command(const std::string& line) {
    size_t blank = line.find(' ');
    std::string word = line.substr(0, blank);
    std::string rest = blank == line.npos ? "" : std::string(trim(line.substr(blank)));
    if (word == "/quit" || word == "/exit") return false;
    if (word == "/reset") {
      reset();
      note("axon: forgotten\n");
    } else if (word == "/system") {
      system_ = rest;
      reset();
      note("axon: new system message; the conversation starts anew\n");
    } else if (word == "/stats") {
      note(fmt::format("axon: {} of {} positions, {} tokens run, {} new tokens in {:.2f} s\n",
                       session_->length(), session_->capacity(), session_->tokens_run(),
                       new_tokens_, decode_s_));
    } else if (word == "/save" || word == "/load") {
      auto done = rest.empty()
                      ? Result<void>(Error{"USE-VALUE", word + " needs a file", {}, -1, {}})
                  : word == "/save" ? save(rest)
                                    : load(rest);
      if (!done) report_error(done.error(), {});
    } else {
      if (word != "/help") note("axon: `" + word + "` is no command\n");
      note(
          "axon: /reset forgets, /system TEXT starts anew with a system message, /save FILE and "
          "/load FILE keep the\n"
          "conversation, /stats counts, /quit leaves\n");
    }
    return true;
  }

  // One turn. Errors end the turn, not the conversation.
  Result<void> turn(const std::string& line) {
    std::vector<text::ChatMessage> next = messages_;
    next.push_back({"user", line, {}});
    AXON_TRY(std::vector<int64_t> ids, chat_ids(loaded_, source_, next, true));
    AXON_TRY_VOID(make_room(ids, next));
    size_t shared = common_prefix(ids);
    if (shared < held_.size()) {
      AXON_TRY_VOID(session_->truncate(static_cast<int64_t>(shared)));
      held_.resize(shared);
    }
    std::vector<int64_t> fresh(ids.begin() + static_cast<ptrdiff_t>(shared), ids.end());
    AXON_TRY_VOID(answer(fresh, next));
    messages_ = std::move(next);
    return {};
  }

 private:
  void reset() {
    session_->reset();
    held_.clear();
    messages_.clear();
    if (!system_.empty()) messages_.push_back({"system", system_, {}});
  }

  // At least one token is always run, so that there are logits.
  size_t common_prefix(const std::vector<int64_t>& ids) const {
    size_t n = 0;
    while (n < held_.size() && n + 1 < ids.size() && held_[n] == ids[n]) ++n;
    return n;
  }

  // Drops the oldest turns, or says that the context is full.
  Result<void> make_room(std::vector<int64_t>& ids, std::vector<text::ChatMessage>& next) {
    while (static_cast<int64_t>(ids.size()) >= session_->capacity()) {
      size_t first = !next.empty() && next[0].role == "system" ? 1 : 0;
      if (options_.chat.overflow != "drop-oldest" || next.size() < first + 3) {
        return Error{"USE-CONTEXT",
                     fmt::format("the conversation has {} tokens, the context {} positions",
                                 ids.size(), session_->capacity()),
                     {},
                     -1,
                     "/reset, or start with --overflow drop-oldest or a larger --ctx"};
      }
      next.erase(next.begin() + static_cast<ptrdiff_t>(first),
                 next.begin() + static_cast<ptrdiff_t>(first) + 2);
      AXON_TRY(ids, chat_ids(loaded_, source_, next, true));
    }
    return {};
  }

  Result<void> answer(const std::vector<int64_t>& fresh, std::vector<text::ChatMessage>& next) {
    text::StreamDecoder decoder(
        *loaded_.tokenizer,
        {{}, options_.chat.show_special ? text::ShowSpecial::Yes : text::ShowSpecial::No, 4096});
    std::string text;
    int64_t room = session_->capacity() - session_->length() - static_cast<int64_t>(fresh.size());
    runtime::GenerateOptions generate = generate_;
    generate.max_tokens =
        options_.chat.max_new_tokens > 0 ? std::min(options_.chat.max_new_tokens, room) : room;
    generate.sampling.seed += turns_++;
    auto emit = [&](std::string_view piece) {
      text += piece;
      return piece.empty() || put(piece);
    };
    auto on_token = [&](const runtime::TokenEvent& event) {
      return emit(decoder.push(static_cast<int32_t>(event.choice.id)));
    };
    runtime::GenerateTimes times;
    AXON_TRY(auto rows,
             runtime::generate(*session_, {fresh}, generate, on_token, interrupt_flag(), &times));
    emit(decoder.finish());
    put("\n");
    held_.insert(held_.end(), fresh.begin(), fresh.end());
    // The last token is in the answer and not yet in the session.
    size_t fed = static_cast<size_t>(session_->length()) - held_.size();
    held_.insert(held_.end(), rows[0].ids.begin(),
                 rows[0].ids.begin() + static_cast<ptrdiff_t>(std::min(fed, rows[0].ids.size())));
    if (static_cast<size_t>(session_->length()) > held_.size())
      AXON_TRY_VOID(session_->truncate(static_cast<int64_t>(held_.size())));
    if (session_->length() >= session_->capacity())
      note("axon: the context is full; /reset starts anew\n");
    new_tokens_ += times.generated_tokens;
    decode_s_ += times.decode_seconds;
    next.push_back({"assistant", text, {}});
    return {};
  }

  Result<void> save(const std::string& path) {
    return write_file(path, conversation_json(messages_));
  }
  Result<void> load(const std::string& path) {
    AXON_TRY(std::string text, read_file(path));
    AXON_TRY(auto messages, read_conversation(text));
    session_->reset();
    held_.clear();
    messages_ = std::move(messages);
    note(fmt::format("axon: {} messages\n", messages_.size()));
    return {};
  }

  const Options& options_;
  LoadedModel& loaded_;
  std::string source_, system_;
  std::unique_ptr<runtime::Session> session_;
  runtime::GenerateOptions generate_;
  std::vector<text::ChatMessage> messages_;
  std::vector<int64_t> held_;  // ids in the session
  uint64_t turns_ = 0;
  int64_t new_tokens_ = 0;
  double decode_s_ = 0;
};

}  // namespace

int verb_chat(const Options& options) {
  LoadedModel loaded;
  if (auto status = load(options, {Tokenizing::Yes, true, false, false}, loaded)) return *status;
  Chat chat(options, loaded);
  auto started = chat.start();
  if (!started) return report_error(started.error(), options.common);
  if (!options.common.quiet) chat.announce();
  LineReader reader;
  std::string line;
  while (reader.read(line)) {
    if (line.empty()) continue;
    if (line[0] == '/') {
      if (!chat.command(line)) break;
      continue;
    }
    size_t bad = find_invalid_utf8(line);
    auto done = bad == line.npos
                    ? chat.turn(line)
                    : Result<void>(Error{
                          "USE-UTF8", "the line is not UTF-8", {}, static_cast<int64_t>(bad), {}});
    if (!done) report_error(done.error(), options.common);
    if (interrupt_status() == 143) return 143;
    clear_interrupt();  // it stopped the answer
    if (output_error() != 0) return 0;
  }
  return interrupt_status();
}

}  // namespace axon::cli
