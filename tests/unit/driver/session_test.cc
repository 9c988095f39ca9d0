// Sessions on general instructions: the same logits as those on a straight line, chunk by chunk,
// cut, padded, with several rows.
#include "runtime/gen/session.h"

#include <cmath>

#include "../plan/mini.h"
#include "compare.h"

namespace axon::driver::ways {
namespace {

using runtime::Session;

std::vector<std::pair<std::string, graph::EvalTensor>> parameters(const plan::Mini& mini) {
  std::vector<std::pair<std::string, graph::EvalTensor>> out;
  uint64_t state = 3;
  for (const model::TensorInfo& info : mini.params.tensors())
    out.emplace_back(info.name, random_tensor(DType::F32, info.shape, state));
  return out;
}

struct Loaded {
  plan::Mini mini;
  MemorySource source{parameters(mini)};
  std::unique_ptr<runtime::Model> model;

  explicit Loaded(plan::PlanOptions::General general) {
    plan::PlanOptions options;
    options.general = general;
    auto program = mini.run(options);
    runtime::ModelOptions how;
    how.threads = 2;
    how.store = DType::F32;
    auto loaded = runtime::Model::load(std::move(*program), source, how);
    EXPECT_TRUE(loaded.ok());
    model = std::move(*loaded);
  }
  std::unique_ptr<Session> session(int64_t rows) {
    runtime::SessionOptions options;
    options.rows = rows;
    options.capacity = 12;
    auto made = Session::create(*model, options);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return std::move(*made);
  }
};

void expect_same(const Session& a, const Session& b) {
  ASSERT_EQ(a.vocabulary(), b.vocabulary());
  ASSERT_EQ(a.length(), b.length());
  for (int64_t row = 0; row < a.rows(); ++row) {
    for (int64_t v = 0; v < a.vocabulary(); ++v)
      EXPECT_NEAR(a.logits(row)[v], b.logits(row)[v], 1e-4) << "row " << row;
  }
}

class Both {
 public:
  explicit Both(int64_t rows)
      : straight_(plan::PlanOptions::General::Never),
        general_(plan::PlanOptions::General::Always),
        a_(straight_.session(rows)),
        b_(general_.session(rows)) {
    EXPECT_GT(general_.model->program().general_instructions(), 0);
  }
  void feed(const std::vector<int64_t>& ids, const std::vector<uint8_t>& valid = {}) {
    auto count = static_cast<int64_t>(ids.size()) / a_->rows();
    const uint8_t* marks = valid.empty() ? nullptr : valid.data();
    for (Session* s : {a_.get(), b_.get()}) {
      auto status = s->feed(ids.data(), count, marks);
      ASSERT_TRUE(status.ok()) << status.error().message;
    }
    expect_same(*a_, *b_);
  }
  Session& straight() { return *a_; }
  Session& general() { return *b_; }

 private:
  Loaded straight_, general_;
  std::unique_ptr<Session> a_, b_;
};

TEST(GeneralSession, StepsEqualTheStraightLine) {
  Both both(1);
  both.feed({3, 1, 4});
  uint64_t before = both.general().tokens_run();
  both.feed({1});
  EXPECT_EQ(both.general().tokens_run(), before + 1);  // the cache went on
  both.feed({5, 9});
  for (Session* s : {&both.straight(), &both.general()}) ASSERT_TRUE(s->truncate(4).ok());
  both.feed({2, 6});
  both.straight().reset();
  both.general().reset();
  both.feed({7, 7, 7});
}

TEST(GeneralSession, PaddedRows) {
  Both both(2);
  both.feed({3, 1, 4, 2, 7, 0}, {1, 1, 1, 1, 1, 0});
  both.feed({5, 6});
  both.straight().reorder({1, 1});
  both.general().reorder({1, 1});
  both.feed({1, 2});
}

TEST(GeneralSession, AllLogitsOfAChunk) {
  Both both(1);
  both.feed({3, 1});
  std::vector<float> rows[2];
  int which = 0;
  const std::vector<int64_t> ids = {4, 1, 5};
  for (Session* s : {&both.straight(), &both.general()}) {
    auto each = [&](int64_t first, int64_t count, const runtime::View& logits) {
      EXPECT_EQ(first, 0);
      for (int64_t t = 0; t < count; ++t) {
        const auto* at = reinterpret_cast<const float*>(logits.data) + t * logits.stride[1];
        rows[which].insert(rows[which].end(), at, at + logits.shape[2]);
      }
    };
    auto status = s->feed_all(ids.data(), 3, nullptr, each);
    ASSERT_TRUE(status.ok()) << status.error().message;
    ++which;
  }
  ASSERT_EQ(rows[0].size(), rows[1].size());
  for (size_t i = 0; i < rows[0].size(); ++i) EXPECT_NEAR(rows[0][i], rows[1][i], 1e-4);
}

}  // namespace
}  // namespace axon::driver::ways
