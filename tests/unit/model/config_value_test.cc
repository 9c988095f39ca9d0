// Dotted keys and canonical text of configuration values.
#include "model/config_value.h"

#include <gtest/gtest.h>

namespace axon::model {
namespace {

ConfigValue sample() {
  ConfigValue inner;
  inner.set("n", ConfigValue::of(int64_t{4}));
  inner.set("z", ConfigValue::null());
  ConfigValue root;
  root.set("a", inner);
  root.set("nothing", ConfigValue::null());
  root.set("name", ConfigValue::of(std::string("x\"y")));
  return root;
}

TEST(ConfigValue, WalksDottedKeys) {
  ConfigValue root = sample();
  EXPECT_EQ(lookup(root, "a.n").value->integer, 4);
  EXPECT_EQ(lookup(root, "a.z").state, LookupState::Found);
  EXPECT_EQ(lookup(root, "a.z").value->kind, ConfigValue::Kind::Null);
  EXPECT_EQ(lookup(root, "a.q").state, LookupState::Absent);
  EXPECT_EQ(lookup(root, "nothing.q").state, LookupState::Absent);
  Lookup stuck = lookup(root, "a.n.deep");
  EXPECT_EQ(stuck.state, LookupState::NotAMap);
  EXPECT_EQ(stuck.stuck_at, "a.n");
}

TEST(ConfigValue, SetReplaces) {
  ConfigValue root = sample();
  root.set("nothing", ConfigValue::of(true));
  EXPECT_EQ(root.show(),
            "{\"a\": {\"n\": 4, \"z\": null}, \"nothing\": true, \"name\": \"x\\\"y\"}");
}

}  // namespace
}  // namespace axon::model
