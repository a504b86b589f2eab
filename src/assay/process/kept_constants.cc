#include "assay/process/kept_constants.h"

#include <algorithm>
#include <utility>

namespace assay::sweep {

std::vector<process::FindConstants::Answer::Part> parts_of(ConstantBytes parts) {
  std::erase_if(parts, [](const auto& part) { return part.empty(); });
  std::ranges::sort(parts, {}, [](const auto& part) { return part.data(); });
  ConstantBytes joined;
  for (const auto& part : parts) {
    if (!joined.empty() && part.data() <= joined.back().data() + joined.back().size())
      joined.back() = {joined.back().data(), std::max(joined.back().data() + joined.back().size(),
                                                      part.data() + part.size())};
    else
      joined.push_back(part);
  }
  std::vector<process::FindConstants::Answer::Part> told;
  for (const auto& part : joined)
    told.push_back({reinterpret_cast<uint64_t>(part.data()), part.size()});
  return told;
}

std::optional<KeptConstants> KeptConstants::remember(
    std::span<const process::FindConstants::Answer::Part> parts, const Child& process) {
  KeptConstants kept;
  for (const auto& part : parts) {
    auto bytes = process.read_memory(part.address, part.bytes);
    if (!bytes) return std::nullopt;
    kept.parts_.push_back({part.address, std::move(*bytes)});
  }
  return kept;
}

bool KeptConstants::changed(const Child& process) const {
  return std::ranges::any_of(parts_, [&](const Part& part) {
    const auto now = process.read_memory(part.address, part.bytes.size());
    return now && *now != part.bytes;
  });
}

}  // namespace assay::sweep
