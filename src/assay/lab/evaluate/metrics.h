#pragma once

// What a benchmark printed, as metrics: objects become a.b.c, truths are flags and never scores.

#include <map>
#include <string>
#include <vector>

#include "assay/base/json_fwd.h"
#include "assay/base/result.h"
#include "assay/lab/files/benchmark_file.h"

namespace assay::lab {

struct Metric {
  double value = 0;
  std::string unit;
};

struct Metrics {
  std::map<std::string, Metric> values;  // By name, the benchmark's in front: "decode.time_us".
  std::map<std::string, bool> flags;
  std::map<std::string, std::string> texts;
};

// The last JSON object of a text: where a program prints other lines, too.
Result<Json> last_json_object(std::string_view text);

// Lists become NAME.0, NAME.1 ..., or what the benchmark's rule reduces them to. Errors: two values
// of one name, a required one that is missing or is no number, a number beyond its floor (failed).
Result<Metrics> flatten(const Json& object, const Benchmark& benchmark);

// "us" of "time_us"; empty where the name does not end in a unit that is known.
std::string unit_of(std::string_view name);

// "median", "mean", "min", "max", "p99" of values, of which there is at least one.
double reduce(std::vector<double> values, std::string_view how);

}  // namespace assay::lab
