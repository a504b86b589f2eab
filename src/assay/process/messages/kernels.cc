#include "assay/process/messages/kernels.h"

#include <utility>

#include "assay/kernel/kernel_choice_archive.h"
#include "assay/kernel/metadata_table.h"
#include "assay/process/messages/describe.h"

namespace assay::process {
namespace {

// Of a list that stands for another one.
Status check_count(size_t got, size_t asked, std::string_view what) {
  if (got == asked) return {};
  return fail(ErrorCode::invalid_input, "{} {} for {} kernels", got, what, asked);
}

}  // namespace

// Rows are written together, each block with the role of its family.
Json write_value(const std::vector<OfferedKernel>& kernels, RecordTag) {
  std::vector<KernelMetadata> rows;
  std::map<std::pair<std::string_view, std::string_view>, ProviderRole> roles;
  rows.reserve(kernels.size());
  for (const OfferedKernel& kernel : kernels) {
    rows.push_back(kernel.metadata);
    roles[{kernel.metadata.provider(), kernel.metadata.family()}] = kernel.role;
  }
  Json table = table_json(rows);
  for (Json& block : table) {
    const Json& shared = block["shared"];
    block["role"] = to_string(roles.at({shared["provider"].get_ref<const std::string&>(),
                                        shared["family"].get_ref<const std::string&>()}));
  }
  return table;
}

Status read_value(const JsonField& field, std::vector<OfferedKernel>& kernels) {
  const auto take = [&](const Json& block, KernelMetadata metadata) -> Status {
    const auto told = block.find("role");
    if (told == block.end() || !told->is_string())
      return fail(ErrorCode::invalid_input, "kernels of no role");
    ASSAY_TRY(const ProviderRole role, parse_provider_role(told->get_ref<const std::string&>()));
    kernels.push_back({std::move(metadata), role});
    return {};
  };
  kernels.clear();
  if (const Status read = read_table(field.json(), take); !read)
    return fail(in_field(field, read.error()));
  return {};
}

template <class A, archive::Is<Discover> T>
void describe(A& archive, T& discover) {
  archive("problem", discover.problem);
  archive("filter", discover.filter);
  archive("families", discover.families);
  archive("only", discover.only);
  archive("target", discover.target);
}

template <class A, archive::Is<Discover::Answer> T>
void describe(A& archive, T& answer) {
  archive("kernels", answer.kernels);
  archive("refusals", answer.refusals);
  archive("missing", answer.missing, kSentence);
}

template <class A, archive::Is<Compile> T>
void describe(A& archive, T& compile) {
  archive("problem", compile.problem);
  archive("row", compile.row);
}

template <class A, archive::Is<Compile::Answer> T>
void describe(A& archive, T& answer) {
  archive("artifact", answer.artifact);
}

template <class A, archive::Is<Prebuild> T>
void describe(A& archive, T& prebuild) {
  archive("problem", prebuild.problem);
  archive("rows", prebuild.rows);
}

template <class A, archive::Is<Prebuild::Answer::Built> T>
void describe(A& archive, T& built) {
  archive("artifact", built.artifact);
  archive("failed", built.failed);
  archive("seconds", built.seconds, archive::kNotNegative);
}

template <class A, archive::Is<Prebuild::Answer> T>
void describe(A& archive, T& answer) {
  archive("kernels", answer.kernels);
}

Status Prebuild::check(const Answer& answer) const {
  return check_count(answer.kernels.size(), rows.size(), "artifacts");
}

template <class A, archive::Is<FindCached> T>
void describe(A& archive, T& find) {
  archive("problem", find.problem);
  archive("rows", find.rows);
}

template <class A, archive::Is<FindCached::Answer> T>
void describe(A& archive, T& answer) {
  archive("cached", answer.cached);
}

Status FindCached::check(const Answer& answer) const {
  return check_count(answer.cached.size(), rows.size(), "looks into the cache");
}

template <class A, archive::Is<AskedRanker> T>
void describe(A& archive, T& ranker) {
  archive("name", ranker.name);
  archive("settings", ranker.settings);
}

template <class A, archive::Is<FoundRanker> T>
void describe(A& archive, T& found) {
  archive("missing", found.missing, kSentence);
  archive("version", found.version, kSentence);
  archive("path", found.path, kSentence);
}

template <class A, archive::Is<FindRanker> T>
void describe(A& archive, T& find) {
  archive("ranker", find.ranker);
}

template <class A, archive::Is<FindRanker::Answer> T>
void describe(A& archive, T& answer) {
  archive("found", answer.found);
}

template <class A, archive::Is<Rank> T>
void describe(A& archive, T& rank) {
  archive("problem", rank.problem);
  archive("ranker", rank.ranker);
  archive("kernels", rank.kernels);
  archive("count", rank.count);
  archive("target", rank.target);
}

template <class A, archive::Is<Rank::Answer> T>
void describe(A& archive, T& answer) {
  archive("found", answer.found);
  archive("costs", answer.costs);
  archive("unscored", answer.unscored, archive::kNotNegative);
}

Status Rank::check(const Answer& answer) const {
  return answer.found.missing ? Status() : check_count(answer.costs.size(), count, "costs");
}

template <class A, archive::Is<ExportKernel> T>
void describe(A& archive, T& export_kernel) {
  archive("problem", export_kernel.problem);
  archive("row", export_kernel.row);
}

template <class A, archive::Is<ExportKernel::Answer> T>
void describe(A& archive, T& answer) {
  archive("made", answer.made);
}

ASSAY_MESSAGE(Discover);
ASSAY_MESSAGE(Discover::Answer);
ASSAY_MESSAGE(Compile);
ASSAY_MESSAGE(Compile::Answer);
ASSAY_MESSAGE(Prebuild);
ASSAY_MESSAGE(Prebuild::Answer);
ASSAY_MESSAGE(FindCached);
ASSAY_MESSAGE(FindCached::Answer);
ASSAY_MESSAGE(FindRanker);
ASSAY_MESSAGE(FindRanker::Answer);
ASSAY_MESSAGE(Rank);
ASSAY_MESSAGE(Rank::Answer);
ASSAY_MESSAGE(ExportKernel);
ASSAY_MESSAGE(ExportKernel::Answer);

}  // namespace assay::process
