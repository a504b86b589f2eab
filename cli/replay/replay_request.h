#pragma once

// From a record to the requests that make its claims again: the same problem, condition, class,
// threads, margin and pool of stock kernels.

#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/record.h"
#include "assay/sweep/sweep.h"
#include "cli/flags/race_options.h"

namespace assay::cli {

struct RecordAt {
  std::filesystem::path path, folder;
  RunRecord record;
};

// The record at `path`, a file or the folder of a run, if its words follow from its samples.
// Errors: missing where there is none; invalid_input with a sentence for each word that does not
// follow.
Result<RecordAt> read_honest_record(const std::string& path);

// The record's problems, by name or by find_shape(), in its order; no names: all.
Result<std::vector<const ProblemRecord*>> choose_problems(const RecordAt& at,
                                                          const std::vector<std::string>& names);

// The flags of what a user may say anew: libraries, compiler, cache; and, where it is raced,
// limits and waiting.
void declare_anew(Flags& app, RaceOptions& options, bool raced);

// Fails if what is right would be said by code out of the record, with this user's rights.
Status check_reference_may_run(const RecordAt& at, const ProblemRecord& problem);

// One problem of the record, as it was asked for then; `anew` as declared above. Without a folder.
// Errors: missing where a provider, a core or a source that it needs is not here; invalid_input
// where no run can have been made like this.
Result<sweep::Request> replay_request(const Context& context, const RecordAt& at,
                                      const ProblemRecord& problem, const RaceOptions& anew);

// The same pool with nobody in it but the claim's kernel and those that it is held against: all
// stock kernels, or the default where it is stock itself. Nobody is dropped.
Status narrow_to_claim(sweep::Request& request, const ProblemRecord& problem);

}  // namespace assay::cli
