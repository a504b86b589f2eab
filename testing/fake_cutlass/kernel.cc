// What a fake nvcc of tests makes of every configuration of CUTLASS: an object with the interface
// of providers/cutlass/kernel_abi.h, which computes on the host when its stream of
// testing/fake_cuda comes to it. FAKE_A and FAKE_D are its types: f16, bf16, f32.
#include <bit>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <vector>

#include "providers/cutlass/kernel_abi.h"

namespace {

using assay_cutlass::Pointers;
using assay_cutlass::Problem;
using assay_cutlass::Strides;

struct f16 {
  _Float16 value;
  operator float() const { return static_cast<float>(value); }
  static f16 of(float value) { return {static_cast<_Float16>(value)}; }
};
struct bf16 {
  uint16_t bits;
  operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
  // To nearest, ties to even.
  static bf16 of(float value) {
    const auto all = std::bit_cast<uint32_t>(value);
    return {static_cast<uint16_t>((all + 0x7fff + (all >> 16 & 1)) >> 16)};
  }
};
struct f32 {
  float value;
  operator float() const { return value; }
  static f32 of(float value) { return {value}; }
};

constexpr int kNotReady = 1 + 1000;

struct State {
  Problem problem;
  Pointers pointers;
  bool ready;
};

// A word of the workspace for each: no real kernel needs less where it splits k.
constexpr int64_t kTile = 256;
int64_t tiles(int64_t size) { return (size + kTile - 1) / kTile; }

int64_t at(const Strides& strides, int64_t batch, int64_t row, int64_t column) {
  return batch * strides.batch + row * strides.row + column * strides.column;
}

void compute(const State& state) {
  const Problem& is = state.problem;
  const auto* a = static_cast<const FAKE_A*>(state.pointers.a);
  const auto* b = static_cast<const FAKE_A*>(state.pointers.b);
  const auto* c = static_cast<const FAKE_D*>(state.pointers.c);
  auto* d = static_cast<FAKE_D*>(state.pointers.d);
  auto* parts = static_cast<float*>(state.pointers.workspace);
  for (int64_t l = 0; l < is.batches; ++l)
    for (int64_t i = 0; i < is.m; ++i)
      for (int64_t j = 0; j < is.n; ++j) {
        double sum = 0;
        for (int64_t p = 0; p < is.k; ++p)
          sum += static_cast<double>(a[at(is.a, l, i, p)]) * b[at(is.b, l, p, j)];
        if (is.splits > 1) {
          float& part = parts[i / kTile * tiles(is.n) + j / kTile];
          part = static_cast<float>(sum);
          sum = part;
        }
        sum *= is.alpha;
        if (is.beta != 0) sum += is.beta * c[at(is.c, l, i, j)];
        d[at(is.d, l, i, j)] = FAKE_D::of(static_cast<float>(sum));
      }
}

int can_implement(const Problem* problem, const Pointers* pointers) {
  return problem->m > 0 && pointers->d != nullptr ? 0 : kNotReady;
}

uint64_t workspace_bytes(const Problem* problem) {
  if (problem->splits <= 1) return 0;
  return static_cast<uint64_t>(tiles(problem->m) * tiles(problem->n)) * sizeof(float);
}

int initialize(const Problem* problem, const Pointers* pointers, void* state) {
  *static_cast<State*>(state) = {*problem, *pointers, true};
  return 0;
}

int run(void* state, void* stream) {
  const State now = *static_cast<State*>(state);
  if (!now.ready) return kNotReady;
  using Launch = int(void*, const char*, const std::function<void()>&);
  // The driver that the process runs on, wherever it was found.
  static void* const driver = dlopen("libfake_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return kNotReady;
  static auto* const launch = reinterpret_cast<Launch*>(dlsym(driver, "fake_cuda_launch"));
  return launch(stream, "cutlass", [now] { compute(now); });
}

const char* message(int) { return "the fake says no"; }

constexpr assay_cutlass::Kernel kKernel = {assay_cutlass::kVersion,
                                           sizeof(assay_cutlass::Kernel),
                                           sizeof(State),
                                           64,
                                           5,
                                           384,
                                           200'000,
                                           128,
                                           can_implement,
                                           workspace_bytes,
                                           initialize,
                                           run,
                                           message};

}  // namespace

const assay_cutlass::Kernel* assay_cutlass_kernel() { return &kKernel; }
