// One function per verb; each returns the exit status.
#pragma once

#include "cli/options.h"

namespace axon::cli {

int verb_run(const Options& options);
int verb_chat(const Options& options);
int verb_embed(const Options& options);
int verb_score(const Options& options);
int verb_tokenize(const Options& options);
int verb_forward(const Options& options);
int verb_check(const Options& options);
int verb_dump(const Options& options);
int verb_fmt(const Options& options);
int verb_compile(const Options& options);
int verb_explain(const Options& options);
int verb_inspect(const Options& options);
int verb_zoo(const Options& options);
int verb_list(const Options& options);
int verb_bench(const Options& options);
int verb_verify(const Options& options);
int verb_completion(const Options& options);
int verb_man();

}  // namespace axon::cli
