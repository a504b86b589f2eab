#include "generation.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "providers/cutlass/generations.h"

namespace assay::cutlass {

std::span<const Generation* const> generations() {
  static const std::vector<const Generation*> all = [] {
    std::vector<const Generation*> found = generations_there_are();
    std::ranges::stable_partition(found, [](const Generation* one) { return one->level.empty(); });
    return found;
  }();
  return all;
}

std::vector<Target> Generation::parsed_targets() const {
  std::vector<Target> parsed;
  for (const std::string_view target : targets) parsed.push_back(*Target::parse(target));
  return parsed;
}

std::string Generation::code_for(const Target& target) const {
  for (const Code& code : codes)
    if (target.arch.starts_with(code.architecture)) return std::string(code.code);
  return std::string(codes.back().code);
}

const Generation& generation_of(const KernelMetadata& row) {
  const std::string_view schedule = row.design.text("schedule", "");
  for (const Generation* generation : generations())
    if (std::ranges::find(generation->schedules, schedule) != generation->schedules.end())
      return *generation;
  return *generations().front();
}

std::string_view body_of(std::string_view code) {
  for (const Generation* generation : generations())
    if (std::ranges::find(generation->codes, code, &Code::code) != generation->codes.end())
      return generation->body;
  return {};
}

Runtime runtime_of(const KernelMetadata& row) {
  return {row.design.text("raster", "heuristic"), row.design.integer("swizzle", 1),
          row.design.integer("split_k", 1)};
}

int64_t tiles(int64_t size, int64_t tile, int64_t group) {
  const int64_t count = (size + tile - 1) / tile;
  return (count + group - 1) / group * group;
}

bool read_number(std::string_view word, int least, int& number) {
  const char* const end = word.data() + word.size();
  const auto [behind, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && behind == end && number >= least && number <= 1024;
}

}  // namespace assay::cutlass
