#pragma once

// What a server is asked before it is put under load.

#include <functional>

#include "assay/base/result.h"
#include "assay/load/plan.h"
#include "assay/load/word_text.h"

namespace assay::load {

// Fails once the server cannot get ready any more, such as a process that has ended.
using MayGetReady = std::function<Status()>;

// Until /health, or /v1/models where /health does not say 503, is answered with 2xx. seconds 0:
// asked once. Errors: unsupported (it never got ready: the last reason), interrupted, and that of
// `may_get_ready`, which is asked after each look in vain.
Status await_ready(const LoadPlan& plan, double seconds, int cancel_fd,
                   const MayGetReady& may_get_ready = {});

// The only model that /v1/models lists. Errors: unsupported (none, or several: they are named).
Result<std::string> only_model(const LoadPlan& plan, int cancel_fd);

// A text's tokens, special ones left out, by the server's /tokenize. Errors: unsupported where it
// has none.
Result<std::vector<std::int64_t>> server_token_ids(const LoadPlan& plan, const std::string& text,
                                                   int cancel_fd);

// Counts with the server's /tokenize. Errors of the count: unsupported where it has none.
TokenCount server_tokenizer(const LoadPlan& plan, int cancel_fd);

}  // namespace assay::load
