#pragma once

// The code that times candidates lies in their address space: its pages, and those of the loader,
// the C library and the vDSO, must stay as they were mapped.

#include <vector>

#include "assay/process/call_filter.h"

namespace assay::sweep {

// Pages of every object that is mapped now, the vDSO and its data included, which nobody writes to
// once they are loaded: code, constants, and relocated pointers (RELRO).
std::vector<AddressRange> read_only_pages();

// The same by object, in one range each, its writable data included; those without which nothing
// can be timed (program, vDSO, loader, C library) first. For a filter, which has room for few.
std::vector<AddressRange> objects_in_order();

// From now on nobody changes what is mapped there, or what may be done with it (mseal(2), Linux
// 6.10). False where the system cannot do that. Files that show a process's memory go past it:
// confine() sees to those.
bool seal(const std::vector<AddressRange>& pages);

// Whether this process can still change the rights of its own code's pages, and of the vDSO's. Asks
// for those that they have.
bool code_can_be_changed();

}  // namespace assay::sweep
