#include "assay/sweep/kept_constants.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace assay::sweep {
namespace {

constexpr size_t kMostParts = 4096, kMostBytes = size_t{1} << 22;

}  // namespace

Json to_json(ConstantBytes parts) {
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
  Json json = Json::array();
  for (const auto& part : joined)
    json.push_back({reinterpret_cast<uint64_t>(part.data()), part.size()});
  return json;
}

std::optional<KeptConstants> KeptConstants::remember(const Json& parts, const Child& process) {
  if (!parts.is_array() || parts.size() > kMostParts) return std::nullopt;
  KeptConstants kept;
  size_t all = 0;
  for (const Json& part : parts) {
    if (!part.is_array() || part.size() != 2 || !part[0].is_number_unsigned() ||
        !part[1].is_number_unsigned() || part[1].get<uint64_t>() > kMostBytes)
      return std::nullopt;
    all += part[1].get<size_t>();
    if (all > kMostBytes) return std::nullopt;
    auto bytes = process.read_memory(part[0].get<uint64_t>(), part[1].get<size_t>());
    if (!bytes) return std::nullopt;
    kept.parts_.push_back({part[0].get<uint64_t>(), std::move(*bytes)});
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
