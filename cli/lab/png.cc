#include "cli/lab/png.h"

#include "assay/base/clock.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"

namespace assay::cli {

Result<std::string> png_of(const Context& context, const std::string& svg, double seconds) {
  SubprocessOptions options;
  options.argv = {"rsvg-convert", "--format", "png"};
  options.env = context.settings.child_environment;
  CommandLimits limits;
  limits.timeout_ns = static_cast<std::int64_t>(seconds * kNsPerSecond);
  limits.max_output = std::size_t{64} << 20;
  limits.input = svg;
  limits.cancel_fd = context.cancel_fd;
  auto output = run_command(options, limits);
  if (!output && output.error().code == ErrorCode::not_found)
    return fail(ErrorCode::unsupported,
                "a PNG is made by rsvg-convert, which is not installed (librsvg2-bin)");
  if (!output) return fail(output.error());
  if (output->status.success() && !output->truncated) return std::move(output->out);
  return fail(ErrorCode::failed, "rsvg-convert {}: {}", output->status.describe(),
              sanitize(output->err, 300));
}

}  // namespace assay::cli
