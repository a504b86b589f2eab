#include "assay/sweep/venue_rules.h"

#include "assay/sweep/sweep.h"

namespace assay::sweep {
namespace {

constexpr VenueRules kCpu = {
    .guard = ChildOptions::Guard::confining,
    .times_users_apart = true,
    .copies_code = true,
    .confirmers_prove = false,
    .most_processes = 15,
    .systematic_error = kCpuSystematicError,
    .systematic_error_apart = kCpuSystematicErrorApart,
};

constexpr VenueRules kGpu = {
    .guard = ChildOptions::Guard::present,
    .times_users_apart = false,
    .copies_code = false,
    .confirmers_prove = true,
    .most_processes = 0,
    .systematic_error = 0,
    .systematic_error_apart = 0,
};

}  // namespace

const VenueRules& rules_of(const Venue& venue) { return venue.is_gpu() ? kGpu : kCpu; }

}  // namespace assay::sweep
