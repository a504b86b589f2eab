#include "flags.h"

#include <algorithm>

#include "assay/base/text.h"
#include "assay/kernel/compiler_flags.h"

namespace assay::cuda_source {
namespace {

using namespace flag_value;

// ptxas writes files, too (--output-file): what it is told is a list of its own.
constexpr AllowedFlag kAllowedOfAssembler[] = {{"-v", &nothing},
                                               {"--verbose", &nothing},
                                               {"-O", &number},
                                               {"--opt-level=", &number},
                                               {"--register-usage-level=", &number},
                                               {"-maxrregcount=", &number},
                                               {"--maxrregcount=", &number},
                                               {"--allow-expensive-optimizations=", &truth},
                                               {"--fmad=", &truth},
                                               {"-dlcm=", &word},
                                               {"--def-load-cache=", &word},
                                               {"-dscm=", &word},
                                               {"--def-store-cache=", &word},
                                               {"--warn-on-spills", &nothing},
                                               {"--warn-on-local-memory-usage", &nothing},
                                               {"--disable-optimizer-constants", &nothing}};

bool for_assembler(std::string_view value) {
  return std::ranges::all_of(split(value, ','), [](std::string_view flag) {
    return check_flag(flag, kAllowedOfAssembler, "").has_value();
  });
}

bool off(std::string_view value) { return value == "false"; }

// As NVRTC takes them, each also with one '-' where it has a long name. Those that write files
// (--create-pch, --pch, --time, --fdevice-time-trace), read others (--use-pch, --pre-include), or
// make something else than a cubin for the GPU (--dlto, --gpu-architecture) are not among them.
constexpr AllowedFlag kAllowed[] = {{"-D", &definition},
                                    {"--define-macro=", &definition},
                                    {"-U", &name},
                                    {"--undefine-macro=", &name},
                                    {"-I", &folder},
                                    {"--include-path=", &folder},
                                    {"-std=", &word},
                                    {"--std=", &word},
                                    {"-G", &nothing},
                                    {"--device-debug", &nothing},
                                    {"-lineinfo", &nothing},
                                    {"--generate-line-info", &nothing},
                                    {"-use_fast_math", &nothing},
                                    {"--use_fast_math", &nothing},
                                    {"-ftz=", &truth},
                                    {"--ftz=", &truth},
                                    {"-prec-sqrt=", &truth},
                                    {"--prec-sqrt=", &truth},
                                    {"-prec-div=", &truth},
                                    {"--prec-div=", &truth},
                                    {"-fmad=", &truth},
                                    {"--fmad=", &truth},
                                    {"-maxrregcount=", &number},
                                    {"--maxrregcount=", &number},
                                    {"-restrict", &nothing},
                                    {"--restrict", &nothing},
                                    {"-extra-device-vectorization", &nothing},
                                    {"--extra-device-vectorization", &nothing},
                                    {"-device-int128", &nothing},
                                    {"--device-int128", &nothing},
                                    {"-device-float128", &nothing},
                                    {"--device-float128", &nothing},
                                    {"-default-device", &nothing},
                                    {"--device-as-default-execution-space", &nothing},
                                    {"-rdc=", &off},
                                    {"--relocatable-device-code=", &off},
                                    {"-minimal", &nothing},
                                    {"--minimal", &nothing},
                                    {"-dopt=", &word},
                                    {"--dopt=", &word},
                                    {"-Xptxas=", &for_assembler},
                                    {"--ptxas-options=", &for_assembler},
                                    {"-builtin-move-forward=", &truth},
                                    {"--builtin-move-forward=", &truth},
                                    {"-builtin-initializer-list=", &truth},
                                    {"--builtin-initializer-list=", &truth},
                                    {"-w", &nothing},
                                    {"--disable-warnings", &nothing},
                                    {"-diag-error=", &numbers},
                                    {"--diag-error=", &numbers},
                                    {"-diag-suppress=", &numbers},
                                    {"--diag-suppress=", &numbers},
                                    {"-diag-warn=", &numbers},
                                    {"--diag-warn=", &numbers}};

}  // namespace

Status check_flag(std::string_view flag) {
  return assay::check_flag(
      flag, kAllowed,
      "-DNAME=VALUE, -UNAME, -IFOLDER, -std=*, -G, -lineinfo, --use_fast_math, --ftz=, "
      "--prec-sqrt=, --prec-div=, --fmad=, --maxrregcount=N, --restrict, "
      "--extra-device-vectorization, --device-int128, --device-float128, -default-device, "
      "-rdc=false, --minimal, --dopt=, --diag-*=N,..., and --ptxas-options= with levels and "
      "numbers");
}

}  // namespace assay::cuda_source
