#pragma once

// What a run is about, as its journal and its record write it.

#include <optional>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/record.h"
#include "assay/sweep/crew.h"
#include "assay/sweep/sweep.h"

namespace assay::sweep {

// What was asked, for the journal's header: resuming with anything else is refused. Not what the
// race chose to do.
Json asked_for(const Request& request, const Crew& crew);

// But for the hashes of its libraries, which with_build_hashes() adds: reading them takes a while.
Environment describe(const Request& request, const Crew& crew);
std::vector<LibraryStamp> with_build_hashes(std::vector<LibraryStamp> libraries);

RunOptions options_of(const Request& request, const Crew& crew, double budget);

// Where the readings of earlier runs lie; empty of a GPU.
std::string kept_ceilings_path(const Request& request, const Crew& crew);

// What the machine reaches by all readings so far, those of this moment included, or what it
// reached in `kept`; of a GPU, as it once was measured with this driver.
Result<std::vector<Ceiling>> measure_ceilings(Crew& crew, const Request& request,
                                              const std::vector<Ceiling>& kept = {});

// How the GPU was since the last call (or since the run's first process began), and what of that a
// reader has to know.
Result<GpuWindow> take_gpu_window(Crew& crew);
std::vector<Finding> findings_of(const GpuWindow& window);

// Where stock kernels were proven right and found no memory beside the others of their race: then
// the best that raced need not be the best that there is.
std::optional<Finding> crowded_out(const ProblemRecord& record);

// No launch takes less on the run's device, whatever the kernel: measure/ceilings.h for cores,
// measure/gpu_floor.h for GPUs.
double floor_seconds(const Crew& crew, const Problem& problem, const measure::Condition& condition,
                     double flops, double bytes);

}  // namespace assay::sweep
