#include "assay/measure/environment.h"

#include <cstdlib>
#include <sys/utsname.h>
#include <thread>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/text.h"

namespace assay::measure {
namespace {

// Files under /proc and /sys are short; what cannot be read is empty.
std::string first_line(const std::string& path) {
  const auto text = read_file(path, 1 << 20);
  if (!text) return {};
  return std::string(trim(std::string_view(*text).substr(0, text->find('\n'))));
}

// The value of KEY in /etc/os-release, without quotes.
std::string os_release(std::string_view key) {
  const auto text = read_file("/etc/os-release", 1 << 16);
  if (!text) return {};
  for (const auto& line : split(*text, '\n')) {
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != '=') continue;
    std::string value(line.substr(key.size() + 1));
    std::erase(value, '"');
    return value;
  }
  return {};
}

double clock_mhz() {
  if (const std::string khz = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
      !khz.empty())
    return std::strtod(khz.c_str(), nullptr) / 1000;
  const auto text = read_file("/proc/cpuinfo", 16 << 20);
  if (!text) return 0;
  const auto at = text->find("cpu MHz");
  const auto colon = at == std::string::npos ? at : text->find(':', at);
  return colon == std::string::npos ? 0 : std::strtod(text->c_str() + colon + 1, nullptr);
}

// [always] madvise never: the word in brackets is in force.
std::string huge_pages() {
  const std::string line = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const auto open = line.find('['), close = line.find(']');
  if (open == std::string::npos || close == std::string::npos) return {};
  const std::string mode = line.substr(open + 1, close - open - 1);
  return mode == "never" ? "refused by the system" : fmt::format("advised (system: {})", mode);
}

}  // namespace

double other_load() {
  const std::string line = first_line("/proc/loadavg");
  return line.empty() ? 0 : std::strtod(line.c_str(), nullptr);
}

Environment read_machine(bool on_gpu) {
  Environment environment;
  environment.system = os_release("PRETTY_NAME");
  utsname names{};
  if (::uname(&names) == 0) environment.os_kernel = names.release;
  environment.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  environment.clock_mhz = clock_mhz();
  environment.huge_pages = huge_pages();
  environment.load_before = other_load();
  if (environment.governor == "powersave")
    environment.warnings.push_back(
        "the CPU governor is powersave: times are slow and swing; set it to performance");
  const double most_load = on_gpu ? std::thread::hardware_concurrency() / 2.0 : 0.7;
  if (environment.load_before > most_load)
    environment.warnings.push_back(
        fmt::format("the machine had a load of {:.1f} before the run: expect spoiled rounds and "
                    "wider intervals",
                    environment.load_before));
  return environment;
}

}  // namespace assay::measure
