#include "assay/lab/climb/confined_agent.h"

#include "assay/base/clock.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"

namespace assay::lab {

std::vector<std::string> confined(const std::vector<std::string>& words,
                                  const AgentConfinement& confinement) {
  // Processes of its own, so that it can neither see nor signal ours. The network stays: agents ask
  // models over it.
  std::vector<std::string> all = {"bwrap",
                                  "--die-with-parent",
                                  "--unshare-pid",
                                  "--unshare-ipc",
                                  "--ro-bind",
                                  "/",
                                  "/",
                                  "--dev",
                                  "/dev",
                                  "--proc",
                                  "/proc"};
  const auto add = [&](const char* flag, const std::filesystem::path& path, bool twice) {
    all.push_back(flag);
    all.push_back(path.string());
    if (twice) all.push_back(path.string());
  };
  for (const auto& folder : confinement.hidden) add("--tmpfs", folder, false);
  for (const auto& folder : confinement.shown) add("--ro-bind", folder, true);
  for (const auto& folder : confinement.writable) add("--bind", folder, true);
  all.emplace_back("--");
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

Status check_confinement(const std::vector<std::string>& environment) {
  SubprocessOptions options;
  options.argv = confined({"true"}, {});
  options.env = environment;
  CommandLimits limits;
  limits.timeout_ns = 20 * kNsPerSecond;
  const auto output = run_command(options, limits);
  if (!output && output.error().code == ErrorCode::not_found)
    return fail(ErrorCode::unsupported,
                "--confine: bwrap is not installed (bubblewrap); nothing was run without it");
  if (!output) return fail(output.error());
  if (output->status.success()) return {};
  return fail(ErrorCode::unsupported,
              "--confine: this system gives no namespaces of a user ({}); nothing was run without "
              "them",
              sanitize(trim(output->err), 200));
}

}  // namespace assay::lab
