#include "assay/process/code_pages.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <map>
#include <mutex>
#include <poll.h>
#include <set>
#include <sys/syscall.h>
#include <tuple>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"

namespace assay::sweep {
namespace {

constexpr size_t kMostText = size_t{64} << 20;        // Of a process with some 60,000 mappings.
constexpr int64_t kMostKilobytes = int64_t{1} << 40;  // Of a mapping: more than addresses reach.
constexpr size_t kBlock = size_t{1} << 20;
constexpr int64_t kStopNs = 10 * kNsPerSecond;
constexpr long kSendByDescriptor = 424;  // pidfd_send_signal(2), Linux 5.1.
constexpr std::string_view kClock = "[vdso]", kClockData = "[vvar";

// "NAME:   123 kB".
int64_t bytes_in(std::string_view line) {
  const size_t digits = line.find_first_of("0123456789");
  int64_t kilobytes = 0;
  if (digits != std::string_view::npos)
    std::from_chars(line.data() + digits, line.data() + line.size(), kilobytes);
  return std::min(kilobytes, kMostKilobytes) << 10;
}

std::string_view next_word(std::string_view& rest) {
  const size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
  const size_t end = std::min(rest.find(' ', begin), rest.size());
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

// "BEGIN-END RIGHTS OFFSET DEVICE INODE   NAME". False for any other line.
bool read_head(std::string_view line, Mapping& mapping) {
  const std::string_view range = next_word(line);
  const char* const end = range.data() + range.size();
  const auto first = std::from_chars(range.data(), end, mapping.begin, 16);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return false;
  if (std::from_chars(first.ptr + 1, end, mapping.end, 16).ec != std::errc()) return false;
  mapping.rights = next_word(line);
  const std::string_view offset = next_word(line);
  std::from_chars(offset.data(), offset.data() + offset.size(), mapping.offset, 16);
  mapping.file = next_word(line);
  mapping.file += ' ';
  mapping.file += next_word(line);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  // A file that was replaced since keeps its number: it is the same one.
  constexpr std::string_view kReplaced = " (deleted)";
  if (line.ends_with(kReplaced)) line.remove_suffix(kReplaced.size());
  mapping.name = line;
  return true;
}

Result<std::string> read_again(int fd) {
  std::string text;
  std::array<char, size_t{1} << 16> buffer;
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ErrorCode::machine, "a worker's mappings: {}", errno_text(errno));
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
    at += got;
    if (text.size() > kMostText) return fail(ErrorCode::machine, "a worker has too many mappings");
  }
}

// 0 is nobody's hash: of pages that cannot be read.
uint64_t hash_of(int memory, const Mapping& mapping) {
  uint64_t hash = 1;
  std::vector<std::byte> block(kBlock);
  for (std::uintptr_t at = mapping.begin; at < mapping.end;) {
    const size_t wanted = std::min(block.size(), mapping.end - at);
    const ssize_t got = ::pread(memory, block.data(), wanted, static_cast<off_t>(at));
    if (got <= 0) return 0;
    hash = fast_hash(std::span<const std::byte>(block).first(static_cast<size_t>(got)), hash);
    at += static_cast<std::uintptr_t>(got);
  }
  return hash == 0 ? 1 : hash;
}

// What nothing can be timed without is read, all of it. Reading maps what was not there yet; the
// code of other libraries is known to be the file's by how many of its pages are not.
bool is_read(const Mapping& mapping, const std::string& program) {
  if (!mapping.may_run() || mapping.name == kClock || mapping.file == program) return true;
  const std::string_view name = std::string_view(mapping.name).substr(mapping.name.rfind('/') + 1);
  constexpr std::string_view kKnown[] = {"ld-linux",      "libc.so",     "libm.so",
                                         "libpthread.so", "libgcc_s.so", "libstdc++.so"};
  return std::ranges::any_of(kKnown,
                             [&](std::string_view known) { return name.starts_with(known); });
}

// Of a mapping that is as in its file: read once, and not for each process that maps it.
uint64_t hash_of_file(int memory, const Mapping& mapping) {
  static std::mutex mutex;
  static std::map<std::tuple<std::string, uint64_t, std::uintptr_t>, uint64_t> known;
  const std::lock_guard hold(mutex);
  const auto [at, first] =
      known.try_emplace({mapping.file, mapping.offset, mapping.end - mapping.begin});
  if (first) at->second = hash_of(memory, mapping);
  return at->second;
}

bool is_as_in_file(const Mapping& mapping) {
  return mapping.anonymous == 0 && mapping.name != kClock;
}

// A process all of whose threads stand still, until this goes out of scope. One that stood still
// already goes on doing so.
class Stopped {
 public:
  Stopped(pid_t pid, int process) : pid_(pid), process_(process), stood_(stands()) {
    if (!stood_) send(SIGSTOP);
  }
  Stopped(const Stopped&) = delete;
  ~Stopped() {
    if (!stood_) send(SIGCONT);
  }

  // False where it does not, or has ended.
  bool wait() const {
    pollfd ended{process_, POLLIN, 0};
    for (const int64_t deadline = monotonic_ns() + kStopNs; monotonic_ns() < deadline;) {
      if (stands()) return true;
      if (::poll(&ended, 1, 0) != 0) return false;
      ::usleep(100);
    }
    return false;
  }

 private:
  bool stands() const {
    std::error_code error;
    const auto tasks = fmt::format("/proc/{}/task", pid_);
    for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
      const auto text = read_file((task.path() / "stat").string(), 4096);
      const auto name_end = text ? text->rfind(')') : std::string::npos;
      if (name_end == std::string::npos || name_end + 2 >= text->size()) continue;  // It has ended.
      if (const char state = (*text)[name_end + 2]; state != 'T' && state != 't') return false;
    }
    return !error;
  }
  void send(int signal) const { ::syscall(kSendByDescriptor, process_, signal, nullptr, 0U); }

  pid_t pid_;
  int process_;
  bool stood_;
};

std::string name_of(const Mapping& mapping) {
  return mapping.name.empty() ? "memory" : sanitize(mapping.name, 200);
}

// So many of its bytes are still mapped from the same place, with the same rights.
std::uintptr_t still_mapped(const Mapping& before, const std::vector<Mapping>& now) {
  std::uintptr_t bytes = 0;
  for (const Mapping& one : now) {
    if (one.begin >= before.end || one.end <= before.begin || one.rights != before.rights ||
        one.file != before.file || one.name != before.name ||
        one.begin - one.offset != before.begin - before.offset)
      continue;
    bytes += std::min(one.end, before.end) - std::max(one.begin, before.begin);
  }
  return bytes;
}

int64_t anonymous_in(const Mapping& before, const std::vector<Mapping>& now) {
  int64_t bytes = 0;
  for (const Mapping& one : now)
    if (one.begin >= before.begin && one.end <= before.end) bytes += one.anonymous;
  return bytes;
}

}  // namespace

std::vector<Mapping> read_mappings(std::string_view smaps) {
  std::vector<Mapping> mappings;
  while (!smaps.empty()) {
    const std::string_view line = smaps.substr(0, smaps.find('\n'));
    smaps.remove_prefix(std::min(smaps.size(), line.size() + 1));
    if (Mapping mapping; read_head(line, mapping))
      mappings.push_back(std::move(mapping));
    else if ((line.starts_with("Anonymous:") || line.starts_with("Swap:")) && !mappings.empty())
      mappings.back().anonymous += bytes_in(line);
  }
  return mappings;
}

bool CodePages::may_watch(pid_t pid) {
  std::error_code error;
  const std::filesystem::directory_iterator tasks(fmt::format("/proc/{}/task", pid), error);
  return !error && tasks != std::filesystem::directory_iterator() &&
         read_file((tasks->path() / "stat").string(), 4096).has_value();
}

Result<CodePages> CodePages::remember(const ProcessFiles& files) {
  ASSAY_TRY(const std::string text, read_again(files.mappings.get()));
  const std::vector<Mapping> mappings = read_mappings(text);
  // Files that are mapped to be run: objects. Others may come and go.
  std::set<std::string> objects;
  std::string program;  // The first of them lies lowest, or is that which this process runs.
  std::error_code ignored;
  const std::string own = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  for (const Mapping& mapping : mappings) {
    if (!mapping.may_run() || mapping.file.ends_with(" 0")) continue;
    objects.insert(mapping.file);
    if (mapping.name == own) program = mapping.file;
  }
  CodePages pages;
  for (const Mapping& mapping : mappings) {
    const bool clock = mapping.name == kClock || mapping.name.starts_with(kClockData);
    if (mapping.may_change() || (!clock && !objects.contains(mapping.file))) continue;
    Part part{.mapping = mapping};
    part.hashed = !mapping.name.starts_with(kClockData) && is_read(mapping, program);
    if (part.hashed)
      part.hash = is_as_in_file(mapping) ? hash_of_file(files.memory.get(), mapping)
                                         : hash_of(files.memory.get(), mapping);
    pages.parts_.push_back(std::move(part));
  }
  if (pages.parts_.empty()) return fail(ErrorCode::machine, "a worker has no code");
  return pages;
}

Result<std::string> CodePages::find_change(pid_t pid, const ProcessFiles& files,
                                           Depth depth) const {
  const Stopped stopped(pid, files.process.get());
  if (!stopped.wait()) return fail(ErrorCode::busy, "a worker does not stand still");
  ASSAY_TRY(const std::string text, read_again(files.mappings.get()));
  const std::vector<Mapping> now = read_mappings(text);
  for (const Part& part : parts_) {
    const Mapping& before = part.mapping;
    if (still_mapped(before, now) != before.end - before.begin)
      return fmt::format("changed what is mapped as the code or constants of {}", name_of(before));
    if (anonymous_in(before, now) > before.anonymous)
      return fmt::format("wrote to the code or constants of {}", name_of(before));
    if (part.hashed && (depth == Depth::all_bytes || !is_as_in_file(before)) &&
        hash_of(files.memory.get(), before) != part.hash)
      return fmt::format("changed the code or constants of {}", name_of(before));
  }
  return std::string();
}

}  // namespace assay::sweep
