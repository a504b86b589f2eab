#pragma once

// What a worker is asked of kernels that no problem's operands are loaded for.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assay/kernel/export.h"
#include "assay/kernel/kernel_choice.h"
#include "assay/kernel/metadata.h"
#include "assay/kernel/provider.h"
#include "assay/kernel/refusals.h"
#include "assay/process/messages/values.h"

namespace assay::process {

struct OfferedKernel {
  KernelMetadata metadata;
  ProviderRole role = ProviderRole::user;
};

// What there is for a problem, or at all.
struct Discover {
  static constexpr const char* kName = "discover";
  std::optional<SentProblem> problem;
  std::string filter;
  std::vector<std::string> families;  // Of those alone; empty: of all.
  std::vector<KernelChoice> only;
  std::optional<std::string> target;  // Else the device's own, where there is a problem.
  struct Answer {
    std::vector<OfferedKernel> kernels;
    RefusalCounts refusals;
    std::map<std::string, std::string> missing;  // Provider -> why.
  };
};

struct Compile {
  static constexpr const char* kName = "compile";
  SentProblem problem;
  Json row;
  struct Answer {
    Artifact artifact;
  };
};

// Compiles side by side what the cache has not. Compile says what fails.
struct Prebuild {
  static constexpr const char* kName = "prebuild";
  SentProblem problem;
  std::vector<Json> rows;
  struct Answer {
    struct Built {
      std::optional<Artifact> artifact;  // Where the cache had it. Else it has it now, or compiling
      bool failed = false;               // failed,
      double seconds = 0;                // which took so long.
    };
    std::vector<Built> kernels;  // In the order of the rows.
  };
  Status check(const Answer& answer) const;
};

// Whether the cache has the artifact of each row.
struct FindCached {
  static constexpr const char* kName = "cached";
  SentProblem problem;
  std::vector<Json> rows;
  struct Answer {
    std::vector<bool> cached;
  };
  Status check(const Answer& answer) const;
};

struct AskedRanker {
  std::string name;
  ProviderSettings settings;
};
struct FoundRanker {
  std::optional<std::string> missing;  // Why it cannot be asked.
  std::string version, path;
};

struct FindRanker {
  static constexpr const char* kName = "ranker";
  AskedRanker ranker;
  struct Answer {
    FoundRanker found;
  };
};

// What a ranker says of each row.
struct Rank {
  static constexpr const char* kName = "rank";
  SentProblem problem;
  AskedRanker ranker;
  Json kernels;                       // As rows are written together (kernel/metadata_table.h),
  size_t count = 0;                   // so many.
  std::optional<std::string> target;  // Else the device's own.
  struct Answer {
    FoundRanker found;
    std::vector<std::optional<double>> costs;  // In the order of the rows; null: none.
    std::map<std::string, int64_t> unscored;   // Sentence -> rows.
  };
  Status check(const Answer& answer) const;
};

struct ExportKernel {
  static constexpr const char* kName = "export";
  SentProblem problem;
  Json row;
  struct Answer {
    KernelExport made;
  };
};

}  // namespace assay::process
