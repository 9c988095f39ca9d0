// Diagnostics: declared once in diag.def, reported with typed arguments, rendered elsewhere.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "source/span.h"

namespace axon {

class FileTable;

enum class Severity : uint8_t { Error, Warning };

enum class Diag : uint16_t {
#define AXON_DIAG(ident, code, severity, status, format) ident,
#include "source/diag.def"
};

enum class Note : uint16_t {
#define AXON_NOTE(ident, format) ident,
#include "source/diag.def"
};

struct DiagInfo {
  std::string_view code;  // permanent, e.g. TYPE-DIM
  Severity severity;
  int exit_status;          // 1 program, 2 usage, 3 world, 70 our bug
  bool always_warning;      // `--strict` does not turn it into an error
  std::string_view format;  // with {0}, {1}, …
};

const DiagInfo& diag_info(Diag id);
std::string_view note_format(Note id);
// The row of a code, or null.
const DiagInfo* find_diag(std::string_view code);
size_t diag_count();

// An argument of a message; text in messages is put in backticks by the format, not here.
struct DiagArg {
  enum class Kind : uint8_t { Text, Int } kind = Kind::Text;
  std::string text;
  int64_t number = 0;
  DiagArg(std::string t) : text(std::move(t)) {}                           // NOLINT
  DiagArg(std::string_view t) : text(t) {}                                 // NOLINT
  DiagArg(const char* t) : text(t) {}                                      // NOLINT
  DiagArg(int64_t n) : kind(Kind::Int), number(n) {}                       // NOLINT
  DiagArg(int n) : kind(Kind::Int), number(n) {}                           // NOLINT
  DiagArg(size_t n) : kind(Kind::Int), number(static_cast<int64_t>(n)) {}  // NOLINT
};

struct DiagNote {
  Note id;
  Span span;
  std::vector<DiagArg> args;
};

// A replacement that certainly mends the mistake.
struct DiagFix {
  Span span;
  std::string text;
};

struct Diagnostic {
  Diag id;
  Span span;
  std::vector<DiagArg> args;
  std::vector<DiagNote> notes;
  std::vector<DiagFix> fixes;
  std::string context;  // the enclosing definition or construct, may be empty

  Diagnostic& note(Note note_id, Span where, std::vector<DiagArg> note_args = {});
  Diagnostic& fix(Span where, std::string replacement);
};

std::string format_message(std::string_view format, const std::vector<DiagArg>& args);
std::string message_of(const Diagnostic& diagnostic);
std::string message_of(const DiagNote& note);

// Collects diagnostics. References returned by report() stay valid until the next report().
class DiagSink {
 public:
  Diagnostic& report(Diag id, Span span, std::vector<DiagArg> args = {});
  size_t error_count() const { return errors_; }
  bool has_errors() const { return errors_ > 0; }
  const std::vector<Diagnostic>& all() const { return diagnostics_; }
  std::vector<Diagnostic>& all() { return diagnostics_; }
  // With strict, warnings that may count as errors do.
  void set_strict(bool strict) { strict_ = strict; }
  bool strict() const { return strict_; }
  Severity severity(const Diagnostic& diagnostic) const;
  void clear();
  // Forgets all but the first `count` reports (a parser that goes back reports the rest again).
  void truncate(size_t count);
  // Forgets reports from `middle` on that stand on the same text of the same context as one from
  // `first` to `middle` and say the same of the same things.
  void drop_repeats(size_t first, size_t middle, const FileTable& files);
  // Sorts by file and position, and drops exact repetitions.
  void sort();

 private:
  std::vector<Diagnostic> diagnostics_;
  size_t errors_ = 0;
  bool strict_ = false;
};

}  // namespace axon
