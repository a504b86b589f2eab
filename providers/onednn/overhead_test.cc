// The figures of README.md: `onednn_provider_test --gtest_also_run_disabled_tests
// --gtest_filter='*DISABLED*'` prints them.

#include <array>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api.h"
#include "assay/op/gemm/gemm.h"
#include "providers/onednn/info.h"
#include "testing/bound_kernel.h"
#include "testing/interleave.h"

namespace assay::onednn {
namespace {

ProviderSettings tested_library() {
  const char* path = std::getenv("ASSAY_TEST_ONEDNN");
  return path == nullptr ? ProviderSettings() : ProviderSettings{{"library", path}};
}

// The primitive as the library's examples use it: descriptors, a scratchpad of the library's own,
// arguments that never change.
class Direct {
 public:
  static Result<Direct> make(std::shared_ptr<const Api> api, const DynamicLibrary& library,
                             const testing::BoundKernel& bound, const gemm::View& view,
                             bool packed) {
    Direct direct;
    direct.api_ = api;
    const int in = view.a == DType::bf16 ? abi::kBf16 : abi::kF32;
    const std::array<abi::Dim, 2> a = {view.m, view.k}, b = {view.k, view.n},
                                  out = {view.m, view.n};
    const std::array<abi::Dim, 2> a_strides = {view.k, 1}, b_strides = {view.b_k, view.b_n},
                                  out_strides = {view.n, 1};
    ASSAY_TRY(direct.a_, api->describe(in, a, a_strides));
    ASSAY_TRY(direct.b_, api->describe(in, b, b_strides));
    ASSAY_TRY(direct.out_, api->describe(abi::kF32, out, out_strides));
    Descriptor weights = direct.b_;
    if (packed) {
      ASSAY_TRY(weights, api->describe(in, b, {}));
    }
    abi::Handle engine = nullptr, made = nullptr;
    abi::engine_create* engine_create = nullptr;
    ASSAY_TRY(library.load("dnnl_engine_create", engine_create));
    engine_create(&engine, abi::kCpu, 0);
    if (api->major() == 2) {
      v2::matmul_desc_init* init = nullptr;
      v2::primitive_desc_create* create = nullptr;
      ASSAY_TRY(library.load("dnnl_matmul_desc_init", init));
      ASSAY_TRY(library.load("dnnl_primitive_desc_create", create));
      v2::MatmulDescriptor operation;
      if (init(&operation, direct.a_.get(), weights.get(), nullptr, direct.out_.get()) != 0 ||
          create(&made, &operation, nullptr, engine, nullptr) != 0)
        return fail(ErrorCode::failed, "no primitive");
    } else {
      v3::matmul_primitive_desc_create* create = nullptr;
      ASSAY_TRY(library.load("dnnl_matmul_primitive_desc_create", create));
      if (create(&made, engine, direct.a_.get(), weights.get(), nullptr, direct.out_.get(),
                 nullptr) != 0)
        return fail(ErrorCode::failed, "no primitive");
    }
    direct.descriptor_ = Object(made, [](void*) {});
    ASSAY_TRY(direct.primitive_, api->primitive(direct.descriptor_));
    // Objects of one engine: this one, not the provider's.
    abi::stream_create* stream_create = nullptr;
    abi::memory_create* memory_create = nullptr;
    ASSAY_TRY(library.load("dnnl_stream_create", stream_create));
    ASSAY_TRY(library.load("dnnl_memory_create", memory_create));
    const auto memory = [&](abi::ConstHandle descriptor, void* data) {
      abi::Handle object = nullptr;
      memory_create(&object, descriptor, engine, data);
      return Object(object, [](void*) {});
    };
    stream_create(&made, engine, abi::kInOrder);
    direct.stream_ = Object(made, [](void*) {});
    // Where b is packed, both sides read the same panels.
    direct.memories_ = {
        memory(direct.a_.get(), bound.data(0)),
        packed ? memory(api->query(direct.descriptor_, abi::kQueryWeights), bound.prepared())
               : memory(direct.b_.get(), bound.data(1)),
        memory(direct.out_.get(), bound.data(2))};
    direct.arguments_ = {{{abi::kArgSource, direct.memories_[0].get()},
                          {abi::kArgWeights, direct.memories_[1].get()},
                          {abi::kArgDestination, direct.memories_[2].get()}}};
    return direct;
  }

  int run() const { return api_->execute(primitive_.get(), stream_.get(), 3, arguments_.data()); }
  std::string implementation() const { return api_->implementation(descriptor_); }

 private:
  std::shared_ptr<const Api> api_;
  Descriptor a_, b_, out_;
  Object descriptor_, primitive_, stream_;
  std::array<Object, 3> memories_;
  std::array<abi::Argument, 3> arguments_{};
};

TEST(OneDnnOverhead, DISABLED_AgainstTheLibrarysOwnCalls) {
  const auto api = Api::open(tested_library());
  ASSERT_TRUE(api) << api.error().message;
  (*api)->use_threads(1);
  const auto library = DynamicLibrary::open((*api)->path());
  ASSERT_TRUE(library);
  fmt::print("oneDNN {}\n{:>4} {:>5} {:>5} {:4} {:2} {:16} {:>10} {:>10}  {}\n", (*api)->version(),
             "m", "n", "k", "in", "", "kernel", "call us", "ours us", "ours / call");
  for (const auto [m, n, k] : {std::array{16, 16, 16},
                               {1, 8192, 2048},
                               {4, 8192, 2048},
                               {16, 8192, 2048},
                               {128, 2048, 2048},
                               {512, 2048, 2048}}) {
    for (const DType in : {DType::f32, DType::bf16}) {
      for (const char* layout : {"tt", "tn"}) {
        for (const char* name : {"matmul/matmul", "matmul/matmul_prepared", "sgemm/sgemm"}) {
          const auto problem = gemm::problem({.m = m,
                                              .n = n,
                                              .k = k,
                                              .a = in,
                                              .b = in,
                                              .out = DType::f32,
                                              .layout = layout,
                                              .constant = {"b"}});
          ASSERT_TRUE(problem);
          const auto families = make_provider()->families(tested_library());
          ASSERT_TRUE(families);
          const auto kernel = testing::find_kernel(*families, *problem, name);
          if (!kernel) continue;
          auto bound = testing::BoundKernel::make(*kernel, *problem);
          ASSERT_TRUE(bound) << bound.error().message;
          const auto view = gemm::view(*problem);
          const bool packed = kernel->metadata().prepares();
          const bool sgemm = std::string_view(name) == "sgemm/sgemm";
          std::function<void()> call;
          std::string implementation = "dnnl_sgemm";
          if (sgemm) {
            const bool plain = view->b_n == 1;
            call = [&, m = m, n = n, k = k, plain] {
              (*api)->sgemm('N', plain ? 'N' : 'T', m, n, k, 1,
                            static_cast<const float*>(bound->data(0)), k,
                            static_cast<const float*>(bound->data(1)), plain ? n : k, 0,
                            static_cast<float*>(bound->data(2)), n);
            };
          } else {
            const auto direct = Direct::make(*api, *library, *bound, *view, packed);
            ASSERT_TRUE(direct) << direct.error().message;
            implementation = direct->implementation();
            ASSERT_EQ(direct->run(), abi::kSuccess);
            call = [direct = *direct] { static_cast<void>(direct.run()); };
          }
          const auto result = testing::interleave(
              call, [&] { static_cast<void>(bound->launch()); }, 0.7);
          fmt::print(
              "{:4} {:5} {:5} {:4} {:2} {:16} {:10.2f} {:10.2f}  {:.3f} [{:.3f}, {:.3f}], {}\n", m,
              n, k, to_string(in), layout, kernel->metadata().name(), result.first_us,
              result.second_us, result.ratio, result.low, result.high, implementation);
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::onednn
