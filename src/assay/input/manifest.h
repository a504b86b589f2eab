#pragma once

// Kernels that users bring: kernel_manifest.yaml, or the same fields in a comment at the head of a
// source file. Every error points at a line and says what would be right.
//
// clang-format off
//   - name: my_gemm              # Default: entry.
//     provider: cpp_source       # Default: by the source's extension. An entry of `plugin` has
//                                # name, source and entry alone: a plug-in describes its kernels.
//     source: my_gemm.cc         # Relative to the manifest. Not in a head comment. Alone: the kernels
//                                # that this file's own head comment describes.
//     entry: my_gemm             # The function; extern "C" is not needed. Or mine::gemm.
//     operation: gemm            # The default.
//     dtype: f32                 # Of a, b, out; or each: a: bf16, b: [bf16, f16], out: f32, c: f32
//     accumulate: f32            # Default: any that a problem asks for.
//     layout: tt                 # Or [tt, tn]: one kernel for each; or any (strides in args).
//     args: [a, b, out, m, n, k] # The order: pointers; int64_t sizes and strides; double alpha.
//     tunables: {tile: [4, 8], unroll: [true, false]}
//     constraints: [tile * 16 <= n, k % 8 == 0]  # Over tunables and m, n, k, l.
//     divisibility: {k: 8}       # By dimension, by operand (its contiguous size), or one number.
//     alignment: 64              # Bytes; or by operand.
//     targets: [x86_64+avx2+fma] # Of provider tvm_ffi: [sm_90a] says that it is for a GPU.
//     specialised_on: [k]        # Sizes that compiling may see, as macros.
//     flags: [-O3]
//     workspace: m * n * 4       # Bytes; `threads` is known here too.
//     prepare: {entry: pack_b, bytes: n * k * 4, args: [b, prepared, n, k]}
//     launch: {grid: [ceil_div(n, 64), m], block: [128], cluster: [2], shared: 4096,
//              dependent: false}  # Device code alone (.cu, .ptx; of .py, grid and dependent).
//     epilogues: []
//     deterministic: true
//     error: elementwise         # Or normwise: errors are bounded by norms of whole operands and not
//                                # element by element, as those of Strassen are (docs/method.md).
// clang-format on
//
// A head comment: "// assay: {entry: my_gemm, ...}" or the same fields on lines indented below
// "// assay:"; "/* assay: ... */" and, in .py files, "# assay:" likewise. A file may hold several.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/kernel/taker.h"

namespace assay::input {

// What stands behind a name in `args` or `prepare.args`. `operand` and `dimension` are filled for
// the kinds that have them, in the operation's vocabulary.
struct Argument {
  enum class Kind : uint8_t {
    operand,     // Pointer: a, b, c, out.
    tensor_map,  // 128 bytes by value: map_a, map_b ...; device code alone.
    size,        // int64_t: m, n, k, l.
    stride,      // int64_t, elements: a_m, b_l, out_n ...
    leading,     // int64_t, elements: lda, ldb, ldc, ldout: the larger of the two last strides.
    scalar,      // double: alpha, beta.
    workspace,   // Pointer.
    workspace_bytes,  // int64_t.
    prepared,         // Pointer to what prepare wrote.
    threads,          // int64_t: cores that the kernel may use.
    tunable,          // int64_t, double or bool by its values.
  };
  Kind kind;
  std::string operand;
  std::string dimension;
};

// Null where the name means nothing to this entry.
std::optional<Argument> find_argument(const KernelEntry& entry, std::string_view name);

// Names that expressions (constraints, workspace, prepare.bytes) may use: sizes and tunables.
std::vector<std::string> expression_names(const KernelEntry& entry);

// A list of kernels, or a map with the list under `kernels`. A layout list gives one entry each,
// its name suffixed by the layout. Names are unique within the file. forms: what the providers at
// hand say of their files' field `launch`.
Result<std::vector<KernelEntry>> parse_manifest(std::string_view text,
                                                const std::filesystem::path& path,
                                                const LaunchForms& forms);

// `entry` (as in my.cc::ENTRY) picks the comment that names it; where there is one comment alone,
// it replaces that comment's entry. A file without a comment is an error that shows what to write.
Result<std::vector<KernelEntry>> parse_head_comment(std::string_view text,
                                                    const std::filesystem::path& path,
                                                    const LaunchForms& forms,
                                                    std::string_view entry = {});

// What a plug-in says of one of its kernels: JSON with the fields above, but for provider, source,
// entry, prepare.entry, flags and specialised_on; `name` must be there. `origin` names the text in
// errors.
Result<std::vector<KernelEntry>> parse_plugin_kernel(std::string_view json,
                                                     const std::filesystem::path& plugin,
                                                     const std::string& origin);

// Whether an entry can be a function's name: an identifier, or several that "::" joins.
bool is_function_name(std::string_view text);

// Whether a file is a plug-in by its name: my.so, libmine.so.2.
bool is_plugin(const std::filesystem::path& path);
inline constexpr const char* kPluginProvider = "plugin";

// FILE or FILE::ENTRY (file_and_entry.h): a manifest where FILE ends in .yaml or .yml (ENTRY then
// picks by name or entry), a plug-in (which only a worker opens: the entry has no rule), else a
// source file with a head comment.
Result<std::vector<KernelEntry>> read_kernels(std::string_view file_and_entry,
                                              const LaunchForms& forms);

}  // namespace assay::input
