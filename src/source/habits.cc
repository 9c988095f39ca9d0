// The table of habits.
#include "source/habits.h"

namespace axon {
namespace {

struct Row {
  Habit where;
  std::string_view written;
  std::string_view here;
};
constexpr Row kRows[] = {
#define AXON_HABIT(where, written, here) {Habit::where, written, here},
#include "source/habits.def"
};

}  // namespace

std::string_view written_here(Habit where, std::string_view written) {
  for (const Row& row : kRows) {
    if (row.where == where && row.written == written) return row.here;
  }
  return {};
}

}  // namespace axon
