#include "cli/commands/machine_checks.h"

#include <sys/resource.h>
#include <sys/statvfs.h>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/fd.h"
#include "assay/base/file.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/device/device_lock.h"

namespace assay::cli {
namespace {

constexpr rlim_t kOpenFiles = 256;                   // A sweep keeps some 60 open.
constexpr double kEnoughDisk = 512.0 * 1024 * 1024;  // Artifacts and records of many runs.
constexpr size_t kMemoryFile = 1 << 20;

double free_bytes(const std::filesystem::path& folder) {
  struct statvfs info {};
  return ::statvfs(folder.c_str(), &info) == 0
             ? static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize)
             : 0;
}

MachineCheck check_folder(const std::string& what, const std::filesystem::path& folder,
                          const std::string& remedy) {
  MachineCheck check{what, true, "", ""};
  const auto trial = [&]() -> Status {
    ASSAY_TRY(make_directories(folder.string()));
    ASSAY_TRY(const auto inside, TemporaryDirectory::create(folder.string(), ".doctor-"));
    return write_file_atomic(inside.file("trial"), "written by assay doctor\n");
  }();
  const double room = free_bytes(folder);
  check.found = trial
                    ? fmt::format("{} can be written, {} free", folder.string(), format_bytes(room))
                    : trial.error().message;
  check.fine = trial.has_value() && room >= kEnoughDisk;
  if (!trial)
    check.remedy = remedy;
  else if (!check.fine)
    check.remedy = "make room: compiled kernels and records go there";
  return check;
}

MachineCheck check_compiler(const Context& context, const std::string& cxx) {
  MachineCheck check{"compiler", false, "", ""};
  SubprocessOptions options;
  options.argv = {cxx, "--version"};
  options.env = context.settings.child_environment;
  CommandLimits limits;
  limits.timeout_ns = 10 * kNsPerSecond;
  const auto output = run_command(options, limits);
  check.fine = output && output->status.success();
  if (check.fine) {
    check.found = fmt::format("{}: {}", cxx,
                              sanitize(trim(output->out.substr(0, output->out.find('\n'))), 200));
  } else {
    check.found = fmt::format("{} does not run{}", sanitize(cxx, 200),
                              output ? ": " + output->status.describe() : "");
    check.remedy =
        "install g++ (or name another by --cxx): kernels in C++ files need it, others do not";
  }
  return check;
}

MachineCheck check_limit(const std::string& what, int resource, rlim_t least,
                         const std::string& remedy) {
  MachineCheck check{what, true, "", ""};
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return check;
  check.fine = limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= least;
  check.found =
      limit.rlim_cur == RLIM_INFINITY ? "no limit" : fmt::format("at most {}", limit.rlim_cur);
  if (!check.fine) check.remedy = remedy;
  return check;
}

MachineCheck check_memory_files() {
  MachineCheck check{"memory files", true, "sealed memory files work", ""};
  if (const auto file = create_memfd("assay-doctor", kMemoryFile); !file) {
    check.fine = false;
    check.found = file.error().message;
    check.remedy =
        "operands pass between processes in such files: run on a kernel, or in a sandbox, that "
        "grants memfd_create";
  }
  return check;
}

MachineCheck check_shared_memory() {
  MachineCheck check{"/dev/shm", true, "", ""};
  std::error_code error;
  const bool present = std::filesystem::is_directory("/dev/shm", error);
  check.found = present ? fmt::format("{} free", format_bytes(free_bytes("/dev/shm")))
                        : "absent; assay does not need it, some libraries do";
  return check;
}

// Who is kept from measuring while we do.
MachineCheck check_device_lock(const DeviceLockOptions& options) {
  MachineCheck check{"device lock", false, "", ""};
  const auto place = find_device_lock("cpu", options);
  if (!place) {
    check.found = place.error().message;
    check.remedy = "give another folder by ASSAY_LOCK_DIR, or --lock-dir";
    return check;
  }
  check.fine = place->everybody;
  check.found = place->file.string();
  if (place->everybody) return check;
  check.found += fmt::format(" keeps out your own commands alone: {}", place->why);
  check.remedy = "give a folder that all users share by ASSAY_LOCK_DIR, or --lock-dir";
  return check;
}

// Whether the kernel tells how long threads waited for a core: without it no burst can be judged.
MachineCheck check_scheduler() {
  MachineCheck check{"scheduler", true, "tells how long threads waited (schedstat)", ""};
  if (!read_file("/proc/self/schedstat", 4096)) {
    check.fine = false;
    check.found = "the kernel keeps no schedstat: bursts spoiled by other load cannot be told";
    check.remedy = "sysctl kernel.sched_schedstats=1, or a kernel built with CONFIG_SCHEDSTATS";
  }
  return check;
}

}  // namespace

std::vector<MachineCheck> check_machine(const Context& context, const std::string& cxx,
                                        const std::filesystem::path& cache) {
  DeviceLockOptions lock = context.settings.lock_options();
  lock.fallback = cache;
  return {check_compiler(context, cxx),
          check_folder("cache", cache, "give another folder by --cache-dir or ASSAY_CACHE_DIR"),
          check_folder("output", std::filesystem::current_path(),
                       "run in a folder that you may write, or give --output-dir"),
          check_limit("open files", RLIMIT_NOFILE, kOpenFiles, "raise it: ulimit -n 1024"),
          check_memory_files(),
          check_shared_memory(),
          check_scheduler(),
          check_device_lock(lock)};
}

MachineCheck check_isolation(const sweep::MachineReport& machine) {
  MachineCheck check{"isolation", machine.trust != TrustGrade::unconfined_native, "", ""};
  check.found =
      fmt::format("{}: {}", to_string(machine.trust), sanitize(machine.trust_reason, 1000));
  if (!check.fine)
    check.remedy =
        "allow unprivileged user namespaces (in a container: its seccomp profile), or run as root";
  return check;
}

}  // namespace assay::cli
