#include "call.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>
#include <sys/stat.h>

#include "assay/base/forked.h"
#include "assay/base/text.h"
#include "assay/op/gemm/matrix.h"

namespace assay::cutlass {
namespace {

struct Freed {
  void operator()(void* memory) const { std::free(memory); }
};

// A kernel with its parameters, tensor maps included, for one set of operands. Pointers that change
// make them anew: a few microseconds, and no memory.
struct Bound {
  const assay_cutlass::Kernel* kernel = nullptr;
  assay_cutlass::Problem problem{};
  gemm::Places places;
  bool swapped = false, reads_c = false;
  std::unique_ptr<void, Freed> state;
  mutable assay_cutlass::Pointers pointers{};

  assay_cutlass::Pointers pointers_of(void* const* data) const {
    assay_cutlass::Pointers now{};
    now.a = data[swapped ? places.b : places.a];
    now.b = data[swapped ? places.a : places.b];
    now.d = data[places.out];
    // Where beta is 0 it is not read, but its tensor map is made.
    if (reads_c) now.c = data[places.has_c ? places.c : places.out];
    now.workspace = data[places.workspace];
    return now;
  }

  int initialize(const assay_cutlass::Pointers& now) const {
    const int code = kernel->initialize(&problem, &now, state.get());
    pointers = code == 0 ? now : assay_cutlass::Pointers{};
    return code;
  }

  static bool same(const assay_cutlass::Pointers& x, const assay_cutlass::Pointers& y) {
    return x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d && x.workspace == y.workspace;
  }

  static int launch(const void* state, void* const* data, void* stream) {
    const Bound& bound = *static_cast<const Bound*>(state);
    const assay_cutlass::Pointers now = bound.pointers_of(data);
    if (!same(now, bound.pointers))
      if (const int code = bound.initialize(now); code != 0) return code;
    return bound.kernel->run(bound.state.get(), stream);
  }
};

// Of lines that lie side by side; of a single line, or of lines of one element, what a dense matrix
// would have: tensor maps take no other.
Result<assay_cutlass::Strides> strides_of(const gemm::Matrix& matrix, bool by_rows) {
  const auto leading = matrix.leading(by_rows);
  if (!leading) return fail(ErrorCode::unsupported, "an operand's strides are none of a matrix");
  return by_rows ? assay_cutlass::Strides{*leading, 1, matrix.batch_stride}
                 : assay_cutlass::Strides{1, *leading, matrix.batch_stride};
}

// A compiler that goes wrong leaves anything, or nothing: a pipe would be waited for, and a link
// leads elsewhere.
Status check_object(const std::string& file) {
  constexpr std::string_view kMagic =
      "\x7f"
      "ELF";
  struct stat facts {};
  if (::lstat(file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return fail(ErrorCode::build_failed, "what was compiled is no regular file");
  std::array<char, kMagic.size()> head{};
  std::ifstream(file, std::ios::binary).read(head.data(), head.size());
  if (std::string_view(head.data(), head.size()) != kMagic)
    return fail(ErrorCode::build_failed, "what was compiled is no shared object");
  return {};
}

}  // namespace

Result<MappedKernel> MappedKernel::open(const std::string& file) {
  ASSAY_TRY(check_object(file));
  // Stays mapped: CUDA's runtime in it has registered its code.
  auto library = DynamicLibrary::open(file, {.deep_bind = false});
  if (!library)
    return fail(ErrorCode::build_failed, "what was compiled cannot be loaded: {}",
                library.error().message);
  const assay_cutlass::Kernel* (*entry)() = nullptr;
  ASSAY_TRY(void* const symbol, library->symbol("assay_cutlass_kernel"));
  entry = reinterpret_cast<const assay_cutlass::Kernel* (*)()>(symbol);
  const assay_cutlass::Kernel* const kernel = entry();
  if (kernel == nullptr || kernel->version != assay_cutlass::kVersion ||
      kernel->bytes != sizeof(assay_cutlass::Kernel) ||
      !std::has_single_bit(kernel->state_alignment) || kernel->can_implement == nullptr ||
      kernel->workspace_bytes == nullptr || kernel->initialize == nullptr ||
      kernel->run == nullptr || kernel->message == nullptr)
    return fail(ErrorCode::build_failed, "what was compiled has another interface");
  return MappedKernel{std::move(*library), kernel};
}

Result<KernelFacts> ask_object(const std::string& file, double seconds, int cancel_fd) {
  ASSAY_TRY(check_object(file));
  // Its first letter says which of the two follows.
  constexpr char kFacts = 'f', kError = 'e';
  const auto use = [&] {
    const auto mapped = MappedKernel::open(file);
    if (!mapped) return kError + mapped.error().message;
    const assay_cutlass::Kernel& is = *mapped->kernel;
    const KernelFacts facts{is.stages, is.threads, is.shared_bytes, is.accumulators};
    return kFacts + std::string(reinterpret_cast<const char*>(&facts), sizeof facts);
  };
  const auto answer =
      ask_forked(use, {.timeout_ns = static_cast<int64_t>(seconds * 1e9), .cancel_fd = cancel_fd});
  if (!answer && answer.error().code != ErrorCode::failed) return fail(answer.error());
  if (!answer)
    return fail(ErrorCode::build_failed,
                "the process that maps what was compiled gave no answer: {}",
                answer.error().message);
  KernelFacts facts;
  if (answer->front() == kFacts && answer->size() == 1 + sizeof facts) {
    std::memcpy(&facts, answer->data() + 1, sizeof facts);
    return facts;
  }
  return fail(ErrorCode::build_failed, "{}", sanitize(answer->substr(1), 500));
}

Result<assay_cutlass::Problem> problem_of(const Problem& problem, const KernelMetadata& row) {
  ASSAY_TRY(const gemm::View view, gemm::view(problem));
  ASSAY_TRY(const Configuration configuration, configuration_of(row));
  const Runtime runtime = runtime_of(row);
  assay_cutlass::Problem made{};
  gemm::Matrix a = gemm::matrix_a(view), b = gemm::matrix_b(view), out = gemm::matrix_out(view);
  gemm::Matrix c = view.has_c ? gemm::matrix_c(view) : out;
  made.m = view.m;
  made.n = view.n;
  if (is_swapped(row)) {
    std::swap(a, b);
    std::swap(made.m, made.n);
    for (gemm::Matrix* matrix : {&a, &b, &c, &out}) *matrix = matrix->transposed();
  }
  made.k = view.k;
  made.batches = view.l;
  ASSAY_TRY(made.a, strides_of(a, configuration.operands.a_row_major));
  ASSAY_TRY(made.b, strides_of(b, configuration.operands.b_row_major));
  const bool d_row_major = configuration.operands.d_row_major();
  ASSAY_TRY(made.c, strides_of(c, d_row_major));
  ASSAY_TRY(made.d, strides_of(out, d_row_major));
  made.alpha = view.alpha;
  made.beta = view.beta;
  made.raster = runtime.raster == "along_m" ? 1 : runtime.raster == "along_n" ? 2 : 0;
  made.swizzle = static_cast<int32_t>(runtime.swizzle);
  made.splits = static_cast<int32_t>(runtime.split_k);
  return made;
}

size_t most_workspace_bytes(const Problem& problem, const KernelMetadata& row) {
  const auto view = gemm::view(problem);
  if (!view) return 0;
  const bool swapped = is_swapped(row);
  return static_cast<size_t>(generation_of(row).most_workspace_bytes(
      row, swapped ? view->n : view->m, swapped ? view->m : view->n, view->l));
}

Result<StreamStep> bind_call(const KernelMetadata& row, const Binding& binding) {
  ASSAY_TRY(const MappedKernel mapped, MappedKernel::open(binding.artifact.file.string()));
  auto bound = std::make_shared<Bound>();
  bound->kernel = mapped.kernel;
  ASSAY_TRY(bound->problem, problem_of(binding.problem, row));
  bound->places = gemm::places_of(binding.problem);
  bound->swapped = is_swapped(row);
  bound->reads_c = row.rule().find_operand("c") != nullptr;
  const size_t alignment = std::max<size_t>(mapped.kernel->state_alignment, sizeof(void*));
  const size_t bytes = (mapped.kernel->state_bytes + alignment - 1) / alignment * alignment;
  bound->state.reset(std::aligned_alloc(alignment, bytes));
  if (!bound->state) return fail(ErrorCode::machine, "no memory for a kernel's parameters");
  const size_t needed = mapped.kernel->workspace_bytes(&bound->problem);
  if (needed > binding.workspace_bytes)
    return fail(ErrorCode::unsupported, "it wants a workspace of {} bytes, and has {}", needed,
                binding.workspace_bytes);
  std::vector<void*> data(binding.data.begin(), binding.data.end());
  data.push_back(binding.workspace);
  data.push_back(nullptr);
  const assay_cutlass::Pointers pointers = bound->pointers_of(data.data());
  const auto check = [&](int code, std::string_view doing) -> Status {
    if (code == 0) return {};
    return fail(ErrorCode::unsupported, "CUTLASS, {}: {}", doing, mapped.kernel->message(code));
  };
  ASSAY_TRY(
      check(mapped.kernel->can_implement(&bound->problem, &pointers), "asked for this problem"));
  ASSAY_TRY(check(bound->initialize(pointers), "preparing a launch"));
  return StreamStep{&Bound::launch, std::move(bound)};
}

}  // namespace assay::cutlass
