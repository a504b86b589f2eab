#include "assay/worker/own_memory.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <linux/sockios.h>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <utility>

#include "assay/base/file.h"
#include "assay/process/memory_map.h"

namespace assay::sweep {
namespace {

constexpr long kTmpfs = 0x01021994;
constexpr int64_t kBlock = 512;  // stat(2) counts in these.

int64_t kilobytes_in(std::string_view status, std::string_view field) {
  const size_t at = status.find(field);
  if (at == std::string_view::npos) return 0;
  return std::strtoll(status.data() + at + field.size(), nullptr, 10) << 10;
}

using File = std::pair<dev_t, ino_t>;

// Files that are mapped, and how much of them.
std::map<File, int64_t> mapped_files() {
  std::map<File, int64_t> files;
  for (const OwnMapping& mapping : read_memory_map())
    if (mapping.inode != 0)
      files[{mapping.device, mapping.inode}] += static_cast<int64_t>(mapping.end - mapping.begin);
  return files;
}

// The folder of shared memory, which is this process's own where it is confined: files without
// names are seen there, too.
struct SharedFolder {
  dev_t device = 0;
  int64_t bytes = 0;
  static SharedFolder look() {
    struct statfs system {};
    struct stat facts {};
    if (::statfs("/dev/shm", &system) != 0 || system.f_type != kTmpfs ||
        ::stat("/dev/shm", &facts) != 0)
      return {};
    return {facts.st_dev, static_cast<int64_t>(system.f_blocks - system.f_bfree) * system.f_bsize};
  }
};

// What is mapped is among the resident pages; here is the rest.
int64_t in_files_and_sockets() {
  const std::map<File, int64_t> mapped = mapped_files();
  const SharedFolder shared = SharedFolder::look();
  int64_t of_folder = shared.bytes;
  for (const auto& [file, size] : mapped)
    if (file.first == shared.device) of_folder -= size;
  int64_t bytes = std::max<int64_t>(of_folder, 0);
  std::set<File> known;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    struct stat facts {};
    if (::fstat(fd, &facts) != 0) continue;
    int waiting = 0;
    if (S_ISSOCK(facts.st_mode) && ::ioctl(fd, SIOCOUTQ, &waiting) == 0) bytes += waiting;
    const File file{facts.st_dev, facts.st_ino};
    if (S_ISFIFO(facts.st_mode) && known.insert(file).second &&
        ::ioctl(fd, FIONREAD, &waiting) == 0)
      bytes += waiting;
    if (!S_ISREG(facts.st_mode) || file.first == shared.device || mapped.contains(file) ||
        !known.insert(file).second)
      continue;
    struct statfs system {};
    if (::fstatfs(fd, &system) == 0 && system.f_type == kTmpfs) bytes += facts.st_blocks * kBlock;
  }
  return bytes;
}

}  // namespace

int64_t resident_memory() {
  const auto status = read_file("/proc/self/status", 1 << 16);
  int64_t bytes = 0;
  for (const char* field : {"RssAnon:", "RssShmem:", "HugetlbPages:", "VmSwap:"})
    if (status) bytes += kilobytes_in(*status, field);
  return bytes;
}

std::vector<UniqueFd> open_memory_files() {
  std::set<File> known;
  std::vector<UniqueFd> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    struct stat facts {};
    struct statfs system {};
    if (::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || ::fstatfs(fd, &system) != 0 ||
        system.f_type != kTmpfs || !known.emplace(facts.st_dev, facts.st_ino).second)
      continue;
    files.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  }
  return files;
}

int64_t held_memory() { return resident_memory() + in_files_and_sockets(); }

int64_t OwnMemory::grown(int64_t known) const {
  return std::max<int64_t>(now() - before_ - known, 0);
}

}  // namespace assay::sweep
