#pragma once

// A GPU under the Device interface, and what only a harness for GPUs needs: streams with gates,
// events, graphs, modules, memory shared between processes. One process uses one GPU.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/device/cuda/driver.h"
#include "assay/device/device.h"

namespace assay::cuda {

// A GPU as the driver lists it, without a context on it.
struct Gpu {
  int ordinal = 0;   // The driver's, after CUDA_VISIBLE_DEVICES.
  std::string uuid;  // "GPU-6b6e4d3c-...": the same whatever is visible.
  std::string name;
  std::string pci_bus_id;
  int major = 0, minor = 0;  // Compute capability.
  size_t memory_bytes = 0;
};
Result<std::vector<Gpu>> list_gpus(const Driver& driver);

// "sm_90a" for 9.0: the newest architecture-specific features that the GPU has code for.
Target target_of(const Gpu& gpu);

// Code in a context. Stays loaded as long as the object lives.
class Module {
 public:
  // image: a cubin, or PTX text ending in NUL. ErrorCode::unsupported where it is not for this
  // GPU, with the driver's own log where it is PTX that does not assemble (build_failed).
  static Result<std::shared_ptr<const Module>> load(std::shared_ptr<const Driver> driver,
                                                    std::span<const std::byte> image);
  ~Module();

  struct Function {
    abi::Function handle = nullptr;
    int registers = 0, local_bytes = 0, static_shared_bytes = 0, most_threads = 0;
    std::vector<size_t> parameter_bytes;  // As it was compiled.
  };
  // shared_bytes: dynamic shared memory that launches will ask for; big_clusters: of more than 8
  // blocks. ErrorCode::not_found for a name that is not there, unsupported beyond what the GPU
  // has.
  Result<Function> function(const std::string& name, size_t shared_bytes, bool big_clusters) const;

 private:
  explicit Module(std::shared_ptr<const Driver> driver) : driver_(std::move(driver)) {}
  std::shared_ptr<const Driver> driver_;
  abi::Module module_ = nullptr;
};

// A point in a stream's time.
class Event {
 public:
  static Result<Event> create(std::shared_ptr<const Driver> driver, bool timing = true);
  Event(Event&& other) noexcept;
  Event& operator=(Event&&) = delete;
  ~Event();

  Status record(abi::Stream stream);
  Status synchronize() const;
  Result<bool> passed() const;
  // Nanoseconds from `start` to this one; both must have passed. The driver's resolution is 32 ns
  // (measured on an H200).
  Result<double> ns_since(const Event& start) const;

 private:
  explicit Event(std::shared_ptr<const Driver> driver) : driver_(std::move(driver)) {}
  std::shared_ptr<const Driver> driver_;
  abi::Event event_ = nullptr;
};

// Holds a stream back until the host opens it, so that the host can never starve the launches
// behind it. One word of mapped host memory.
class Gate {
 public:
  static Result<Gate> create(std::shared_ptr<const Driver> driver);
  Gate(Gate&& other) noexcept;
  Gate& operator=(Gate&&) = delete;
  ~Gate();

  Status close(abi::Stream stream);  // What is enqueued after this waits.
  void open();                       // Until the next close().

 private:
  explicit Gate(std::shared_ptr<const Driver> driver) : driver_(std::move(driver)) {}
  std::shared_ptr<const Driver> driver_;
  uint32_t* word_ = nullptr;
  abi::Address address_ = 0;
  uint32_t turn_ = 0;
};

// Launches that the driver got to know beforehand, and makes with one call.
class Graph {
 public:
  // What `enqueue` puts into the stream is recorded and does not run. The stream must be idle. On
  // return the graph lies on the GPU: launching it uploads nothing more, so it may be launched
  // behind a closed gate.
  static Result<Graph> capture(std::shared_ptr<const Driver> driver, Stream& stream,
                               const std::function<Status()>& enqueue);
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&&) = delete;
  ~Graph();

  Status launch(Stream& stream) const;

 private:
  explicit Graph(std::shared_ptr<const Driver> driver) : driver_(std::move(driver)) {}
  std::shared_ptr<const Driver> driver_;
  abi::Graph graph_ = nullptr;
  abi::GraphExec exec_ = nullptr;
};

class CudaDevice : public Device {
 public:
  virtual const std::shared_ptr<const Driver>& driver() const = 0;
  virtual const Gpu& gpu() const = 0;
  virtual int multiprocessors() const = 0;
  virtual size_t most_shared_bytes() const = 0;

  // Host memory in and out. Addresses are device memory; what was copied in is there on return,
  // for all streams.
  virtual Status copy_in(void* to, std::span<const std::byte> from) = 0;
  virtual Status copy_out(std::span<std::byte> to, const void* from) = 0;
};

// Retains the GPU's primary context and makes it current in the calling thread: libraries that
// use the runtime share it. The UUID is read back from the GPU that was set: another one than
// was asked for is ErrorCode::internal.
Result<std::unique_ptr<CudaDevice>> open(std::shared_ptr<const Driver> driver, const Gpu& gpu);

}  // namespace assay::cuda
