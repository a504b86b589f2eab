#include "assay/kernel/device_code/resources.h"

#include <regex>

#include <nlohmann/json.hpp>

namespace assay::device_code {

void add_resources(const std::string& log, Json& facts) {
  const auto number = [&](const char* pattern, const char* name) {
    std::smatch found;
    if (std::regex_search(log, found, std::regex(pattern)))
      facts[name] = std::stoll(found[1].str());
  };
  number(R"(Used (\d{1,9}) registers)", "registers");
  number(R"((\d{1,9}) bytes spill stores)", "spill_store_bytes");
  number(R"((\d{1,9}) bytes spill loads)", "spill_load_bytes");
  number(R"((\d{1,9}) bytes smem)", "static_shared_bytes");
}

}  // namespace assay::device_code
