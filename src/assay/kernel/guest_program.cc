#include "assay/kernel/guest_program.h"

#include <algorithm>

#include "assay/base/file.h"

namespace assay {
namespace {

// In a process whose file systems are read-only, memory is the one place to write to.
Result<TemporaryDirectory> own_folder() {
  auto folder = TemporaryDirectory::create("/dev/shm", "assay-guest-");
  return folder ? std::move(folder) : TemporaryDirectory::create("/tmp", "assay-guest-");
}

}  // namespace

Result<CommandOutput> run_here(const GuestProgram& program) {
  ASSAY_TRY(const TemporaryDirectory folder, own_folder());
  SubprocessOptions options;
  options.argv = program.argv;
  options.env = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=" + folder.path(),
                 "TMPDIR=" + folder.path()};
  options.working_directory = folder.path();
  options.address_space_bytes =
      static_cast<std::uint64_t>(std::max<int64_t>(program.memory_bytes, 0));
  CommandLimits limits;
  limits.timeout_ns = static_cast<int64_t>(program.timeout_seconds * 1e9);
  limits.max_output = program.most_output;
  limits.input = program.input;
  return run_command(options, limits);
}

}  // namespace assay
