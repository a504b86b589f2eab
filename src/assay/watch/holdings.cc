#include "assay/watch/holdings.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/text.h"

namespace assay::sweep {
namespace {

// What a library's first call takes: its pool's stacks, a heap for each thread, its own buffers.
constexpr int64_t kUsualBytes = int64_t{32} << 20;
constexpr int64_t kUsualMappings = 256, kUsualDescriptors = 16;
constexpr int64_t kSplitBytes = int64_t{16} << 20;
constexpr size_t kMostText = size_t{16} << 20;

// "Name:   123 kB", of /proc/PID/status and its like; 0 where it is not there.
int64_t number_in(const std::string& text, const std::string& name) {
  const size_t at = text.find(name);
  return at == std::string::npos ? 0 : std::strtoll(text.c_str() + at + name.size(), nullptr, 10);
}

}  // namespace

std::optional<Holdings> Holdings::of(pid_t process) {
  const std::string folder = fmt::format("/proc/{}/", process);
  const auto status = read_file(folder + "status", kMostText);
  const auto maps = read_file(folder + "maps", kMostText);
  const auto pages = read_file(folder + "smaps_rollup", kMostText);
  std::error_code error;
  const std::filesystem::directory_iterator descriptors(folder + "fd", error);
  if (!status || !maps || !pages || error) return std::nullopt;
  constexpr int64_t kKib = 1024;
  Holdings holdings;
  // Pages of files come with whoever reads them (code_pages.h does), and go when others need room.
  holdings.resident_bytes =
      (number_in(*status, "\nRssAnon:") + number_in(*status, "\nRssShmem:")) * kKib;
  holdings.threads = number_in(*status, "\nThreads:");
  holdings.huge_bytes = number_in(*pages, "\nAnonHugePages:") * kKib;
  holdings.mappings = std::ranges::count(*maps, '\n');
  holdings.descriptors = std::distance(begin(descriptors), end(descriptors));
  return holdings;
}

std::string Holdings::grown_since(const Holdings& before, int64_t declared_bytes) const {
  std::vector<std::string> grown;
  const int64_t bytes = resident_bytes - before.resident_bytes - declared_bytes;
  if (bytes > kUsualBytes) grown.push_back(fmt::format("{} MiB of memory", bytes >> 20));
  if (mappings - before.mappings > kUsualMappings)
    grown.push_back(fmt::format("{} mappings", mappings - before.mappings));
  if (descriptors - before.descriptors > kUsualDescriptors)
    grown.push_back(fmt::format("{} descriptors", descriptors - before.descriptors));
  if (before.huge_bytes - huge_bytes > kSplitBytes)
    grown.push_back(fmt::format("{} MiB of huge pages, which it split",
                                (before.huge_bytes - huge_bytes) >> 20));
  return join(grown, ", ");
}

}  // namespace assay::sweep
