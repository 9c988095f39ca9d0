// Names of tensors in messages: groups by number, likely typos.
#include "model/name_groups.h"

#include <gtest/gtest.h>

#include "support/text.h"

namespace axon::model {
namespace {

std::string shown(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const NameGroup& group : group_names(names))
    out.push_back(group.text + " x" + std::to_string(group.names.size()));
  return join(out, "; ");
}

TEST(NameGroups, NumbersOfLayers) {
  EXPECT_EQ(shown({}), "");
  EXPECT_EQ(shown({"a.b"}), "a.b x1");
  EXPECT_EQ(shown({"a.3.b"}), "a.3.b x1");
  EXPECT_EQ(shown({"a.0.b", "a.1.b"}), "a.{0,1}.b x2");
  EXPECT_EQ(shown({"a.2.b", "a.0.b", "a.1.b"}), "a.{0..2}.b x3");
  EXPECT_EQ(shown({"a.0.b", "a.1.b", "a.2.b", "a.7.b", "a.9.b", "a.10.b"}), "a.{0..2,7,9,10}.b x6");
}

TEST(NameGroups, OthersStayApartInOrder) {
  EXPECT_EQ(shown({"z", "a.0.b", "y", "a.1.c", "a.2.b"}), "z x1; a.{0,2}.b x2; y x1; a.1.c x1");
  EXPECT_EQ(shown({"a.0", "b.0", "a.1"}), "a.{0,1} x2; b.0 x1");
}

TEST(NameGroups, SeveralNumbers) {
  std::vector<std::string> names;
  for (int layer = 0; layer < 3; ++layer) {
    for (int expert = 0; expert < 8; ++expert)
      names.push_back("l." + std::to_string(layer) + ".e." + std::to_string(expert) + ".w");
  }
  EXPECT_EQ(shown(names), "l.{0..2}.e.{0..7}.w x24");
  names.pop_back();
  EXPECT_EQ(shown(names), "l.{0..2}.e.{0..6}.w x21; l.{0,1}.e.7.w x2");
}

TEST(NameGroups, LongNumbersAndOddNames) {
  EXPECT_EQ(shown({"a.99999999999999999999.b", "a.0.b"}), "a.99999999999999999999.b x1; a.0.b x1");
  EXPECT_EQ(shown({"..", "0", "1", ""}), ".. x1; {0,1} x2;  x1");
  EXPECT_EQ(shown({"a.00.b", "a.0.b"}), "a.{0}.b x2");
}

TEST(NameGroups, NearNames) {
  std::vector<std::string> names = {"model.norm.weight", "model.embed_token.weight", "z"};
  EXPECT_EQ(near_names("model.embd_tokens.weight", names)[0], "model.embed_token.weight");
  EXPECT_TRUE(near_names("qqqqq", {"model.norm.weight"}).empty());
}

}  // namespace
}  // namespace axon::model
