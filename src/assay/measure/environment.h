#pragma once

// Reads what a record must say of the machine: system, kernel, governor, clock, huge pages, load,
// and warnings a reader should see (a hypervisor that steals time, a powersave governor, other
// load).

#include "assay/record/environment.h"

namespace assay::measure {

// Everything but device, libraries, compiler and ceilings, which those who know them fill in.
// Never fails: what the machine does not tell stays empty. on_gpu: what is timed needs no more of
// the processor than that half of its cores are free.
Environment read_machine(bool on_gpu);

// Load average of the last minute (runnable tasks), 0 where it cannot be read.
double other_load();

}  // namespace assay::measure
