#include "flags.h"

#include <algorithm>
#include <iterator>

#include "assay/kernel/compiler_flags.h"

namespace assay::cpp_source {
namespace {

using namespace flag_value;

// Of -f: how code is made, and what the language is. Those that load (plugin, pass-plugin), write
// (dump, opt-info, profile, save-optimization-record, time-trace) or choose programs and files
// (use-ld, sanitize, module-file) are not among them.
constexpr std::string_view kCodeOptions[] = {"PIC",
                                             "PIE",
                                             "aligned-new",
                                             "approx-func",
                                             "associative-math",
                                             "asynchronous-unwind-tables",
                                             "builtin",
                                             "cf-protection",
                                             "char8_t",
                                             "code-hoisting",
                                             "common",
                                             "concepts",
                                             "constexpr-depth",
                                             "constexpr-loop-limit",
                                             "constexpr-ops-limit",
                                             "coroutines",
                                             "cprop-registers",
                                             "crossjumping",
                                             "cx-limited-range",
                                             "data-sections",
                                             "delete-null-pointer-checks",
                                             "denormal-fp-math",
                                             "devirtualize",
                                             "early-inlining",
                                             "excess-precision",
                                             "exceptions",
                                             "fast-math",
                                             "finite-loops",
                                             "finite-math-only",
                                             "float-store",
                                             "fp-contract",
                                             "fp-exception-behavior",
                                             "fp-model",
                                             "freestanding",
                                             "function-sections",
                                             "gcse",
                                             "honor-infinities",
                                             "honor-nans",
                                             "if-conversion",
                                             "if-conversion2",
                                             "implicit-templates",
                                             "inline",
                                             "inline-functions",
                                             "inline-functions-called-once",
                                             "inline-limit",
                                             "inline-small-functions",
                                             "ira-algorithm",
                                             "ira-loop-pressure",
                                             "ira-region",
                                             "ivopts",
                                             "live-range-shrinkage",
                                             "loop-block",
                                             "loop-interchange",
                                             "loop-nest-optimize",
                                             "loop-unroll-and-jam",
                                             "lto",
                                             "math-errno",
                                             "max-errors",
                                             "modulo-sched",
                                             "modulo-sched-allow-regmoves",
                                             "move-loop-invariants",
                                             "move-loop-stores",
                                             "new-infallible",
                                             "omit-frame-pointer",
                                             "openmp",
                                             "openmp-simd",
                                             "partial-inlining",
                                             "peel-loops",
                                             "permissive",
                                             "pic",
                                             "pie",
                                             "plt",
                                             "prefetch-loop-arrays",
                                             "reciprocal-math",
                                             "rename-registers",
                                             "reorder-blocks",
                                             "reorder-functions",
                                             "rounding-math",
                                             "rtti",
                                             "sched-pressure",
                                             "schedule-insns",
                                             "schedule-insns2",
                                             "semantic-interposition",
                                             "short-enums",
                                             "signaling-nans",
                                             "signed-char",
                                             "signed-zeros",
                                             "simd-cost-model",
                                             "single-precision-constant",
                                             "sized-deallocation",
                                             "slp-vectorize",
                                             "split-loops",
                                             "split-wide-types",
                                             "stack-clash-protection",
                                             "stack-protector",
                                             "stack-protector-strong",
                                             "store-merging",
                                             "strict-aliasing",
                                             "strict-enums",
                                             "strict-overflow",
                                             "template-depth",
                                             "thread-jumps",
                                             "threadsafe-statics",
                                             "trapping-math",
                                             "trapv",
                                             "trivial-auto-var-init",
                                             "unroll-all-loops",
                                             "unroll-loops",
                                             "unsafe-math-optimizations",
                                             "unsigned-char",
                                             "unswitch-loops",
                                             "unwind-tables",
                                             "vect-cost-model",
                                             "vectorize",
                                             "version-loops-for-strides",
                                             "visibility",
                                             "visibility-inlines-hidden",
                                             "web",
                                             "wrapv",
                                             "zero-call-used-regs"};
// All that begin so are of that kind.
constexpr std::string_view kCodeFamilies[] = {"align-", "gcse-", "ipa-", "tree-"};

bool code_option(std::string_view value) {
  if (value.starts_with("no-")) value.remove_prefix(3);
  const size_t equals = value.find('=');
  if (equals != std::string_view::npos && !word(value.substr(equals + 1))) return false;
  const std::string_view option = value.substr(0, equals);
  return std::ranges::find(kCodeOptions, option) != std::end(kCodeOptions) ||
         (word(option) && std::ranges::any_of(kCodeFamilies, [&](std::string_view family) {
            return option.starts_with(family);
          }));
}

// Clang's -mllvm and -module-... take the next flag, or a folder to write into.
bool machine_option(std::string_view value) {
  for (const std::string_view other : {"llvm", "odule", "dump"})
    if (value.starts_with(other)) return false;
  const size_t equals = value.find('=');
  return word(value.substr(0, equals)) &&
         (equals == std::string_view::npos ||
          std::ranges::all_of(value.substr(equals + 1), [](char letter) {
            return letter == ',' || letter == '!' || word({&letter, 1});
          }));
}

bool level(std::string_view value) {
  constexpr std::string_view kLevels[] = {"", "0", "1", "2", "3", "s", "z", "g", "fast"};
  return std::ranges::find(kLevels, value) != std::end(kLevels);
}

bool debug_kind(std::string_view value) {
  constexpr std::string_view kKinds[] = {
      "",     "0",    "1",     "2",       "3",       "gdb",     "gdb0",    "gdb1",
      "gdb2", "gdb3", "dwarf", "dwarf-2", "dwarf-3", "dwarf-4", "dwarf-5", "line-tables-only"};
  return std::ranges::find(kKinds, value) != std::end(kKinds);
}

// Without commas: behind one stands what another program is told (-Wl,...).
bool warning(std::string_view value) {
  if (value.empty()) return true;
  const size_t equals = value.find('=');
  return word(value.substr(0, equals)) &&
         (equals == std::string_view::npos || word(value.substr(equals + 1)));
}

bool parameter(std::string_view value) {
  const size_t equals = value.find('=');
  return equals != std::string_view::npos && word(value.substr(0, equals)) &&
         word(value.substr(equals + 1));
}

constexpr AllowedFlag kAllowed[] = {{"-O", &level},
                                    {"-m", &machine_option},
                                    {"-D", &definition},
                                    {"-U", &name},
                                    {"-I", &folder},
                                    {"-iquote", &folder},
                                    {"-isystem", &folder},
                                    {"-idirafter", &folder},
                                    {"-std=", &word},
                                    {"-g", &debug_kind},
                                    {"-W", &warning},
                                    {"-w", &nothing},
                                    {"-f", &code_option},
                                    {"--param=", &parameter},
                                    {"-l", &word},
                                    {"-L", &folder},
                                    {"-static-libgcc", &nothing},
                                    {"-static-libstdc++", &nothing},
                                    {"-pthread", &nothing}};

}  // namespace

Status check_flag(std::string_view flag) {
  return assay::check_flag(
      flag, kAllowed,
      "-O*, -m*, -DNAME=VALUE, -UNAME, -IFOLDER, -std=*, -g*, -W* without commas, --param=*=*, "
      "-lNAME, -LFOLDER, -pthread, and of -f* those that say how code is made (-ffast-math, "
      "-funroll-loops, -fopenmp, -ftree-* ...)");
}

}  // namespace assay::cpp_source
