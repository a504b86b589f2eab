#pragma once

// A machine's ceilings over all of its runs. What one run reads moves by two to four times with
// what others do on the machine, so the second largest of all readings stands: the largest may be a
// glitch of a clock.

#include <filesystem>
#include <string>
#include <vector>

#include "assay/measure/ceilings.h"

namespace assay::measure {

// Where those of a device lie; `cache` is the cache folder. Empty if that is: nothing is kept.
std::string kept_ceilings_path(const std::filesystem::path& cache, const std::string& device_id);

// Adds the readings to those of the file, and returns the ceilings by all of them, in the order of
// `readings`. A file that cannot be read counts as none, one that cannot be written is left: then
// the readings alone count.
std::vector<Ceiling> keep_ceilings(const std::string& path, const std::vector<Reading>& readings);

// What the file has for so many threads; nothing is measured.
std::vector<Ceiling> kept_ceilings(const std::string& path, int threads);

// What was kept counts no more.
void forget_ceilings(const std::string& path);

}  // namespace assay::measure
