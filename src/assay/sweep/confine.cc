#include "assay/sweep/confine.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <fcntl.h>
#include <filesystem>
#include <grp.h>
#include <iterator>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/file.h"

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

void add_gaps(Confinement& confinement, const Surroundings& place, const Protected& harness) {
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
  for (const std::string& path : harness.paths)
    gap(::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0,
        fmt::format("it can write to {}", path));
}

}  // namespace

Confinement confine(bool wanted, const Surroundings& place, const Protected& harness,
                    const std::string& cache) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  Confinement confinement;
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
  forbid_escaping();
  add_gaps(confinement, place, harness);
  return confinement;
}

void forbid_escaping() {
#if defined(__x86_64__)
  constexpr auto kNumber = static_cast<uint32_t>(offsetof(seccomp_data, nr));
  constexpr auto kArchitecture = static_cast<uint32_t>(offsetof(seccomp_data, arch));
  constexpr auto kArguments = static_cast<uint32_t>(offsetof(seccomp_data, args));
  constexpr uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS, kIf = BPF_JMP | BPF_JEQ | BPF_K;
  constexpr uint16_t kEnd = BPF_RET | BPF_K;
  constexpr uint32_t kX32 = 0x40000000;  // A second set of the same calls.
  // Where a condition holds, and where not: so many statements on.
  sock_filter filter[] = {
      /* 0*/ BPF_STMT(kLoad, kArchitecture),
      /* 1*/ BPF_JUMP(kIf, AUDIT_ARCH_X86_64, 0, 19),
      /* 2*/ BPF_STMT(kLoad, kNumber),
      /* 3*/ BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32, 17, 0),
      /* 4*/ BPF_JUMP(kIf, SYS_setrlimit, 16, 0),
      /* 5*/ BPF_JUMP(kIf, SYS_seccomp, 15, 0),
      // Pages that are filled when somebody reads them: work after the clock has stopped.
      /* 6*/ BPF_JUMP(kIf, SYS_userfaultfd, 14, 0),
      /* 7*/ BPF_JUMP(kIf, SYS_prctl, 7, 0),
      /* 8*/ BPF_JUMP(kIf, SYS_clone3, 13, 0),
      /* 9*/ BPF_JUMP(kIf, SYS_clone, 8, 0),
      /*10*/ BPF_JUMP(kIf, SYS_prlimit64, 0, 9),
      /*11*/ BPF_STMT(kLoad, kArguments + 16),  // The new limits: to read them it is null.
      /*12*/ BPF_JUMP(kIf, 0, 0, 8),
      /*13*/ BPF_STMT(kLoad, kArguments + 20),
      /*14*/ BPF_JUMP(kIf, 0, 5, 6),
      /*15*/ BPF_STMT(kLoad, kArguments),
      /*16*/ BPF_JUMP(kIf, PR_SET_SECCOMP, 4, 0),
      /*17*/ BPF_JUMP(kIf, PR_SET_CHILD_SUBREAPER, 3, 2),
      /*18*/ BPF_STMT(kLoad, kArguments),
      /*19*/ BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_PARENT, 1, 0),
      /*20*/ BPF_STMT(kEnd, SECCOMP_RET_ALLOW),
      /*21*/ BPF_STMT(kEnd, SECCOMP_RET_ERRNO | EPERM),
      // Its flags lie in memory, where a filter cannot look: the C library then calls clone.
      /*22*/ BPF_STMT(kEnd, SECCOMP_RET_ERRNO | ENOSYS),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
#endif
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

Json to_json(const Confinement& confinement) {
  return {{"wanted", confinement.wanted},
          {"other_user", confinement.other_user},
          {"own_namespaces", confinement.own_namespaces},
          {"shared", confinement.shared},
          {"gaps", confinement.gaps},
          {"native_guests", confinement.native_guests}};
}

Confinement confinement_from_json(const Json& json) {
  Confinement confinement;
  if (!json.is_object()) return confinement;
  confinement.wanted = json.value("wanted", false);
  confinement.other_user = json.value("other_user", false);
  confinement.own_namespaces = json.value("own_namespaces", false);
  confinement.shared = json.value("shared", std::string());
  confinement.native_guests = json.value("native_guests", true);
  for (const Json& gap : json.value("gaps", Json::array()))
    if (gap.is_string()) confinement.gaps.push_back(gap.get<std::string>());
  return confinement;
}

}  // namespace assay::sweep
