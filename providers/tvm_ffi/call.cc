#include "call.h"

#include <algorithm>

#include "assay/device/cuda/cuda_device.h"

namespace assay::tvm_ffi {

Result<Step> Call::make_step(Loaded loaded, const Binding& binding,
                             const std::vector<ArgumentValue>& values, bool batched) {
  const auto* gpu = dynamic_cast<const cuda::CudaDevice*>(&binding.device);
  std::shared_ptr<Call> call(new Call(std::move(loaded)));
  call->device_id_ = gpu == nullptr ? 0 : gpu->gpu().ordinal;
  const DlpackDevice device{gpu == nullptr ? abi::kCpu : abi::kCuda, call->device_id_};
  for (const ArgumentValue& value : values) {
    abi::Any& argument = call->arguments_.emplace_back();
    switch (value.kind) {
      case ArgumentValue::Kind::pointer:
        if (value.place < 0) break;
        ASSAY_TRY(call->add_tensor(value, binding, batched, device));
        argument.type_index = abi::kTensor;
        argument.pointer = &call->tensors_.back()->tensor;
        break;
      case ArgumentValue::Kind::integer:
        argument.type_index = abi::kInt;
        argument.integer = value.integer;
        break;
      case ArgumentValue::Kind::real:
        argument.type_index = abi::kFloat;
        argument.real = value.real;
        break;
      case ArgumentValue::Kind::tensor_map:
        return fail(ErrorCode::internal, "{} is a tensor map", value.name);
    }
  }
  if (gpu == nullptr) return Step(HostStep{&Call::launch, std::move(call), &Call::reason});
  return Step(StreamStep{&Call::enqueue, std::move(call), &Call::reason});
}

Status Call::add_tensor(const ArgumentValue& value, const Binding& binding, bool batched,
                        DlpackDevice device) {
  auto made = std::make_unique<Tensor>();
  made->place = value.place;
  const auto operands = binding.problem.operands();
  TensorView view;
  if (static_cast<size_t>(value.place) < operands.size()) {
    const Operand& operand = operands[static_cast<size_t>(value.place)];
    if (operand.sizes.size() != 3 || operand.strides.size() != 3)
      return fail(ErrorCode::unsupported, "operand {} is no matrix", operand.role);
    view.dtype = operand.dtype;
    const auto first = batched ? 0 : 1;
    view.rank = 3 - first;
    std::copy(operand.sizes.begin() + first, operand.sizes.end(), made->sizes.begin());
    std::copy(operand.strides.begin() + first, operand.strides.end(), made->strides.begin());
  } else {
    view.dtype = DType::u8;
    view.rank = 1;
    made->sizes[0] = static_cast<int64_t>(binding.workspace_bytes);
    made->strides[0] = 1;
  }
  ASSAY_TRY(to_dlpack(view, made->tensor));
  made->tensor.device = device;
  made->tensor.shape = made->sizes.data();
  made->tensor.strides = made->strides.data();
  tensors_.push_back(std::move(made));
  return {};
}

int Call::run(void* const* data) {
  for (const auto& tensor : tensors_) tensor->tensor.data = data[tensor->place];
  abi::Any result;
  const int code = loaded_.function(nullptr, arguments_.data(),
                                    static_cast<int32_t>(arguments_.size()), &result);
  if (code == 0 && result.type_index >= abi::kFirstObject && result.pointer != nullptr)
    (void)loaded_.api->call().release(result.pointer);
  return code;
}

// A plan is launched by one thread at a time, and its state is its own.
int Call::launch(const void* state, void* const* data) {
  return static_cast<Call*>(const_cast<void*>(state))->run(data);
}

int Call::enqueue(const void* state, void* const* data, void* stream) {
  auto* call = static_cast<Call*>(const_cast<void*>(state));
  // Kept by thread and device: plans of other streams may have been launched in between.
  if (const int code =
          call->loaded_.api->call().set_stream(abi::kCuda, call->device_id_, stream, nullptr);
      code != 0)
    return code;
  return call->run(data);
}

std::string Call::reason(const void* state) {
  std::string why = static_cast<const Call*>(state)->loaded_.api->take_raised();
  return why.empty() ? "it raised no error that would say why" : why;
}

}  // namespace assay::tvm_ffi
