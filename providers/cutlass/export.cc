#include "export.h"

#include <fmt/format.h>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/input/device_export.h"
#include "assay/op/gemm/matrix.h"
#include "call.h"
#include "providers/cutlass/info.h"
#include "space.h"

namespace assay::cutlass {
namespace {

constexpr size_t kMostBytes = size_t{256} << 20;

// What stands behind the numbers. An object is made per thread: launches of several threads would
// change one another's pointers. $: see below.
constexpr std::string_view kCode = R"(
namespace {

const assay_cutlass::Problem kProblem = {$problem};

// The object lies beside the program, or beside the library that this was linked into.
const assay_cutlass::Kernel* find_kernel() {
  Dl_info here = {};
  std::string folder;
  if (dladdr(reinterpret_cast<const void*>(&find_kernel), &here) != 0 && here.dli_fname != nullptr)
    folder = here.dli_fname;
  const auto slash = folder.rfind('/');
  folder = slash == std::string::npos ? std::string() : folder.substr(0, slash + 1);
  void* library = dlopen((folder + "$file").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen("$file", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  using Entry = const assay_cutlass::Kernel* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "assay_cutlass_kernel"));
  const assay_cutlass::Kernel* const kernel = entry == nullptr ? nullptr : entry();
  const bool fits = kernel != nullptr && kernel->version == assay_cutlass::kVersion &&
                    kernel->bytes == sizeof(assay_cutlass::Kernel);
  return fits ? kernel : nullptr;
}

// Tensor maps and the like, for the pointers of the last launch.
class Call {
 public:
  ~Call() { std::free(state_); }
  int operator()(const assay_cutlass::Pointers& now, void* stream) {
    static const assay_cutlass::Kernel* const kernel = find_kernel();
    if (kernel == nullptr) return kNoKernel;
    if (state_ == nullptr) {
      if (kernel->workspace_bytes(&kProblem) > $workspace) return kOtherKernel;
      if (const int code = kernel->can_implement(&kProblem, &now)) return code;
      const std::size_t alignment =
          std::max<std::size_t>(kernel->state_alignment, sizeof(void*));
      state_ = std::aligned_alloc(
          alignment, (kernel->state_bytes + alignment - 1) / alignment * alignment);
      if (state_ == nullptr) return kNoMemory;
    }
    if (!ready_ || std::memcmp(&now, &last_, sizeof now) != 0) {
      ready_ = false;
      if (const int code = kernel->initialize(&kProblem, &now, state_)) return code;
      last_ = now;
      ready_ = true;
    }
    return kernel->run(state_, stream);
  }

 private:
  static constexpr int kNoKernel = -1;     // $file is not here, or is another one.
  static constexpr int kOtherKernel = -2;  // It wants more workspace than it was raced with.
  static constexpr int kNoMemory = -3;
  void* state_ = nullptr;
  bool ready_ = false;
  assay_cutlass::Pointers last_ = {};
};

int run_kernel(void* const* data, void* stream) {
  thread_local Call call;
  return call({$pointers}, stream);
}

}  // namespace
)";

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::string list(const assay_cutlass::Strides& strides) {
  return fmt::format("{{{}, {}, {}}}", strides.row, strides.column, strides.batch);
}

}  // namespace

Result<KernelExport> export_call(const KernelMetadata& row, const Problem& problem,
                                 const ExportOptions& options) {
  if (options.artifact == nullptr)
    return fail(ErrorCode::internal, "a configuration is exported once it is compiled");
  ASSAY_TRY(const assay_cutlass::Problem is, problem_of(problem, row));
  ExportFile object;
  ASSAY_TRY(object.text, read_file(options.artifact->file.string(), kMostBytes));
  // Two exported kernels may be used by one program.
  object.path = "kernel_" + sha256_hex(object.text).substr(0, 16) + ".so";
  const gemm::Places places = gemm::places_of(problem);
  const auto place = [](size_t at) { return fmt::format("data[{}]", at); };
  const bool swapped = is_swapped(row), reads_c = row.rule().find_operand("c") != nullptr;
  const std::string pointers = join(
      std::vector<std::string>{
          place(swapped ? places.b : places.a), place(swapped ? places.a : places.b),
          reads_c ? place(places.has_c ? places.c : places.out) : std::string("nullptr"),
          place(places.out), place(places.workspace)},
      ", ");
  const std::string numbers =
      fmt::format("{}, {}, {}, {}, {}, {}, {}, {}, {:.17g}, {:.17g}, {}, {}, {}", is.m, is.n, is.k,
                  is.batches, list(is.a), list(is.b), list(is.c), list(is.d), is.alpha, is.beta,
                  is.raster, is.swizzle, is.splits);
  KernelExport made;
  std::string code(kCode);
  code = replaced(std::move(code), "$problem", numbers);
  code = replaced(std::move(code), "$pointers", pointers);
  code = replaced(std::move(code), "$file", object.path);
  code = replaced(std::move(code), "$workspace",
                  fmt::format("{}", most_workspace_bytes(problem, row)));
  made.code =
      "#include <algorithm>\n#include <cstdlib>\n#include <cstring>\n#include <dlfcn.h>\n"
      "#include <string>\n\n#include \"cutlass_kernel.h\"\n" +
      code;
  // The caller times it as it does all device code.
  made.files = input::launcher_files();
  made.files.push_back(
      {"cutlass_kernel.h", std::string(find_embedded(embedded_files(), "kernel_abi.h"))});
  made.files.push_back(std::move(object));
  made.compile_flags = {"-std=c++20", "-O2"};
  made.link_flags = {"-ldl", "-pthread"};
  made.on_gpu = true;
  made.what = fmt::format(
      "a compiled kernel of CUTLASS for {}, called in its shared object, which lies beside the "
      "program and needs the driver (libcuda.so.1)",
      sanitize(options.target.arch, 40));
  return made;
}

}  // namespace assay::cutlass
