#include "assay/measure/kept_ceilings.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/json.h"

namespace assay::measure {
namespace {

constexpr const char* kSchema = "assay.ceilings/1";
constexpr std::size_t kMostBytes = 1 << 20;
constexpr double kMostValue = 1e18;  // Of bytes or operations a second.

double number(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return 0;
  const double value = found->get<double>();
  return std::isfinite(value) && value > 0 && value < kMostValue ? value : 0;
}

std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<Reading> read_kept(const std::string& path) {
  std::vector<Reading> kept;
  const auto bytes = read_file(path, kMostBytes);
  const Json file = bytes ? Json::parse(*bytes, nullptr, false) : Json();
  if (!file.is_object() || text(file, "schema") != kSchema) return kept;
  const auto list = file.find("ceilings");
  if (list == file.end() || !list->is_array()) return kept;
  for (const Json& one : *list) {
    if (!one.is_object() || number(one, "value") <= 0) continue;
    kept.push_back({.ceiling = {.name = text(one, "name"),
                                .value = number(one, "value"),
                                .unit = text(one, "unit"),
                                .threads = static_cast<int>(std::min(number(one, "threads"), 1e6)),
                                .from = text(one, "from"),
                                .until = text(one, "until"),
                                .load = number(one, "load")},
                    .largest = std::max(number(one, "value"), number(one, "largest"))});
  }
  return kept;
}

std::string file_text(const std::vector<Reading>& kept) {
  Json list = Json::array();
  for (const auto& [ceiling, largest] : kept)
    list.push_back({{"name", ceiling.name},
                    {"value", ceiling.value},
                    {"largest", largest},
                    {"unit", ceiling.unit},
                    {"threads", ceiling.threads},
                    {"from", ceiling.from},
                    {"until", ceiling.until},
                    {"load", ceiling.load}});
  return Json({{"schema", kSchema}, {"ceilings", std::move(list)}}).dump(2) + '\n';
}

Reading* same_as(std::vector<Reading>& kept, const Ceiling& ceiling) {
  const auto found = std::ranges::find_if(kept, [&](const Reading& reading) {
    return reading.ceiling.name == ceiling.name && reading.ceiling.threads == ceiling.threads;
  });
  return found == kept.end() ? nullptr : &*found;
}

std::vector<Ceiling> ceilings_of(const std::vector<Reading>& readings) {
  std::vector<Ceiling> ceilings;
  for (const Reading& reading : readings) ceilings.push_back(reading.ceiling);
  return ceilings;
}

}  // namespace

std::string kept_ceilings_path(const std::filesystem::path& cache, const std::string& device_id) {
  if (cache.empty()) return {};
  return (cache / "ceilings" / ("cpu-" + sha256_hex(device_id).substr(0, 16) + ".json")).string();
}

std::vector<Ceiling> keep_ceilings(const std::string& path, const std::vector<Reading>& readings) {
  if (path.empty() || !make_directories(std::filesystem::path(path).parent_path().string()))
    return ceilings_of(readings);
  // Two runs at once must not lose each other's.
  const auto lock = FileLock::lock(path + ".lock", {});
  std::vector<Reading> kept = read_kept(path), now;
  for (const Reading& reading : readings) {
    Reading* before = same_as(kept, reading.ceiling);
    now.push_back(before == nullptr ? reading : merge(*before, reading));
    if (before == nullptr)
      kept.push_back(now.back());
    else
      *before = now.back();
  }
  if (lock) (void)write_file_atomic(path, file_text(kept));
  return ceilings_of(now);
}

std::vector<Ceiling> kept_ceilings(const std::string& path, int threads) {
  std::vector<Ceiling> ceilings =
      path.empty() ? std::vector<Ceiling>() : ceilings_of(read_kept(path));
  std::erase_if(ceilings, [&](const Ceiling& one) { return one.threads != threads; });
  return ceilings;
}

void forget_ceilings(const std::string& path) {
  std::error_code ignored;
  if (!path.empty()) std::filesystem::remove(path, ignored);
}

}  // namespace assay::measure
