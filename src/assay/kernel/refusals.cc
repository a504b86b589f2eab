#include "assay/kernel/refusals.h"

#include <algorithm>
#include <array>
#include <span>

#include "assay/base/checked.h"
#include "assay/base/text.h"

namespace assay {
namespace {

constexpr std::string_view kReasons[] = {
    "operation",
    "dtype",
    "accumulate",
    "layout",
    "stride",
    "divisibility",
    "alignment",
    "size",
    "batch",
    "epilogue",
    "scalars",
    "target",
    "not_constant",
    "preparation_class",
    "dependent_launch_class",
    "threads",
    "workspace",
    "filter",
    "library_missing",
    "library_version",
    "compiler_missing",
    "constraint",
    "provider",
    "not_built",
    "other",
};
static_assert(std::size(kReasons) == static_cast<size_t>(Reason::other) + 1);

}  // namespace

std::string_view to_string(Reason reason) {
  const auto at = static_cast<size_t>(reason);
  return at < std::size(kReasons) ? kReasons[at] : "other";
}

Result<Reason> parse_reason(std::string_view text) {
  const auto* found = std::find(std::begin(kReasons), std::end(kReasons), text);
  if (found != std::end(kReasons)) {
    return static_cast<Reason>(found - std::begin(kReasons));
  }
  return fail(ErrorCode::invalid_input, "unknown refusal reason '{}'{}", sanitize(text, 60),
              did_you_mean(text, std::span<const std::string_view>(kReasons)));
}

void RefusalCounts::add(Reason reason, int64_t count, std::string_view example) {
  if (count <= 0) return;
  RefusalCount& entry = counts_[reason];
  // A count beyond 64 bits can only come from a file; it stays at the largest.
  entry.count = checked_add(entry.count, count).value_or(std::numeric_limits<int64_t>::max());
  if (entry.example.empty()) entry.example = example;
}

void RefusalCounts::merge(const RefusalCounts& other) {
  for (const auto& [reason, entry] : other.counts_) add(reason, entry.count, entry.example);
}

int64_t RefusalCounts::total() const {
  int64_t total = 0;
  for (const auto& [reason, entry] : counts_) {
    total = checked_add(total, entry.count).value_or(std::numeric_limits<int64_t>::max());
  }
  return total;
}

Json RefusalCounts::to_json() const {
  Json json = Json::object();
  for (const auto& [reason, entry] : counts_) {
    json[std::string(to_string(reason))] = {{"count", entry.count}, {"example", entry.example}};
  }
  return json;
}

Result<RefusalCounts> RefusalCounts::from_json(const Json& json) {
  JsonDocument document;
  document.root = json;
  document.origin = "refusals";
  const JsonField root(document);
  RefusalCounts counts;
  ASSAY_TRY(auto members, root.members());
  for (const auto& [name, field] : members) {
    auto reason = parse_reason(name);
    if (!reason) return fail(field.error(ErrorCode::invalid_input, reason.error().message));
    ASSAY_TRY(auto count_field, field.at("count"));
    ASSAY_TRY(int64_t count, count_field.as_int64(1));
    std::string example;
    if (auto example_field = field.find("example")) {
      ASSAY_TRY(example, example_field->as_string());
    }
    counts.add(*reason, count, example);
  }
  return counts;
}

}  // namespace assay
