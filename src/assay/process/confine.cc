#include "assay/process/confine.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <grp.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/process/code_seal.h"
#include "assay/process/denied_calls.h"

namespace assay::sweep {
namespace {

// Beyond what systemd, containers and distributions hand out (up to 0x6fffffff); with the guard's
// process id added no two workers are the same user.
constexpr uid_t kFirstUser = 0x70000000;
constexpr uid_t kNobody = 65534;  // Where such a number means nothing (a container's user map).

// Room for the thread pools of a dozen libraries that each take all cores, and for what they fork.
constexpr int64_t kProcesses = 512, kProcessesPerCore = 12;

struct Capabilities {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  bool read() { return ::syscall(SYS_capget, &header, data) == 0; }
  bool has(int capability) const {
    return (data[capability / 32].effective >> (capability % 32) & 1) != 0;
  }
};

bool may_change_user() {
  Capabilities own;
  // The guard must be able to end who has become another.
  return own.read() && own.has(CAP_SETUID) && own.has(CAP_SETGID) && own.has(CAP_KILL);
}

// Whether another user than the owner can open what is in the folder, and what will be made there.
bool is_open_to_others(const std::string& folder) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  struct stat facts {};
  return (mask & S_IROTH) == 0 && (mask & S_IXOTH) == 0 && ::stat(folder.c_str(), &facts) == 0 &&
         (facts.st_mode & S_IXOTH) != 0;
}

// Whether a thread of this process, of which libraries may have started some, can still do or gain
// what no candidate should.
bool some_thread_is_privileged() {
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const auto status = read_file((thread.path() / "status").string(), 1 << 16);
    if (!status || status->find("CapPrm:\t0000000000000000\n") == std::string::npos ||
        status->find("NoNewPrivs:\t1\n") == std::string::npos)
      return true;
  }
  return static_cast<bool>(error);
}

// The C library does this for all threads at once.
bool become(uid_t user) {
  return ::setgroups(0, nullptr) == 0 && ::setresgid(user, user, user) == 0 &&
         ::setresuid(user, user, user) == 0;
}

// Of its own: through such a file a process writes to pages that it may not write to.
bool can_write_memory_file() {
  for (const char* file : {"/proc/self/mem", "/proc/thread-self/mem"})
    if (UniqueFd(::open(file, O_RDWR | O_CLOEXEC)).valid()) return true;
  return false;
}

void add_gaps(process::Confinement& confinement, const Surroundings& place,
              const Protected& harness) {
  const auto gap = [&](bool open, std::string what) {
    if (open) confinement.gaps.push_back(std::move(what));
  };
  gap(some_thread_is_privileged(), "it has privileges, or can gain some");
  for (const pid_t pid : {harness.parent, place.guard}) {
    if (pid <= 0) continue;
    // In a process namespace of its own these numbers are nobody, or somebody else.
    gap(!place.own_processes && ::kill(pid, 0) == 0,
        fmt::format("it can signal {}", pid == harness.parent ? "assay" : "its guard"));
    if (place.own_proc) continue;
    const UniqueFd memory(::open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC));
    gap(memory.valid(),
        fmt::format("it can read the memory of {}", pid == harness.parent ? "assay" : "its guard"));
  }
  if (harness.own_code)
    gap(code_can_be_changed() || can_write_memory_file(), "it can change the code that times it");
  for (const std::string& path : harness.paths)
    gap(::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0,
        fmt::format("it can write to {}", path));
}

}  // namespace

process::Confinement confine(bool wanted, const Surroundings& place, const Protected& harness,
                             const std::string& cache) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  process::Confinement confinement;
  confinement.wanted = wanted;
  if (!wanted) return confinement;
  confinement.own_namespaces = place.own_processes && place.read_only;
  confinement.shared = place.shared;
  if (may_change_user() && is_open_to_others(cache)) {
    const auto own = kFirstUser + static_cast<uid_t>(place.guard > 0 ? place.guard : ::getpid());
    const bool alone = become(own);
    confinement.other_user = alone || become(kNobody);
    if (alone) limit_processes(0);  // Nobody may have any number already.
    // Forgotten by the kernel when a process changes its user.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  } else if (place.users_threads) {
    limit_processes(*place.users_threads);
  }
  forbid_new_privileges();
  drop_capabilities();
  // What a candidate starts stays this process's, whoever of it ends: has_children() sees it.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const bool sealed = harness.own_code && seal(read_only_pages());
  const auto objects = harness.own_code ? objects_in_order() : std::vector<AddressRange>();
  forbid_escaping({objects, sealed, harness.counts, harness.devices});
  add_gaps(confinement, place, harness);
  return confinement;
}

void limit_processes(int64_t already) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NPROC, &limit) != 0) return;
  const int64_t most = already + kProcesses + kProcessesPerCore * ::sysconf(_SC_NPROCESSORS_ONLN);
  limit.rlim_max = std::min(limit.rlim_max, static_cast<rlim_t>(most));
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  ::setrlimit(RLIMIT_NPROC, &limit);
}

std::string closed_folder(const std::string& file) {
  std::error_code failed;
  for (const std::filesystem::path& path :
       {std::filesystem::path(file), std::filesystem::canonical(file, failed)}) {
    for (auto folder = path.parent_path(); folder.has_relative_path();
         folder = folder.parent_path()) {
      struct stat facts {};
      if (::stat(folder.c_str(), &facts) == 0 && (facts.st_mode & S_IXOTH) == 0)
        return folder.string();
    }
  }
  return {};
}

void limit_address_space(int64_t bytes) {
  rlimit limit{};
  if (bytes <= 0 || ::getrlimit(RLIMIT_AS, &limit) != 0) return;
  limit.rlim_max = std::min(limit.rlim_max, static_cast<rlim_t>(bytes));
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  ::setrlimit(RLIMIT_AS, &limit);
}

void forbid_new_privileges() { ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

void drop_capabilities() {
  Capabilities nothing;
  ::syscall(SYS_capset, &nothing.header, nothing.data);
}

void hide_memory() { ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

}  // namespace assay::sweep
