#include <cstdlib>
#include <string_view>

#include "bench/lab/lab_bench.h"

// `assay_lab_bench [NOISE [PART]]` (a part is power, 1% or 3%), or `assay_lab_bench history RUNS
// LINES`.
int main(int count, char** words) {
  if (count == 4 && std::string_view(words[1]) == "history")
    return assay::lab_bench::write_history(words[2], std::atoi(words[3]));
  return count <= 3
             ? assay::lab_bench::run_climbs(count > 1 ? words[1] : "", count > 2 ? words[2] : "")
             : 2;
}
