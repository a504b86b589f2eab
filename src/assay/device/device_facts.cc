#include "assay/device/device_facts.h"

#include <charconv>
#include <string_view>

#include <nlohmann/json.hpp>

namespace assay {
namespace {

double number(const Json& details, const char* key) {
  const auto found = details.find(key);
  return found != details.end() && found->is_number() ? found->get<double>() : 0;
}

double leading_number(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

DeviceFacts facts_of(const Fingerprint& fingerprint) {
  DeviceFacts facts;
  facts.name = fingerprint.name;
  const Json& details = fingerprint.details;
  if (fingerprint.kind != "gpu" || !details.is_object()) return facts;
  const auto capability = details.find("compute_capability");
  if (capability != details.end() && capability->is_string())
    facts.capability = leading_number(capability->get_ref<const std::string&>());
  facts.multiprocessors = number(details, "multiprocessors");
  facts.clock_hz = 1e3 * number(details, "clock_khz");
  // Two transfers a clock over the bus.
  facts.bytes_per_second =
      2e3 * number(details, "memory_clock_khz") * number(details, "memory_bus_bits") / 8;
  return facts;
}

DeviceFacts facts_of(const Device& device) {
  DeviceFacts facts = facts_of(device.fingerprint());
  facts.target = device.target();
  facts.l2_bytes = static_cast<double>(device.last_level_cache_bytes());
  return facts;
}

DeviceFacts facts_of(const Target& target) {
  DeviceFacts facts;
  facts.target = target;
  constexpr std::string_view kGpu = "sm_";
  // Two digits, or three from 10.0 on; a letter may follow.
  if (target.arch.starts_with(kGpu))
    facts.capability = leading_number(std::string_view(target.arch).substr(kGpu.size())) / 10;
  return facts;
}

}  // namespace assay
