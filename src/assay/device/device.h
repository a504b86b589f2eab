#pragma once

// A device: something that kernels run on. cpu/ is the first; cuda/ adds GPUs without changing
// this.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/device/target.h"

namespace assay {

// What a record says of the device. Plain data; two equal ones are the same machine for a claim.
struct Fingerprint {
  std::string kind;  // "cpu", "gpu".
  std::string name;  // Model.
  std::string id;    // Stable id: a GPU's UUID; for a CPU a hash of model, topology and microcode.
  Json details;      // Cores, caches, features, driver, microcode ...
};

// Owned device memory, its content unspecified. On a CPU: private anonymous pages, huge where the
// kernel grants them.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual void* data() const = 0;
  virtual size_t bytes() const = 0;
};

// One launch of device code. Nothing is copied that the call does not read.
struct DeviceLaunch {
  void* function = nullptr;  // As the device's loader gave it: CUfunction.
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  uint32_t shared_bytes = 0;          // Dynamic shared memory of a block.
  std::span<void* const> parameters;  // Where each parameter's value lies.
  bool programmatic = false;  // May begin before what is ahead of it in the stream has ended.
};

// An order of launches. On a CPU a launch has ended when it returns.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual Status synchronize() = 0;
  // Enqueues; faults that come later are synchronize()'s. ErrorCode::unsupported on a device that
  // runs no device code.
  virtual Status launch(const DeviceLaunch& launch) noexcept;
  virtual void* native() const = 0;  // CUstream on a GPU, null on a CPU.
};

struct BufferOptions {
  size_t alignment = 4096;  // Bytes, a power of two.
  size_t offset = 0;        // data() is this many bytes after an aligned address: placement.
  bool huge_pages = true;   // Ask for them; details of what was granted are in the environment.
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const Fingerprint& fingerprint() const = 0;
  virtual const Target& target() const = 0;
  virtual int threads() const = 0;  // Cores a kernel may use; 1 on a GPU.
  virtual size_t last_level_cache_bytes() const = 0;
  virtual size_t memory_bytes() const = 0;
  // This process's memory that buffers have, or that is kept for later ones.
  virtual size_t mapped_bytes() const { return 0; }
  virtual Result<std::unique_ptr<Buffer>> allocate(size_t bytes, const BufferOptions& options) = 0;
  virtual Result<std::unique_ptr<Stream>> make_stream() = 0;
  // The caller's own, as Stream::native() has it: launches come in its order, and it stays the
  // caller's, who keeps it for as long. A CPU has none but null: ErrorCode::invalid_input.
  virtual Result<std::unique_ptr<Stream>> wrap_stream(void* native) = 0;
};

}  // namespace assay
