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

bool suggest_type(Diagnostic& report, std::string_view name, Span span) {
  const std::string here(written_here(Habit::Type, name));
  if (here.empty()) return false;
  const Span word{span.file, span.begin, span.begin + static_cast<int32_t>(name.size())};
  report.note(Note::NoteDidYouMean, word, {"`" + here + "`"});
  const bool plain = here.find_first_of("?( ") == here.npos;
  if (plain) report.fix(word, here);
  return true;
}

}  // namespace axon
