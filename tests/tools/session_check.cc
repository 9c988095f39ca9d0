// Checks what sessions remember, on a real checkpoint: session_check PROGRAM MODEL LOGITS IDS.
//
// PROGRAM is a saved program (program_save), so that everything here runs without the compiler;
// IDS is a comma-separated prompt. The logits at its every position, from one call, are written to
// LOGITS as f32. Every other way through the program is compared with them or with fresh runs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "runtime/formats/checkpoint.h"
#include "runtime/gen/model.h"
#include "runtime/gen/session.h"
#include "support/file.h"
#include "support/text.h"

namespace {

using axon::Result;
using axon::runtime::Model;
using axon::runtime::SavedRow;
using axon::runtime::Session;
using axon::runtime::View;
using Ids = std::vector<int64_t>;
using Logits = std::vector<float>;

constexpr double kSame = 1e-4;  // two ways through the program
constexpr int64_t kSteps = 8;   // tokens run one by one after a prompt

double worst(const float* a, const float* b, int64_t count) {
  double most = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double gap = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(gap <= most)) most = gap;  // a NaN stays
  }
  return most;
}

Ids part(const Ids& ids, int64_t from, int64_t to) {
  return Ids(ids.begin() + from, ids.begin() + to);
}

class Checker {
 public:
  Checker(Model& model, Ids ids) : model_(model), ids_(std::move(ids)) {}

  Result<void> run(const char* logits_file) {
    AXON_TRY(whole_, every_logit(count(), {ids_}, nullptr));
    AXON_TRY_VOID(axon::write_file(logits_file, {reinterpret_cast<const char*>(whole_.data()),
                                                 whole_.size() * sizeof(float)}));
    AXON_TRY_VOID(chunks());
    AXON_TRY_VOID(turns());
    AXON_TRY_VOID(steps());
    AXON_TRY_VOID(uncached());
    AXON_TRY_VOID(capacities());
    AXON_TRY_VOID(padding("left", true));
    AXON_TRY_VOID(padding("right", false));
    AXON_TRY_VOID(truncate());
    AXON_TRY_VOID(fork());
    AXON_TRY_VOID(reorder());
    AXON_TRY_VOID(restore());
    std::printf("%d passed, %d failed\n", passed_, failed_);
    return {};
  }
  bool good() const { return failed_ == 0; }

 private:
  int64_t count() const { return static_cast<int64_t>(ids_.size()); }

  void report(const std::string& name, bool holds, const std::string& seen) {
    (holds ? passed_ : failed_)++;
    std::printf("%s %s: %s\n", holds ? "ok  " : "FAIL", name.c_str(), seen.c_str());
  }
  void near(const std::string& name, double gap, double tolerance = kSame) {
    char text[64];
    std::snprintf(text, sizeof text, "off by %.2g, tolerance %.2g", gap, tolerance);
    report(name, gap <= tolerance, text);
  }

  Result<std::unique_ptr<Session>> session(int64_t rows, int64_t capacity, int64_t chunk) {
    auto made = Session::create(model_, {rows, capacity, chunk});
    if (made) width_ = (*made)->vocabulary();
    return made;
  }

  // Logits at every position of rows of one length, [rows][length][width].
  Result<Logits> every_logit(int64_t chunk, const std::vector<Ids>& rows, const uint8_t* valid) {
    const auto length = static_cast<int64_t>(rows[0].size());
    AXON_TRY(auto run, session(static_cast<int64_t>(rows.size()), length, chunk));
    Ids flat;
    for (const Ids& row : rows) flat.insert(flat.end(), row.begin(), row.end());
    Logits out(flat.size() * static_cast<size_t>(width_));
    AXON_TRY_VOID(feed_into(*run, flat.data(), length, valid, out.data(), length));
    return out;
  }

  Result<void> feed_into(Session& run, const int64_t* ids, int64_t length, const uint8_t* valid,
                         float* out, int64_t stride) {
    auto each = [&](int64_t first, int64_t n, const View& view) {
      for (int64_t r = 0; r < run.rows(); ++r) {
        std::memcpy(out + (r * stride + first) * width_,
                    view.data + static_cast<size_t>(r * view.stride[0]) * sizeof(float),
                    static_cast<size_t>(n * width_) * sizeof(float));
      }
    };
    auto done = run.feed_all(ids, length, valid, each);
    if (!done) return done.error();
    return {};
  }

  Result<void> feed(Session& run, const Ids& ids, const uint8_t* valid = nullptr) {
    auto done = run.feed(ids.data(), static_cast<int64_t>(ids.size()) / run.rows(), valid);
    if (!done) return done.error();
    return {};
  }

  // Logits after a prompt and after each further token, each [width].
  Result<Logits> fresh(const Ids& prompt, const Ids& next) {
    AXON_TRY(auto run, session(1, static_cast<int64_t>(prompt.size() + next.size()), 512));
    AXON_TRY_VOID(feed(*run, prompt));
    Logits out(run->logits(0), run->logits(0) + width_);
    for (int64_t id : next) {
      AXON_TRY_VOID(feed(*run, {id}));
      out.insert(out.end(), run->logits(0), run->logits(0) + width_);
    }
    return out;
  }

  Result<void> chunks() {
    const int64_t chunk = std::min<int64_t>(64, (count() + 2) / 3);
    AXON_TRY(const Logits found, every_logit(chunk, {ids_}, nullptr));
    near("chunks of " + std::to_string(chunk), worst(found.data(), whole_.data(), size(found)));
    return {};
  }

  // Two turns; the second runs its own tokens alone.
  Result<void> turns() {
    const int64_t half = count() / 2;
    AXON_TRY(auto run, session(1, count(), count()));
    Logits found(whole_.size());
    AXON_TRY_VOID(feed_into(*run, ids_.data(), half, nullptr, found.data(), half));
    const auto before = static_cast<int64_t>(run->tokens_run());
    AXON_TRY_VOID(feed_into(*run, ids_.data() + half, count() - half, nullptr,
                            found.data() + half * width_, count() - half));
    const int64_t second = static_cast<int64_t>(run->tokens_run()) - before;
    const std::string name = std::to_string(half) + " + " + std::to_string(count() - half);
    near(name, worst(found.data(), whole_.data(), size(found)));
    report(name + ": tokens run", before == half && second == count() - half,
           std::to_string(before) + ", then " + std::to_string(second));
    return {};
  }

  // A prompt, then a token at a time.
  Result<void> steps() {
    const int64_t from = count() * 3 / 5, to = std::min(count(), from + 24);
    AXON_TRY(auto run, session(1, count(), 512));
    AXON_TRY_VOID(feed(*run, part(ids_, 0, from)));
    double gap = worst(run->logits(0), at(from - 1), width_);
    for (int64_t t = from; t < to; ++t) {
      AXON_TRY_VOID(feed(*run, {ids_[static_cast<size_t>(t)]}));
      gap = std::max(gap, worst(run->logits(0), at(t), width_));
    }
    near(std::to_string(to - from) + " cached steps", gap);
    return {};
  }

  // The whole prompt through the phase that keeps nothing.
  Result<void> uncached() {
    if (model_.phase_index("score", false) < 0 && model_.phase_index("score", true) < 0) {
      report("uncached forward", false, "no phase `score`");
      return {};
    }
    axon::runtime::NamedTensor ids{"input_ids", axon::DType::I64, {1, count()}, {}};
    ids.bytes.assign(reinterpret_cast<const char*>(ids_.data()), ids_.size() * sizeof(int64_t));
    AXON_TRY(const auto outputs, model_.forward("score", {ids}));
    for (const auto& output : outputs) {
      if (output.name != "logits" || output.bytes.size() != whole_.size() * sizeof(float)) continue;
      Logits found(whole_.size());
      std::memcpy(found.data(), output.bytes.data(), output.bytes.size());
      near("uncached forward", worst(found.data(), whole_.data(), size(found)));
      return {};
    }
    report("uncached forward", false, "no output `logits` of the prompt's length");
    return {};
  }

  Result<void> capacities() {
    const int64_t prompt = count() / 3, end = prompt + kSteps;
    Logits first;
    for (int64_t capacity : {end, end + 61, 2 * count()}) {
      AXON_TRY(auto run, session(1, capacity, 512));
      AXON_TRY_VOID(feed(*run, part(ids_, 0, prompt)));
      Logits found;
      for (int64_t t = prompt; t < end; ++t) {
        AXON_TRY_VOID(feed(*run, {ids_[static_cast<size_t>(t)]}));
        found.insert(found.end(), run->logits(0), run->logits(0) + width_);
      }
      if (first.empty()) first = found;
      near("capacity " + std::to_string(capacity), worst(found.data(), first.data(), size(first)),
           0);
    }
    return {};
  }

  // Three prompts of different lengths in one batch, then steps; against the rows alone.
  Result<void> padding(const char* side, bool left) {
    const int64_t width = count() / 3;
    const std::vector<Ids> prompts = {part(ids_, 0, width), part(ids_, width, width + width / 2),
                                      part(ids_, width / 2, width / 2 + 2)};
    const auto rows = static_cast<int64_t>(prompts.size());
    Ids flat(static_cast<size_t>(rows * width), 0);
    std::vector<uint8_t> valid(flat.size(), 0);
    for (size_t r = 0; r < prompts.size(); ++r) {
      const auto length = static_cast<int64_t>(prompts[r].size());
      const auto to =
          static_cast<size_t>(static_cast<int64_t>(r) * width + (left ? width - length : 0));
      std::copy(prompts[r].begin(), prompts[r].end(), flat.begin() + static_cast<ptrdiff_t>(to));
      std::fill_n(valid.begin() + static_cast<ptrdiff_t>(to), length, uint8_t{1});
    }
    const Ids next = part(ids_, count() - kSteps, count());
    AXON_TRY(auto run, session(rows, width + kSteps, std::max<int64_t>(1, width / 2)));
    AXON_TRY_VOID(feed(*run, flat, valid.data()));
    std::vector<Logits> alone;
    for (const Ids& prompt : prompts) {
      AXON_TRY(Logits logits, fresh(prompt, next));
      alone.push_back(std::move(logits));
    }
    double gap = 0, later = 0;
    for (int64_t r = 0; r < rows; ++r)
      gap = std::max(gap, worst(run->logits(r), alone[static_cast<size_t>(r)].data(), width_));
    for (int64_t s = 0; s < kSteps; ++s) {
      AXON_TRY_VOID(feed(*run, Ids(static_cast<size_t>(rows), next[static_cast<size_t>(s)])));
      for (int64_t r = 0; r < rows; ++r) {
        const float* want = alone[static_cast<size_t>(r)].data() + (s + 1) * width_;
        later = std::max(later, worst(run->logits(r), want, width_));
      }
    }
    near(std::string("batch of 3, padding ") + side, gap);
    near(std::string("steps after padding ") + side, later);
    return {};
  }

  // Something else after the first half, taken back.
  Result<void> truncate() {
    const int64_t half = count() / 2, quarter = count() / 4;
    AXON_TRY(auto run, session(1, count(), 512));
    AXON_TRY_VOID(feed(*run, part(ids_, 0, half)));
    AXON_TRY_VOID(feed(*run, part(ids_, 0, quarter)));
    AXON_TRY_VOID(run->truncate(half));
    AXON_TRY_VOID(feed(*run, part(ids_, half, half + quarter)));
    near("truncate", worst(run->logits(0), at(half + quarter - 1), width_));
    AXON_TRY_VOID(run->truncate(half));
    AXON_TRY_VOID(feed(*run, part(ids_, half, half + 1)));
    near("truncate, then a step", worst(run->logits(0), at(half), width_));
    run->reset();
    AXON_TRY_VOID(feed(*run, part(ids_, 0, quarter)));
    near("reset", worst(run->logits(0), at(quarter - 1), width_));
    return {};
  }

  // Prompts of one length for a batch.
  std::vector<Ids> level(int64_t rows) const {
    const int64_t length = count() / 4;
    std::vector<Ids> out;
    for (int64_t r = 0; r < rows; ++r)
      out.push_back(part(ids_, r * length / 2, r * length / 2 + length));
    return out;
  }

  Result<std::unique_ptr<Session>> started(const std::vector<Ids>& prompts) {
    Ids flat;
    for (const Ids& prompt : prompts) flat.insert(flat.end(), prompt.begin(), prompt.end());
    AXON_TRY(auto run, session(static_cast<int64_t>(prompts.size()), count(), 512));
    AXON_TRY_VOID(feed(*run, flat));
    return run;
  }

  // Feeds each row its own tokens one by one; worst gap to a fresh run of `was[row]`'s prompt.
  Result<double> follow(Session& run, const std::vector<Ids>& prompts,
                        const std::vector<int64_t>& was) {
    std::vector<Logits> want;
    for (size_t r = 0; r < was.size(); ++r) {
      const auto from = static_cast<int64_t>(r) * kSteps;
      AXON_TRY(Logits logits,
               fresh(prompts[static_cast<size_t>(was[r])], part(ids_, from, from + kSteps)));
      want.push_back(std::move(logits));
    }
    double gap = 0;
    for (int64_t s = 0; s < kSteps; ++s) {
      Ids next;
      for (size_t r = 0; r < was.size(); ++r)
        next.push_back(ids_[r * static_cast<size_t>(kSteps) + static_cast<size_t>(s)]);
      AXON_TRY_VOID(feed(run, next));
      for (size_t r = 0; r < was.size(); ++r) {
        const float* expected = want[r].data() + (s + 1) * width_;
        gap = std::max(gap, worst(run.logits(static_cast<int64_t>(r)), expected, width_));
      }
    }
    return gap;
  }

  Result<void> fork() {
    const std::vector<Ids> prompts = level(2);
    AXON_TRY(auto run, started(prompts));
    run->fork(0, 1);
    near("fork: logits", worst(run->logits(1), run->logits(0), width_), 0);
    AXON_TRY(const double gap, follow(*run, prompts, {0, 0}));
    near("fork", gap);
    return {};
  }

  Result<void> reorder() {
    const std::vector<Ids> prompts = level(3);
    for (const std::vector<int64_t>& perm : {std::vector<int64_t>{2, 0, 1}, {1, 1, 0}}) {
      AXON_TRY(auto run, started(prompts));
      run->reorder(perm);
      AXON_TRY(const double gap, follow(*run, prompts, perm));
      near("reorder " + std::to_string(perm[0]) + std::to_string(perm[1]) + std::to_string(perm[2]),
           gap);
    }
    return {};
  }

  // A row of a batch goes on in a session of its own.
  Result<void> restore() {
    const std::vector<Ids> prompts = level(2);
    AXON_TRY(auto run, started(prompts));
    const SavedRow saved = run->save(1);
    AXON_TRY(auto other, session(1, 2 * count(), 512));
    AXON_TRY_VOID(other->restore(0, saved));
    AXON_TRY(const double gap, follow(*other, prompts, {1}));
    near("save and restore", gap);
    return {};
  }

  const float* at(int64_t place) const { return whole_.data() + place * width_; }
  static int64_t size(const Logits& logits) { return static_cast<int64_t>(logits.size()); }

  Model& model_;
  Ids ids_;
  Logits whole_;  // logits of ids_ from one call
  int64_t width_ = 0;
  int passed_ = 0, failed_ = 0;
};

Result<bool> check(char** argv) {
  AXON_TRY(const std::string bytes, axon::read_file(argv[1]));
  AXON_TRY(axon::runtime::Program program, axon::runtime::deserialise(bytes));
  if (axon::runtime::serialise(program) != bytes)
    return axon::Error{"FILE-FORMAT", "the program read back is not the one that was saved"};
  AXON_TRY(axon::formats::Checkpoint checkpoint, axon::formats::open_checkpoint(argv[2]));
  axon::runtime::ModelOptions options;
  options.store = axon::DType::F32;
  options.threads = 1;  // models are checked side by side
  AXON_TRY(auto model, Model::load(std::move(program), *checkpoint.params, options));
  Ids ids;
  for (std::string_view word : axon::split(argv[4], ',')) {
    const auto id = axon::parse_int(word);
    if (!id) return axon::Error{"USE-VALUE", "`" + std::string(word) + "` is not a token id"};
    ids.push_back(*id);
  }
  if (static_cast<int64_t>(ids.size()) < 4 * kSteps)
    return axon::Error{"USE-PROMPT", "the prompt is too short for these checks"};
  Checker checker(*model, std::move(ids));
  AXON_TRY_VOID(checker.run(argv[3]));
  return checker.good();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: session_check PROGRAM MODEL LOGITS IDS\n");
    return 2;
  }
  auto good = check(argv);
  if (!good) {
    std::fprintf(stderr, "%s: %s\n", good.error().code.c_str(), good.error().message.c_str());
    return 3;
  }
  return *good ? 0 : 1;
}
