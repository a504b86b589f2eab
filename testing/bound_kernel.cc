#include "testing/bound_kernel.h"

#include <cstring>

#include "assay/base/json.h"

namespace assay::testing {

Result<BoundKernel> BoundKernel::make(const Kernel& kernel, const Problem& problem, int threads,
                                      const CompileContext& context,
                                      std::unique_ptr<Device> device) {
  BoundKernel bound;
  bound.device_ = std::move(device);
  if (!bound.device_) {
    ASSAY_TRY(bound.device_, cpu::open({.threads = 1}));
  }
  ASSAY_TRY(bound.stream_, bound.device_->make_stream());
  ASSAY_TRY(const Operation* operation, find_operation(problem.operation()));
  ASSAY_TRY(bound.instance_, operation->make_instance(problem, InputKind::uniform, 3));
  Arguments arguments{problem, {}};
  const auto operands = problem.operands();
  for (size_t i = 0; i < operands.size(); ++i) {
    BufferOptions options;
    if (operands[i].alignment < 64) options.offset = static_cast<size_t>(operands[i].alignment);
    ASSAY_TRY(auto buffer,
              bound.device_->allocate(static_cast<size_t>(operands[i].span_bytes), options));
    if (operands[i].access == Access::write)
      bound.output_ = i;
    else
      std::memcpy(buffer->data(), bound.instance_->input(i).data(),
                  bound.instance_->input(i).size());
    arguments.data.push_back(buffer->data());
    bound.buffers_.push_back(std::move(buffer));
  }
  ASSAY_TRY(bound.artifact_, kernel.compile(problem, bound.device_->target(), context));
  const size_t bytes = kernel.workspace_bytes(problem, threads);
  std::span<std::byte> workspace;
  if (bytes > 0) {
    ASSAY_TRY(bound.workspace_, bound.device_->allocate(bytes, {}));
    workspace = {static_cast<std::byte*>(bound.workspace_->data()), bytes};
  }
  ASSAY_TRY(bound.plan_, kernel.plan({.arguments = arguments,
                                      .artifact = bound.artifact_,
                                      .device = *bound.device_,
                                      .workspace = workspace,
                                      .threads = threads}));
  return bound;
}

Check BoundKernel::check() const {
  const auto bytes = static_cast<size_t>(instance_->problem().operands()[output_].span_bytes);
  return instance_->check({static_cast<const std::byte*>(buffers_[output_]->data()), bytes});
}

Result<Kernel> find_kernel(const std::vector<std::shared_ptr<const Family>>& families,
                           const Problem& problem, const std::string& family_and_name) {
  Catalog catalog;
  for (const auto& family : families) catalog.add("tested", ProviderRole::stock, family);
  ASSAY_TRY(const Found found,
            catalog.get_kernels(problem, KernelQuery{.target = cpu::host_target()}));
  for (const Kernel& kernel : found.kernels)
    if (kernel.metadata().family() + "/" + kernel.metadata().name() == family_and_name)
      return kernel;
  return fail(ErrorCode::not_found, "no kernel {} runs {}: {}", family_and_name, problem.name(),
              found.refusals.to_json().dump());
}

}  // namespace assay::testing
