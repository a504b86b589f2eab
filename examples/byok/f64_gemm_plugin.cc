// The interface as a plug-in: f64_gemm_kernel.h behind assay's C header, and nothing else of assay.
// The build makes plugins/f64_gemm.so of it, with f64_gemm_kernel.cc; by hand:
//   c++ -std=c++20 -O3 -shared -fPIC -I src examples/byok/f64_gemm_{plugin,kernel}.cc -o
//   f64_gemm.so

#include <cstdio>
#include <new>

#include "assay/kernel/plugin_abi.h"
#include "f64_gemm_kernel.h"

namespace {

// The fields of kernel_manifest.yaml: tunables span the kernels, and args says what they heed.
constexpr const char* kMetadata = R"({
  "name": "F64GemmKernel",
  "dtype": "f64",
  "accumulate": "f64",
  "layout": ["ttt", "ttn", "tnt", "tnn", "ntt", "ntn", "nnt", "nnn"],
  "args": ["a", "b", "out", "l", "m", "n", "k",
           "a_l", "a_m", "a_k", "b_l", "b_k", "b_n", "out_l", "out_m", "out_n"],
  "tunables": {"tile_m": [32, 16], "tile_n": [32, 16], "tile_k": [1]},
  "constraints": ["tile_m == tile_n"]
})";

// What a launch needs but its pointers.
struct Bound {
  byok::Tile tile;
  byok::Sizes sizes;
  byok::Matrices a, b, out;
  int a_index, b_index, out_index;
};

int launch(const void* state, void* const* data) {
  const Bound& bound = *static_cast<const Bound*>(state);
  const auto at = [&](byok::Matrices matrices, int index) {
    matrices.data = static_cast<double*>(data[index]);
    return matrices;
  };
  byok::f64_gemm(bound.tile, bound.sizes, at(bound.a, bound.a_index), at(bound.b, bound.b_index),
                 at(bound.out, bound.out_index));
  return 0;
}

void release(void* state) { delete static_cast<Bound*>(state); }

byok::Matrices strides(const AssayCall* call, int operand) {
  const AssayTensor& tensor = call->problem->operands[operand]->tensor;
  return {nullptr, tensor.strides[0], tensor.strides[1], tensor.strides[2]};
}

int bind(const AssayCall* call) {
  auto* bound = new (std::nothrow) Bound;
  if (bound == nullptr) {
    call->fail(call, "out of memory");
    return 1;
  }
  bound->tile = {static_cast<int>(assay_tunable(call, "tile_m")),
                 static_cast<int>(assay_tunable(call, "tile_n"))};
  bound->sizes = {assay_dimension(call, "l"), assay_dimension(call, "m"),
                  assay_dimension(call, "n"), assay_dimension(call, "k")};
  bound->a_index = assay_operand_index(call, "a");
  bound->b_index = assay_operand_index(call, "b");
  bound->out_index = assay_operand_index(call, "out");
  bound->a = strides(call, bound->a_index);
  bound->b = strides(call, bound->b_index);
  bound->out = strides(call, bound->out_index);
  const AssayHostStep step = {sizeof step, ASSAY_STEP_HOST, launch, bound, release};
  call->add_step(call, &step);
  return 0;
}

// Beyond dtypes and layouts, which the metadata has settled.
int supports(const AssayCall* call) {
  for (uint32_t i = 0; i < call->problem->operand_count; ++i) {
    const AssayOperand& operand = *call->problem->operands[i];
    if (operand.tensor.ndim == 3) continue;
    char sentence[100];
    std::snprintf(sentence, sizeof sentence, "operand %.20s has rank %d; this takes rank 3",
                  operand.role, static_cast<int>(operand.tensor.ndim));
    call->refuse(call, "size", sentence);
  }
  return 0;
}

constexpr AssayKernel kKernel = {
    sizeof(AssayKernel), 0, kMetadata, nullptr, supports, nullptr, bind};
constexpr const AssayKernel* kKernels[] = {&kKernel};

}  // namespace

int assay_plugin_v1(const AssayHost*, AssayPlugin* plugin) {
  plugin->struct_bytes = sizeof *plugin;
  plugin->abi_version = ASSAY_PLUGIN_ABI_VERSION;
  plugin->name = "f64_gemm";
  plugin->version = "1.0";
  plugin->kernel_count = 1;
  plugin->kernels = kKernels;
  return 0;
}
