#include "assay/referee/gpu.h"

#include <array>
#include <optional>
#include <utility>

#include "assay/process/gpu/code.h"
#include "assay/referee/gpu_code.h"

namespace assay::sweep {
namespace {

class GpuMemory final : public Calculator::Memory {
 public:
  GpuMemory(std::unique_ptr<Buffer> buffer, std::shared_ptr<uint64_t> allocated)
      : buffer_(std::move(buffer)), allocated_(std::move(allocated)) {
    *allocated_ += buffer_->bytes();
  }
  ~GpuMemory() override { *allocated_ -= buffer_->bytes(); }
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  const void* data() const override { return buffer_->data(); }

 private:
  std::unique_ptr<Buffer> buffer_;
  std::shared_ptr<uint64_t> allocated_;
};

int64_t round_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

// The addresses of a launch's parameters.
template <class... T>
std::array<void*, sizeof...(T)> addresses(T&... values) {
  return {static_cast<void*>(&values)...};
}

}  // namespace

Result<std::unique_ptr<RefereeGpu>> RefereeGpu::open(std::unique_ptr<cuda::CudaDevice> device,
                                                     double multiplications_of_a_look) {
  std::unique_ptr<RefereeGpu> gpu(new RefereeGpu(std::move(device), multiplications_of_a_look));
  ASSAY_TRY(gpu->stream_, gpu->device_->make_stream());
  ASSAY_TRY(gpu->renewal_, GpuRenewal::create(*gpu->device_));
  ASSAY_TRY(gpu->code_, load_code(*gpu->device_, referee_code(code_target(gpu->device_->gpu()))));
  for (const auto& [name, function] : {std::pair{"assay_widen", &gpu->widen_},
                                       {"assay_multiply", &gpu->multiply_},
                                       {"assay_compare", &gpu->compare_}}) {
    ASSAY_TRY(const auto found, gpu->code_->function(name, 0, false));
    *function = found.handle;
  }
  return gpu;
}

Result<std::shared_ptr<const Calculator::Memory>> RefereeGpu::allocate(size_t bytes) {
  ASSAY_TRY(auto buffer, device_->allocate(bytes, {}));
  return std::make_shared<const GpuMemory>(std::move(buffer), allocated_);
}

bool RefereeGpu::has_room() const { return *allocated_ <= device_->memory_bytes() / 3; }

Result<std::shared_ptr<const Calculator::Memory>> RefereeGpu::keep(
    std::span<const std::byte> bytes) {
  ASSAY_TRY(auto memory, allocate(bytes.size()));
  ASSAY_TRY(device_->copy_in(const_cast<void*>(memory->data()), bytes));
  // What the driver has to stage may still be on its way.
  const cuda::Driver& driver = *device_->driver();
  ASSAY_TRY(driver.check(driver.call().context_synchronize(), "waiting for copies to the GPU"));
  return memory;
}

Result<std::shared_ptr<const Calculator::Memory>> RefereeGpu::fetch(
    const cuda::SharedMemory& shared) {
  ASSAY_TRY(const auto view, cuda::SharedView::open(device_->driver(), shared));
  ASSAY_TRY(auto memory, copy(view.data(), shared.bytes));
  ASSAY_TRY(stream_->synchronize());
  return memory;
}

// Enqueued.
Result<std::shared_ptr<const Calculator::Memory>> RefereeGpu::copy(const void* from, size_t bytes) {
  ASSAY_TRY(auto memory, allocate(bytes));
  const cuda::Driver& driver = *device_->driver();
  ASSAY_TRY(
      driver.check(driver.call().copy_async(reinterpret_cast<cuda::abi::Address>(memory->data()),
                                            reinterpret_cast<cuda::abi::Address>(from), bytes,
                                            static_cast<cuda::abi::Stream>(stream_->native())),
                   "copying within the GPU"));
  return memory;
}

Result<std::shared_ptr<const Calculator::Memory>> RefereeGpu::renew(const Renewal& renewal,
                                                                    size_t bytes) {
  ASSAY_TRY(auto memory, allocate(bytes));
  ASSAY_TRY(renewal_->renew(*stream_, const_cast<void*>(memory->data()), renewal));
  return memory;
}

Status RefereeGpu::read(const void* memory, std::span<std::byte> to) {
  // A copy does not wait for this stream, on which what it reads may still be made.
  ASSAY_TRY(stream_->synchronize());
  return device_->copy_out(to, memory);
}

Result<RefereeGpu::Panels> RefereeGpu::widen(const Matrix& matrix, bool rows) {
  ASSAY_TRY(ElementCode code, element_code(matrix.dtype));
  int64_t lines = matrix.rows, depth = matrix.columns;
  int64_t line_stride = matrix.row_stride, depth_stride = matrix.column_stride;
  if (!rows) {
    std::swap(lines, depth);
    std::swap(line_stride, depth_stride);
  }
  line_stride *= size_bytes(matrix.dtype);
  depth_stride *= size_bytes(matrix.dtype);
  Panels panels{nullptr, round_up(lines, kPanel) / kPanel, round_up(depth, kDepthStep)};
  int64_t elements = panels.count * kPanel * panels.depth;
  ASSAY_TRY(panels.memory, allocate(static_cast<size_t>(elements) * sizeof(double)));
  const void *from = matrix.data, *to = panels.memory->data();
  const auto parameters =
      addresses(from, to, lines, depth, panels.depth, line_stride, depth_stride, elements, code);
  ASSAY_TRY(stream_->launch({.function = widen_,
                             .grid = {blocks_for(*device_, static_cast<size_t>(elements)), 1, 1},
                             .block = {kCodeThreads, 1, 1},
                             .parameters = parameters}));
  return panels;
}

Result<Calculator::Product> RefereeGpu::multiply(const Matrix& a, const Matrix& b) {
  constexpr int64_t kMostBlocks = 65535;  // Along y.
  if (a.rows > kMostBlocks * kPanel)
    return fail(ErrorCode::unsupported, "{} rows are not multiplied on a GPU", a.rows);
  ASSAY_TRY(Panels left, widen(a, true));
  ASSAY_TRY(const Panels right, widen(b, false));
  Product made{nullptr, nullptr, a.rows, b.columns};
  const auto bytes = static_cast<size_t>(a.rows) * static_cast<size_t>(b.columns) * sizeof(double);
  ASSAY_TRY(made.product, allocate(bytes));
  ASSAY_TRY(made.magnitude, allocate(bytes));
  const void *from_a = left.memory->data(), *from_b = right.memory->data();
  const void *product = made.product->data(), *magnitude = made.magnitude->data();
  const auto parameters =
      addresses(from_a, from_b, product, magnitude, made.rows, made.columns, left.depth);
  ASSAY_TRY(stream_->launch(
      {.function = multiply_,
       .grid = {static_cast<uint32_t>(right.count), static_cast<uint32_t>(left.count), 1},
       .block = {kMultiplyThreads, 1, 1},
       .parameters = parameters}));
  // The panels go now.
  ASSAY_TRY(stream_->synchronize());
  return made;
}

Result<double> RefereeGpu::element(const Matrix& matrix, int64_t row, int64_t column) {
  std::array<std::byte, sizeof(double)> bytes = {};
  const auto size = static_cast<size_t>(size_bytes(matrix.dtype));
  const int64_t at =
      (row * matrix.row_stride + column * matrix.column_stride) * size_bytes(matrix.dtype);
  ASSAY_TRY(device_->copy_out(std::span(bytes).first(size),
                              static_cast<const std::byte*>(matrix.data) + at));
  return load_as_double(matrix.dtype, bytes.data());
}

Result<Calculator::Comparison> RefereeGpu::compare(const Matrix& out, const Product& product,
                                                   const Matrix* c, const Rule& rule) {
  Tally tally;
  ASSAY_TRY(const auto sums, keep(std::as_bytes(std::span(&tally, 1))));
  const auto strides = [](const Matrix& matrix) {
    return std::pair(matrix.row_stride * size_bytes(matrix.dtype),
                     matrix.column_stride * size_bytes(matrix.dtype));
  };
  const void *output = out.data, *addend = c == nullptr ? nullptr : c->data;
  ASSAY_TRY(ElementCode out_code, element_code(out.dtype));
  ASSAY_TRY(ElementCode c_code, element_code(c == nullptr ? out.dtype : c->dtype));
  auto [out_row, out_column] = strides(out);
  auto [c_row, c_column] = strides(c == nullptr ? out : *c);
  const void *products = product.product->data(), *magnitudes = product.magnitude->data();
  const void* to = sums->data();
  int64_t rows = out.rows, columns = out.columns;
  Rule by = rule;
  double exact_step = rule.exact ? rule.exact_step : 0, split = rule.exact ? 0 : rule.split;
  const auto parameters =
      addresses(output, out_code, out_row, out_column, addend, c_code, c_row, c_column, products,
                magnitudes, to, rows, columns, by.alpha, by.beta, exact_step, by.growth,
                by.rounding, by.underflow, by.min_normal, split, by.plain, by.last);
  ASSAY_TRY(
      stream_->launch({.function = compare_,
                       .grid = {blocks_for(*device_, static_cast<size_t>(rows * columns)), 1, 1},
                       .block = {kCodeThreads, 1, 1},
                       .parameters = parameters}));
  ASSAY_TRY(stream_->synchronize());
  ASSAY_TRY(device_->copy_out(std::as_writable_bytes(std::span(&tally, 1)), to));
  Comparison found{static_cast<int64_t>(tally.wrong),
                   std::nullopt,
                   tally.largest_error,
                   tally.sum_of_errors,
                   tally.largest_unit,
                   tally.squared,
                   tally.squared_errors,
                   tally.plain_squares};
  if (tally.wrong == 0) return found;
  const int64_t row = static_cast<int64_t>(tally.first) / columns;
  const int64_t column = static_cast<int64_t>(tally.first) % columns;
  const auto dense = [&](const std::shared_ptr<const Memory>& memory) {
    return Matrix{memory->data(), DType::f64, rows, columns, columns, 1};
  };
  Element& first = found.first.emplace();
  first.row = row;
  first.column = column;
  ASSAY_TRY(first.got, element(out, row, column));
  ASSAY_TRY(first.product, element(dense(product.product), row, column));
  ASSAY_TRY(first.magnitude, element(dense(product.magnitude), row, column));
  if (c != nullptr) {
    ASSAY_TRY(first.addend, element(*c, row, column));
  }
  return found;
}

}  // namespace assay::sweep
