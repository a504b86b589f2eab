#include "assay/kernel/traced_artifacts.h"

#include <chrono>
#include <optional>
#include <random>
#include <thread>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/json_bytes.h"
#include "assay/base/text.h"

namespace assay {
namespace {

constexpr int kMostAttempts = 3;  // Of compiling files that are written meanwhile.
constexpr std::chrono::milliseconds kFileClockTick{20};
constexpr std::size_t kMostSets = 16;  // Remembered of one key; the oldest are forgotten.
constexpr std::size_t kMostListBytes = std::size_t{64} << 20;
constexpr std::int64_t kLockNs = 60'000'000'000;

std::int64_t system_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string list_file(const ArtifactCache& cache, const Json& key) {
  return cache.entry_folder(key).string() + ".inputs.json";
}

// The sets that were kept, the newest first; none if there is no list, or none that can be read.
Json sets_in(const std::string& file) {
  const auto text = read_file(file, kMostListBytes);
  auto list = text ? parse_json_bytes(*text, file) : Result<Json>(Json::array());
  return list && list->is_array() ? std::move(*list) : Json::array();
}

Json with_inputs(Json key, const std::string& digest) {
  key["inputs"] = digest;
  return key;
}

std::optional<Artifact> find(const ArtifactCache& cache, const Json& key,
                             const TextHash& text_hash) {
  std::optional<std::string> text;
  for (const Json& taken : sets_in(list_file(cache, key))) {
    if (wants_text(taken) && !text) text = text_hash().value_or("");
    if (!are_current(taken, text.value_or(""))) continue;
    auto found =
        cache.without_building().get_or_build(with_inputs(key, digest_of_inputs(taken)), {});
    if (found) return std::move(*found);
  }
  return std::nullopt;
}

Status keep(const ArtifactCache& cache, const Json& key, const Json& taken) {
  const std::string file = list_file(cache, key);
  const FileLock::Wait wait{.deadline_ns = monotonic_ns() + kLockNs, .keep_waiting = {}};
  ASSAY_TRY(const FileLock lock, FileLock::lock(file + ".lock", wait));
  Json sets = Json::array({taken});
  const std::string digest = digest_of_inputs(taken);
  for (Json& earlier : sets_in(file))
    if (sets.size() < kMostSets && digest_of_inputs(earlier) != digest)
      sets.push_back(std::move(earlier));
  return write_file_atomic(file, canonical_bytes(sets));
}

// What was built, before its place in the cache is known.
struct Draft {
  ArtifactCache::Built built;
  std::string bytes, digest;
  Json taken;  // Null: the inputs are not all known.
};

Result<Draft> draft_of(const TracedBuilder& builder, const std::filesystem::path& folder) {
  const std::int64_t start_ns = system_ns();
  ASSAY_TRY(TracedBuilt made, builder(folder));
  Draft draft;
  if (made.inputs.incomplete) {
    draft.digest = "unknown " + std::to_string(std::random_device{}());
  } else {
    ASSAY_TRY(draft.taken, take_inputs(made.inputs, start_ns));
    draft.digest = digest_of_inputs(draft.taken);
  }
  ASSAY_TRY(draft.bytes, read_file((folder / made.built.file_name).string()));
  draft.built = std::move(made.built);
  return draft;
}

// In a folder of the cache, which keeps nothing of it: an entry's key needs what was read.
Result<Draft> build(const ArtifactCache& cache, const Json& key, const TracedBuilder& builder) {
  Result<Draft> draft = fail(ErrorCode::internal, "nothing was built");
  const auto ended = cache.get_or_build(
      key, [&](const std::filesystem::path& folder) -> Result<ArtifactCache::Built> {
        for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
          draft = draft_of(builder, folder);
          if (draft || draft.error().code != ErrorCode::busy) break;
          // A file that was written a moment before cannot be told from one that changes.
          std::this_thread::sleep_for(kFileClockTick);
        }
        return fail(ErrorCode::interrupted, "its place is not known yet");
      });
  if (ended) return fail(ErrorCode::internal, "an entry without its inputs is in the cache");
  if (ended.error().code != ErrorCode::interrupted) return fail(ended.error());
  return draft;
}

}  // namespace

Result<Artifact> get_or_build_traced(const ArtifactCache& cache, const Json& key,
                                     const TracedBuilder& builder, const TextHash& text_hash) {
  if (auto found = find(cache, key, text_hash)) return std::move(*found);
  ASSAY_TRY(const Draft draft, build(cache, key, builder));
  ASSAY_TRY(
      Artifact artifact,
      cache.get_or_build(with_inputs(key, draft.digest),
                         [&](const std::filesystem::path& folder) -> Result<ArtifactCache::Built> {
                           const auto file = folder / draft.built.file_name;
                           ASSAY_TRY(write_file_atomic(file.string(), draft.bytes));
                           return draft.built;
                         }));
  if (draft.taken.is_null()) return artifact;
  if (auto kept = keep(cache, key, draft.taken); !kept)
    return fail(with_context(std::move(kept).error(), "artifact cache"));
  return artifact;
}

}  // namespace assay
