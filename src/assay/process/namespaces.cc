#include "assay/process/namespaces.h"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/fd.h"

namespace assay::sweep {
namespace {

// Processes, mounts, System V memory and message queues, abstract sockets: the ways by which one
// process could reach another, or find what one before it left.
constexpr int kNamespaces = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET;

void write_text(const char* path, const std::string& text) {
  const UniqueFd fd(::open(path, O_WRONLY | O_CLOEXEC));
  if (fd) (void)write_all(fd.get(), text);
}

// This user is the same user inside, and nobody else is anybody. Where that is refused this user
// has no name inside, which hurts nobody.
void map_own_user(uid_t user, gid_t group) {
  write_text("/proc/self/setgroups", "deny");
  write_text("/proc/self/uid_map", fmt::format("{} {} 1", user, user));
  write_text("/proc/self/gid_map", fmt::format("{} {} 1", group, group));
}

// mount_setattr(2) of Linux 5.12, which C libraries learnt late.
struct MountAttributes {
  uint64_t set = 0, clear = 0, propagation = 0, user_namespace = 0;
};
constexpr uint64_t kReadOnly = 1;
constexpr int kRecursive = 0x8000;
#ifdef SYS_mount_setattr
constexpr long kMountSetattr = SYS_mount_setattr;
#else
constexpr long kMountSetattr = 442;  // On every architecture.
#endif

}  // namespace

Namespaces enter_namespaces() {
  Namespaces entered;
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  bool done = ::unshare(kNamespaces) == 0;
  if (!done && ::unshare(CLONE_NEWUSER | kNamespaces) == 0) {
    done = entered.users = true;
    map_own_user(user, group);
  }
  if (!done) {
    // The error for a limit that is reached, or 0, is that of a full disk.
    entered.why = errno == ENOSPC ? "the system allows no more of them" : errno_text(errno);
    return entered;
  }
  entered.processes = true;
  // What is mounted here is not to be seen elsewhere.
  entered.mounts = ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  if (!entered.mounts) entered.why = errno_text(errno);
  return entered;
}

bool mount_own_proc() {
  return ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
}

bool forbid_writing_to_proc() {
#ifdef SYS_landlock_create_ruleset
  // What is not allowed somewhere is denied: everything but /proc is named. Moving files between
  // folders is denied to whoever has any rules, unless they allow it.
  constexpr uint64_t kWrite = LANDLOCK_ACCESS_FS_WRITE_FILE;
#ifdef LANDLOCK_ACCESS_FS_REFER
  constexpr uint64_t kMove = LANDLOCK_ACCESS_FS_REFER;
#else
  constexpr uint64_t kMove = uint64_t{1} << 13;
#endif
  const long version =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return false;
  const uint64_t folders = version > 1 ? kWrite | kMove : kWrite;
  const landlock_ruleset_attr handled{.handled_access_fs = folders};
  const UniqueFd rules(static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled.handled_access_fs, 0)));
  if (!rules) return false;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/", error)) {
    if (entry.path() == "/proc") continue;
    const UniqueFd place(::open(entry.path().c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat facts {};
    if (!place || ::fstat(place.get(), &facts) != 0) continue;
    const landlock_path_beneath_attr rule{
        .allowed_access = S_ISDIR(facts.st_mode) ? folders : kWrite, .parent_fd = place.get()};
    // A link to somewhere takes no rule, and needs none.
    (void)::syscall(SYS_landlock_add_rule, rules.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  }
  return !error && ::syscall(SYS_landlock_restrict_self, rules.get(), 0) == 0;
#else
  return false;
#endif
}

bool mount_all_read_only() {
  const MountAttributes attributes{kReadOnly, 0, 0, 0};
  if (::syscall(kMountSetattr, AT_FDCWD, "/", kRecursive, &attributes, sizeof attributes) != 0)
    return false;
  // Semaphores and shared memory of libraries live there. Where it fails there are none.
  ::mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=256m");
  return true;
}

}  // namespace assay::sweep
