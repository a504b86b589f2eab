// What a launch costs the host: a plan's against the driver's own call.

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/device/cuda/cuda_device.h"
#include "assay/kernel/catalog.h"
#include "assay/kernel/device_code/bind.h"
#include "assay/stats/robust.h"
#include "bench/gpu.h"

namespace assay::bench {
namespace {

constexpr const char* kEmpty = R"(
.version 7.8
.target sm_70
.address_size 64
.visible .entry nothing(.param .u64 a, .param .u64 b, .param .u64 out, .param .u64 m,
                        .param .u64 n, .param .u64 k)
{
  ret;
}
)";

// A family of one kernel that does nothing.
class Nothing final : public Family {
 public:
  Nothing() {
    KernelTraits traits;
    traits.name = "nothing";
    ProblemRule rule;
    for (const char* role : {"a", "b", "out"})
      rule.operands.push_back({.role = role, .dtypes = {DType::f16}});
    traits.rule = std::make_shared<const ProblemRule>(std::move(rule));
    row_ = KernelMetadata(std::move(traits), Design());
  }
  std::string_view name() const override { return "nothing"; }
  const KernelMetadata& row() const { return row_; }

 private:
  void do_enumerate(const Query&, const MetadataSink& sink) const override { sink(row_); }
  Refusals do_supports(const KernelMetadata&, const Problem&, const Target&) const override {
    return {};
  }
  Result<Artifact> do_compile(const KernelMetadata&, const MaskedProblem&, const Target&,
                              const CompileContext&) const override {
    return Artifact::without_bytes({{"nothing", true}});
  }
  Status do_bind(const KernelMetadata&, const Binding& binding,
                 std::vector<Step>& steps) const override {
    std::vector<ArgumentValue> values;
    for (int place = 0; place < 3; ++place)
      values.push_back({.name = "pointer", .kind = ArgumentValue::Kind::pointer, .place = place});
    for (const char* size : {"m", "n", "k"})
      values.push_back({.name = size,
                        .kind = ArgumentValue::Kind::integer,
                        .integer = binding.problem.dimension(size)});
    const std::string_view text(kEmpty);
    ASSAY_TRY(auto step, device_code::bind(binding.device,
                                           std::as_bytes(std::span(text.data(), text.size() + 1)),
                                           "nothing", {}, values));
    steps.push_back(std::move(step));
    return {};
  }
  KernelMetadata row_;
};

}  // namespace

Result<std::vector<Row>> measure_gpu_host(const Context& context) {
  constexpr int kLaunches = 200;  // The stream takes so many without waiting.
  ASSAY_TRY(const std::string uuid, bench_gpu());
  ASSAY_TRY(const auto driver, cuda::Driver::open());
  ASSAY_TRY(const auto gpus, cuda::list_gpus(*driver));
  const auto gpu = std::ranges::find(gpus, uuid, &cuda::Gpu::uuid);
  ASSAY_TRY(const auto device, cuda::open(driver, *gpu));
  ASSAY_TRY(const auto stream, device->make_stream());
  ASSAY_TRY(const Problem problem, gemm::problem(gpu_shape(1, 64, 64)));
  const auto family = std::make_shared<Nothing>();
  const Kernel kernel(family, family->row());
  ASSAY_TRY(const auto memory, device->allocate(1 << 16, {}));
  const Arguments arguments{problem, {memory->data(), memory->data(), memory->data()}};
  const CompileContext compile;
  ASSAY_TRY(const Artifact artifact, kernel.compile(problem, device->target(), compile));
  ASSAY_TRY(
      Plan plan,
      kernel.plan(
          {.arguments = arguments, .artifact = artifact, .device = *device, .workspace = {}}));
  const auto& step = std::get<DeviceStep>(plan.steps().front());
  void* pointer = memory->data();
  int64_t size = 64;
  std::array<void*, 6> parameters = {&pointer, &pointer, &pointer, &size, &size, &size};
  const cuda::abi::LaunchConfig config = {
      1, 1, 1, 1, 1, 1, 0, static_cast<cuda::abi::Stream>(stream->native()), nullptr, 0};
  const auto& call = driver->call();

  std::vector<double> bare, ours, checked;
  Status status;
  const auto time = [&](const auto& launch) {
    const int64_t start = monotonic_ns();
    for (int i = 0; i < kLaunches && status; ++i) status = launch();
    const double ns = static_cast<double>(monotonic_ns() - start) / kLaunches;
    if (status) status = stream->synchronize();
    return ns;
  };
  const int rounds = context.count(400, 20);
  for (int round = 0; round < rounds; ++round) {
    bare.push_back(time([&] {
      return driver->check(call.launch(&config, static_cast<cuda::abi::Function>(step.function),
                                       parameters.data(), nullptr),
                           "launching");
    }));
    ours.push_back(time([&] { return plan.launch(*stream); }));
    checked.push_back(time([&]() -> Status {
      if (!kernel.supports(problem, device->target()).empty())
        return fail(ErrorCode::unsupported, "refused");
      return plan.launch(*stream);
    }));
  }
  ASSAY_TRY(status);
  const double base = stats::median(bare), more = stats::median(ours) - base;
  Row launch{.target = "plan launch against the driver's own call",
             .bound = "<= 300 ns more",
             .measured = fmt::format("{:.0f} ns more ({:.0f} ns)", more, base),
             .ok = more <= 300};
  launch.details = {{"driver_ns", bare}, {"plan_ns", ours}, {"checked_ns", checked}};
  const double whole = stats::median(checked);
  const Row run{.target = "support check and launch",
                .bound = "<= 2 us",
                .measured = fmt::format("{:.0f} ns, {:.0f} of them the driver's", whole, base),
                .ok = whole <= 2000};
  return std::vector<Row>{std::move(launch), run};
}

}  // namespace assay::bench
