#include "assay/measure/ceilings.h"
namespace assay::measure {
std::vector<Ceiling> measure_ceilings(int, size_t, double) { return {}; }
}
