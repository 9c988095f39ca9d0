// How errors and diagnostics reach the user, and the exit status they give (design.md 7).
#pragma once

#include "cli/options.h"
#include "sema/session.h"
#include "source/diag.h"
#include "source/file_table.h"
#include "support/result.h"

namespace axon::cli {

// Prints an error (standard error, or the JSON object on standard output) and returns its status.
int report_error(const Error& error, const CommonOptions& common);
// Prints all diagnostics to standard error; returns the status of the worst error, 0 without
// errors.
int report_diagnostics(const DiagSink& sink, const FileTable& files, const CommonOptions& common);
// The same for a front end; with JSON, its first error is the error object on standard output.
int report_session(const sema::Session& session, const CommonOptions& common);
// The exit status of an error or diagnostic code.
int status_of(std::string_view code);
// Whether to use colour on standard error.
bool use_color(const CommonOptions& common);

}  // namespace axon::cli
