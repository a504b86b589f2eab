#pragma once

// What an agent wrote of its change into the file that $ASSAY_ATTEMPT names.

#include <filesystem>
#include <optional>
#include <string>

#include "assay/base/json_fwd.h"
#include "assay/lab/files/case_file.h"
#include "assay/lab/files/history.h"

namespace assay::lab {

struct AttemptNote {
  std::string description, hypothesis, family, target, lane;
  Environment environment;
  std::optional<Cost> cost;
};

// {description, hypothesis, family, target, lane, env, cost: {usd, tokens_in, tokens_out}}. An
// absent file says nothing.
Json attempt_note_schema();
Result<AttemptNote> read_attempt_note(const std::filesystem::path& path, const Case& target);

}  // namespace assay::lab
