#include "settings.h"

#include "assay/base/text.h"

namespace assay::cutlass {
namespace {

const std::string& value_of(const ProviderSettings& settings, const std::string& name,
                            const std::string& otherwise) {
  const auto found = settings.find(name);
  return found == settings.end() ? otherwise : found->second;
}

Result<bool> choice(const ProviderSettings& settings, const std::string& name,
                    const std::string& otherwise, const std::string& other) {
  const std::string& text = value_of(settings, name, otherwise);
  if (text == otherwise || text == other) return text == other;
  return fail(ErrorCode::invalid_input, "cutlass: {}: '{}' is neither {} nor {}", name,
              sanitize(text, 80), otherwise, other);
}

}  // namespace

Result<Settings> Settings::parse(const ProviderSettings& settings) {
  Settings parsed;
  ASSAY_TRY(parsed.whole_space, choice(settings, "space", "default", "max"));
  ASSAY_TRY(parsed.searches_runtime, choice(settings, "runtime", "default", "search"));
  ASSAY_TRY(parsed.sm80_on_hopper, choice(settings, "ampere", "older", "all"));
  parsed.directory = value_of(settings, "directory", "");
  parsed.nvcc = value_of(settings, "nvcc", "");
  parsed.pool = value_of(settings, "pool", "");
  parsed.cache = value_of(settings, "cache", "");
  if (const auto pythons = settings.find("pythons"); pythons != settings.end())
    parsed.pythons.insert(*pythons);
  return parsed;
}

}  // namespace assay::cutlass
