#pragma once

// Artifacts whose tools read files that a key does not name. Each set of such files is an entry of
// its own, and one is found if its files are as they were (build_inputs.h).

#include <filesystem>
#include <functional>

#include "assay/kernel/artifact.h"
#include "assay/kernel/build_inputs.h"

namespace assay {

// What a builder leaves, and what its tools read.
struct TracedBuilt {
  ArtifactCache::Built built;
  BuildInputs inputs;
};
using TracedBuilder = std::function<Result<TracedBuilt>(const std::filesystem::path& folder)>;
// SHA-256 of the preprocessed text as it is now, for texts that ask which files there are.
using TextHash = std::function<Result<std::string>()>;

// As ArtifactCache::get_or_build. Files that change while they are compiled are compiled again;
// busy if they do not come to rest.
Result<Artifact> get_or_build_traced(const ArtifactCache& cache, const Json& key,
                                     const TracedBuilder& builder, const TextHash& text_hash);

}  // namespace assay
