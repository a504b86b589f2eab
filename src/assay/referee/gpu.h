#pragma once

// The referee's own context on the GPU, in which it compares outputs of kernels that ran in other
// processes: with copies that it takes of their memory, against products that it works out itself.
// Idle while a worker times.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/device/cuda/cuda_device.h"
#include "assay/device/cuda/shared_memory.h"
#include "assay/op/calculator.h"
#include "assay/process/gpu/renewal.h"

namespace assay::sweep {

class RefereeGpu final : public Calculator {
 public:
  // 2^34: of float64 on an H200 1.4 ms (measured: 2.5e13 multiplications a second).
  static constexpr double kMultiplicationsOfALook = 0x1p34;
  static Result<std::unique_ptr<RefereeGpu>> open(
      std::unique_ptr<cuda::CudaDevice> device,
      double multiplications_of_a_look = kMultiplicationsOfALook);

  Result<std::shared_ptr<const Memory>> keep(std::span<const std::byte> bytes) override;
  Status read(const void* memory, std::span<std::byte> to) override;
  double multiplications_of_a_look() const override { return multiplications_of_a_look_; }
  bool has_room() const override;
  Result<std::shared_ptr<const Memory>> renew(const Renewal& renewal, size_t bytes) override;
  Result<Product> multiply(const Matrix& a, const Matrix& b) override;
  Result<Comparison> compare(const Matrix& out, const Product& product, const Matrix* c,
                             const Rule& rule) override;

  // A copy of what another process shares.
  Result<std::shared_ptr<const Memory>> fetch(const cuda::SharedMemory& shared);

 private:
  RefereeGpu(std::unique_ptr<cuda::CudaDevice> device, double multiplications_of_a_look)
      : device_(std::move(device)), multiplications_of_a_look_(multiplications_of_a_look) {}
  Result<std::shared_ptr<const Memory>> allocate(size_t bytes);
  Result<std::shared_ptr<const Memory>> copy(const void* from, size_t bytes);
  // Of a matrix's rows, or of its columns.
  struct Panels {
    std::shared_ptr<const Memory> memory;
    int64_t count = 0, depth = 0;
  };
  Result<Panels> widen(const Matrix& matrix, bool rows);
  Result<double> element(const Matrix& matrix, int64_t row, int64_t column);

  std::unique_ptr<cuda::CudaDevice> device_;
  double multiplications_of_a_look_;
  std::shared_ptr<uint64_t> allocated_ = std::make_shared<uint64_t>(0);  // Bytes.
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<GpuRenewal> renewal_;
  std::shared_ptr<const cuda::Module> code_;
  void *widen_ = nullptr, *multiply_ = nullptr, *compare_ = nullptr;
};

}  // namespace assay::sweep
