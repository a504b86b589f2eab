#include "gemm.h"
#include "kernels.h"
#include "norm.h"
#include "providers/native_cpu/info.h"

namespace assay::native_cpu {
namespace {

class NativeCpuProvider final : public Provider {
 public:
  const ProviderInfo& info() const override { return provider_info(); }

 private:
  Availability do_availability(const ProviderSettings&) const override {
    Availability availability;
    availability.available = is_supported(Isa::avx2, Element::f32);
    if (!availability.available) availability.reason = "this processor has no AVX2 with FMA";
    availability.details = {{"f16c", is_supported(Isa::avx2, Element::f16)},
                            {"avx512", is_supported(Isa::avx512, Element::f32)},
                            {"avx512_bf16", is_supported(Isa::avx512_bf16, Element::bf16)},
                            {"avx512_vnni", is_supported(Isa::avx512_vnni, Element::s8)},
                            {"amx_bf16", is_supported(Isa::amx, Element::bf16)},
                            {"amx_int8", is_supported(Isa::amx, Element::s8)}};
    return availability;
  }

  // Offered wherever the program runs: each row names the instructions that it needs.
  Result<std::vector<std::shared_ptr<const Family>>> do_families(
      const ProviderSettings&) const override {
    auto families = make_families();
    families.push_back(make_norm_family());
    return families;
  }
};

}  // namespace

std::unique_ptr<Provider> make_provider() { return std::make_unique<NativeCpuProvider>(); }

}  // namespace assay::native_cpu
