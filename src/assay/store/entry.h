#pragma once

// What a store knows of a run without opening its record: the columns that one asks by.

#include <cstdint>
#include <string>
#include <vector>

#include "assay/record/record.h"

namespace assay::store {

struct RunEntry {
  std::string id;
  std::string kind;     // "sweep", "race", "run", "why".
  std::string created;  // UTC, ISO 8601.
  std::string suite;
  std::string assay_version;
  std::string device;  // Model.
  std::string device_id;
  std::string trust;
  std::string record_path;  // Where the record lay when it was put here; may be gone.
  int threads = 0;
  std::int64_t problems = 0, kernels = 0;

  bool operator==(const RunEntry&) const = default;
};

// How one kernel stood on one problem of one run.
struct ResultEntry {
  std::string run;      // RunEntry::id.
  std::string created;  // The run's.
  std::string device;   // The run's.
  std::string problem;  // Name.
  std::string key;      // name + dtypes + layout + constant.
  std::string condition, race_class;
  std::string kernel_id, provider, kernel, role;
  std::string artifact_hash;
  std::string ending;      // "timed", "mismatch" ...
  double us = 0;           // Median per launch; 0 unknown.
  bool confirmed = false;  // `us` is of a confirmation, else of the race.
  bool winner = false;
  // Of the problem's headline, where this kernel is its candidate; else empty and 0.
  std::string word, other;
  double ratio = 0, low = 0, high = 0;  // Finite: 0 where there is no interval.

  bool operator==(const ResultEntry&) const = default;
};

RunEntry run_entry(const RunRecord& record, const std::string& record_path);
std::vector<ResultEntry> result_entries(const RunRecord& record);

// SHA-256 (hex) of what was measured: id, time and problems with their samples. Two records of one
// run differ in it only where somebody edited one.
std::string evidence_hash(const RunRecord& record);

}  // namespace assay::store
