// The diagnostic registry and the sink.
#include "source/diag.h"

#include <algorithm>

#include "source/file_table.h"
#include "support/check.h"

namespace axon {
namespace {

enum Kind { Error, Warning, AlwaysWarning };

constexpr Severity severity_of(Kind kind) {
  return kind == Kind::Error ? Severity::Error : Severity::Warning;
}

const DiagInfo kDiags[] = {
#define AXON_DIAG(ident, code, kind, status, format) \
  {code, severity_of(kind), status, kind == AlwaysWarning, format},
#include "source/diag.def"
};

const std::string_view kNotes[] = {
#define AXON_NOTE(ident, format) format,
#include "source/diag.def"
};

}  // namespace

const DiagInfo& diag_info(Diag id) { return kDiags[static_cast<size_t>(id)]; }
std::string_view note_format(Note id) { return kNotes[static_cast<size_t>(id)]; }
size_t diag_count() { return std::size(kDiags); }

const DiagInfo* find_diag(std::string_view code) {
  for (const DiagInfo& info : kDiags) {
    if (info.code == code) return &info;
  }
  return nullptr;
}

Diagnostic& Diagnostic::note(Note note_id, Span where, std::vector<DiagArg> note_args) {
  notes.push_back({note_id, where, std::move(note_args)});
  return *this;
}

Diagnostic& Diagnostic::fix(Span where, std::string replacement) {
  fixes.push_back({where, std::move(replacement)});
  return *this;
}

std::string format_message(std::string_view format, const std::vector<DiagArg>& args) {
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] == '{' && i + 2 < format.size() && format[i + 2] == '}' && format[i + 1] >= '0' &&
        format[i + 1] <= '9') {
      size_t index = static_cast<size_t>(format[i + 1] - '0');
      AXON_CHECK(index < args.size(), "diagnostic argument missing");
      const DiagArg& arg = args[index];
      out += arg.kind == DiagArg::Kind::Int ? std::to_string(arg.number) : arg.text;
      i += 2;
    } else {
      out += format[i];
    }
  }
  return out;
}

std::string message_of(const Diagnostic& diagnostic) {
  return format_message(diag_info(diagnostic.id).format, diagnostic.args);
}

std::string message_of(const DiagNote& note) {
  return format_message(note_format(note.id), note.args);
}

Diagnostic& DiagSink::report(Diag id, Span span, std::vector<DiagArg> args) {
  diagnostics_.push_back({id, span, std::move(args), {}, {}, {}});
  if (severity(diagnostics_.back()) == Severity::Error) ++errors_;
  return diagnostics_.back();
}

Severity DiagSink::severity(const Diagnostic& diagnostic) const {
  const DiagInfo& info = diag_info(diagnostic.id);
  return strict_ && !info.always_warning ? Severity::Error : info.severity;
}

void DiagSink::clear() {
  diagnostics_.clear();
  errors_ = 0;
}

void DiagSink::truncate(size_t count) {
  while (diagnostics_.size() > count) {
    if (severity(diagnostics_.back()) == Severity::Error) --errors_;
    diagnostics_.pop_back();
  }
}

void DiagSink::drop_repeats(size_t first, size_t middle, const FileTable& files) {
  auto things = [](const Diagnostic& d) {
    std::vector<std::string> out;
    for (const DiagArg& arg : d.args)
      out.push_back(arg.kind == DiagArg::Kind::Int ? std::to_string(arg.number) : arg.text);
    std::sort(out.begin(), out.end());
    return out;
  };
  auto text = [&](const Diagnostic& d) {
    if (!d.span.valid()) return std::string_view();
    return files.text(d.span.file)
        .substr(static_cast<size_t>(d.span.begin), static_cast<size_t>(d.span.end - d.span.begin));
  };
  auto repeats = [&](const Diagnostic& d) {
    for (size_t i = first; i < middle; ++i) {
      const Diagnostic& old = diagnostics_[i];
      bool same = old.id == d.id && old.context == d.context && text(old) == text(d) &&
                  things(old) == things(d);
      if (same) return true;
    }
    return false;
  };
  std::vector<Diagnostic> rest;
  for (size_t i = middle; i < diagnostics_.size(); ++i) {
    if (!repeats(diagnostics_[i]))
      rest.push_back(std::move(diagnostics_[i]));
    else if (severity(diagnostics_[i]) == Severity::Error)
      --errors_;
  }
  diagnostics_.resize(middle);
  for (Diagnostic& d : rest) diagnostics_.push_back(std::move(d));
}

void DiagSink::sort() {
  auto key = [](const Diagnostic& d) {
    return std::tuple(d.span.file, d.span.begin, d.span.end, static_cast<int>(d.id));
  };
  std::stable_sort(diagnostics_.begin(), diagnostics_.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
  auto same = [&](const Diagnostic& a, const Diagnostic& b) {
    return key(a) == key(b) && message_of(a) == message_of(b);
  };
  diagnostics_.erase(std::unique(diagnostics_.begin(), diagnostics_.end(), same),
                     diagnostics_.end());
}

}  // namespace axon
