#include "assay/device/cuda/cuda_device.h"

#include <bit>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"

namespace assay::cuda {
namespace {

void* pointer(abi::Address address) { return reinterpret_cast<void*>(address); }
abi::Address address_of(const void* memory) { return reinterpret_cast<abi::Address>(memory); }

std::string bytes_text(size_t bytes) { return format_bytes(static_cast<double>(bytes)); }

class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(std::shared_ptr<const Driver> driver, abi::Address memory, size_t offset, size_t bytes)
      : driver_(std::move(driver)), memory_(memory), offset_(offset), bytes_(bytes) {}
  // A failure here has been seen by whoever used the memory, or the context is gone.
  ~CudaBuffer() override { (void)driver_->call().release(memory_); }

  void* data() const override { return pointer(memory_ + offset_); }
  size_t bytes() const override { return bytes_; }

 private:
  std::shared_ptr<const Driver> driver_;
  abi::Address memory_;
  size_t offset_, bytes_;
};

class CudaStream final : public Stream {
 public:
  enum class Owner { this_object, caller };
  CudaStream(std::shared_ptr<const Driver> driver, abi::Stream stream, Owner owner)
      : driver_(std::move(driver)), stream_(stream), owner_(owner) {}
  ~CudaStream() override {
    if (owner_ == Owner::this_object) (void)driver_->call().stream_destroy(stream_);
  }

  Status synchronize() override {
    return driver_->check(driver_->call().stream_synchronize(stream_), "waiting for a stream");
  }
  void* native() const override { return stream_; }

  Status launch(const DeviceLaunch& launch) noexcept override {
    std::array<abi::LaunchAttribute, 2> attributes;
    unsigned count = 0;
    if (launch.cluster != std::array<uint32_t, 3>{1, 1, 1}) {
      abi::LaunchAttribute& attribute = attributes[count++];
      attribute.id = abi::kAttributeClusterDimension;
      attribute.value.cluster = {launch.cluster[0], launch.cluster[1], launch.cluster[2]};
    }
    if (launch.programmatic) {
      abi::LaunchAttribute& attribute = attributes[count++];
      attribute.id = abi::kAttributeProgrammaticSerialization;
      attribute.value.programmatic_serialization_allowed = 1;
    }
    const abi::LaunchConfig config = {
        launch.grid[0],  launch.grid[1],      launch.grid[2], launch.block[0],   launch.block[1],
        launch.block[2], launch.shared_bytes, stream_,        attributes.data(), count};
    const abi::Result code =
        driver_->call().launch(&config, static_cast<abi::Function>(launch.function),
                               const_cast<void**>(launch.parameters.data()), nullptr);
    if (code == abi::kSuccess) return {};
    return driver_->check(
        code, fmt::format("launching {}x{}x{} blocks of {}x{}x{} threads with {} "
                          "bytes of dynamic shared memory",
                          launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                          launch.block[1], launch.block[2], launch.shared_bytes));
  }

 private:
  std::shared_ptr<const Driver> driver_;
  abi::Stream stream_;
  Owner owner_;
};

// As nvidia-smi and CUDA_VISIBLE_DEVICES spell it. A slice of a GPU (MIG) says so in its name.
std::string uuid_text(const abi::Uuid& uuid, std::string_view name) {
  std::string hex = name.find(" MIG ") == std::string_view::npos ? "GPU-" : "MIG-";
  for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) hex += '-';
    hex += fmt::format("{:02x}", uuid.bytes[i]);
  }
  return hex;
}

class Attributes {
 public:
  Attributes(const Driver& driver, abi::Device device) : driver_(driver), device_(device) {}
  Result<int> read(int attribute) const {
    int value = 0;
    ASSAY_TRY(driver_.check(driver_.call().device_attribute(&value, attribute, device_),
                            "reading what a GPU has"));
    return value;
  }

 private:
  const Driver& driver_;
  abi::Device device_;
};

Result<Gpu> read_gpu(const Driver& driver, int ordinal) {
  const abi::EntryPoints& call = driver.call();
  abi::Device device = 0;
  ASSAY_TRY(
      driver.check(call.device_get(&device, ordinal), fmt::format("asking for GPU {}", ordinal)));
  Gpu gpu;
  gpu.ordinal = ordinal;
  char text[256] = {};
  ASSAY_TRY(driver.check(call.device_name(text, sizeof text - 1, device), "reading a GPU's name"));
  gpu.name = sanitize(text, sizeof text);
  ASSAY_TRY(driver.check(call.device_pci_bus_id(text, sizeof text - 1, device),
                         "reading a GPU's address"));
  gpu.pci_bus_id = sanitize(text, sizeof text);
  abi::Uuid uuid{};
  ASSAY_TRY(driver.check(call.device_uuid(&uuid, device), "reading a GPU's UUID"));
  gpu.uuid = uuid_text(uuid, gpu.name);
  const Attributes attributes(driver, device);
  ASSAY_TRY(gpu.major, attributes.read(abi::kCapabilityMajor));
  ASSAY_TRY(gpu.minor, attributes.read(abi::kCapabilityMinor));
  ASSAY_TRY(driver.check(call.device_memory(&gpu.memory_bytes, device), "reading a GPU's memory"));
  return gpu;
}

class OpenGpu final : public CudaDevice {
 public:
  OpenGpu(std::shared_ptr<const Driver> driver, Gpu gpu)
      : driver_(std::move(driver)), gpu_(std::move(gpu)), target_(target_of(gpu_)) {}
  ~OpenGpu() override {
    if (retained_) (void)driver_->call().context_release(device_);
  }

  Status initialise();

  const Fingerprint& fingerprint() const override { return fingerprint_; }
  const Target& target() const override { return target_; }
  int threads() const override { return 1; }
  size_t last_level_cache_bytes() const override { return l2_bytes_; }
  size_t memory_bytes() const override { return gpu_.memory_bytes; }
  Result<std::unique_ptr<Buffer>> allocate(size_t bytes, const BufferOptions& options) override;
  Result<std::unique_ptr<Stream>> make_stream() override;
  Result<std::unique_ptr<Stream>> wrap_stream(void* native) override {
    return std::make_unique<CudaStream>(driver_, static_cast<abi::Stream>(native),
                                        CudaStream::Owner::caller);
  }

  const std::shared_ptr<const Driver>& driver() const override { return driver_; }
  const Gpu& gpu() const override { return gpu_; }
  int multiprocessors() const override { return multiprocessors_; }
  size_t most_shared_bytes() const override { return most_shared_bytes_; }
  Status copy_in(void* to, std::span<const std::byte> from) override;
  Status copy_out(std::span<std::byte> to, const void* from) override;

 private:
  std::shared_ptr<const Driver> driver_;
  Gpu gpu_;
  Target target_;
  Fingerprint fingerprint_;
  abi::Device device_ = 0;
  bool retained_ = false;
  int multiprocessors_ = 0;
  size_t l2_bytes_ = 0, most_shared_bytes_ = 0;
};

Status OpenGpu::initialise() {
  const abi::EntryPoints& call = driver_->call();
  ASSAY_TRY(driver_->check(call.device_get(&device_, gpu_.ordinal), "asking for the GPU"));
  abi::Context context = nullptr;
  ASSAY_TRY(driver_->check(call.context_retain(&context, device_),
                           fmt::format("making a context on {}", gpu_.name)));
  retained_ = true;
  ASSAY_TRY(driver_->check(call.context_set(context), "entering the GPU's context"));
  ASSAY_TRY(const Gpu now, read_gpu(*driver_, gpu_.ordinal));
  if (now.uuid != gpu_.uuid)
    return fail(ErrorCode::internal, "GPU {} is {}, not {} which was asked for", gpu_.ordinal,
                now.uuid, gpu_.uuid);
  const Attributes attributes(*driver_, device_);
  ASSAY_TRY(multiprocessors_, attributes.read(abi::kMultiprocessors));
  ASSAY_TRY(const int l2, attributes.read(abi::kL2CacheBytes));
  ASSAY_TRY(const int shared, attributes.read(abi::kMostSharedBytesPerBlock));
  ASSAY_TRY(const int clock, attributes.read(abi::kClockRateKhz));
  ASSAY_TRY(const int memory_clock, attributes.read(abi::kMemoryClockRateKhz));
  ASSAY_TRY(const int bus, attributes.read(abi::kMemoryBusBits));
  l2_bytes_ = static_cast<size_t>(l2);
  most_shared_bytes_ = static_cast<size_t>(shared);
  fingerprint_ = {"gpu",
                  gpu_.name,
                  gpu_.uuid,
                  {{"pci_bus_id", gpu_.pci_bus_id},
                   {"compute_capability", fmt::format("{}.{}", gpu_.major, gpu_.minor)},
                   {"driver", driver_->version_text()},
                   {"multiprocessors", multiprocessors_},
                   {"l2_bytes", l2_bytes_},
                   {"memory_bytes", gpu_.memory_bytes},
                   {"clock_khz", clock},
                   {"memory_clock_khz", memory_clock},
                   {"memory_bus_bits", bus}}};
  return {};
}

Result<std::unique_ptr<Buffer>> OpenGpu::allocate(size_t bytes, const BufferOptions& options) {
  constexpr size_t kDriverAlignment = 256;  // What every allocation of the driver has.
  if (!std::has_single_bit(options.alignment))
    return fail(ErrorCode::invalid_input, "alignment {} is not a power of two", options.alignment);
  const size_t slack = options.alignment > kDriverAlignment ? options.alignment : 0;
  if (bytes > gpu_.memory_bytes || options.offset > gpu_.memory_bytes || slack > gpu_.memory_bytes)
    return fail(ErrorCode::machine, "cannot allocate {} on {}, which has {}", bytes_text(bytes),
                gpu_.name, bytes_text(gpu_.memory_bytes));
  abi::Address memory = 0;
  const size_t whole = std::max<size_t>(1, bytes + options.offset + slack);
  ASSAY_TRY(driver_->check(driver_->call().allocate(&memory, whole),
                           fmt::format("allocating {} on {}", bytes_text(whole), gpu_.name)));
  const size_t misaligned = slack == 0 ? 0 : static_cast<size_t>(memory % options.alignment);
  const size_t start = (misaligned == 0 ? 0 : options.alignment - misaligned) + options.offset;
  return std::make_unique<CudaBuffer>(driver_, memory, start, bytes);
}

Result<std::unique_ptr<Stream>> OpenGpu::make_stream() {
  abi::Stream stream = nullptr;
  ASSAY_TRY(driver_->check(driver_->call().stream_create(&stream, abi::kStreamNonBlocking),
                           "making a stream"));
  return std::make_unique<CudaStream>(driver_, stream, CudaStream::Owner::this_object);
}

Status OpenGpu::copy_in(void* to, std::span<const std::byte> from) {
  if (from.empty()) return {};
  const std::string doing = fmt::format("copying {} to the GPU", bytes_text(from.size()));
  ASSAY_TRY(
      driver_->check(driver_->call().copy_in(address_of(to), from.data(), from.size()), doing));
  // What the driver had to stage may still be on its way, and our streams do not wait for the
  // default one.
  return driver_->check(driver_->call().stream_synchronize(nullptr), doing);
}

Status OpenGpu::copy_out(std::span<std::byte> to, const void* from) {
  if (to.empty()) return {};
  return driver_->check(driver_->call().copy_out(to.data(), address_of(from), to.size()),
                        fmt::format("copying {} from the GPU", bytes_text(to.size())));
}

}  // namespace

Result<std::vector<Gpu>> list_gpus(const Driver& driver) {
  std::vector<Gpu> gpus;
  for (int ordinal = 0; ordinal < driver.device_count(); ++ordinal) {
    ASSAY_TRY(gpus.emplace_back(), read_gpu(driver, ordinal));
  }
  return gpus;
}

Target target_of(const Gpu& gpu) {
  // Features of one architecture alone ("a") begin with 9.0.
  return {fmt::format("sm_{}{}{}", gpu.major, gpu.minor, gpu.major >= 9 ? "a" : ""), {}};
}

Result<std::unique_ptr<CudaDevice>> open(std::shared_ptr<const Driver> driver, const Gpu& gpu) {
  auto device = std::make_unique<OpenGpu>(std::move(driver), gpu);
  ASSAY_TRY(device->initialise());
  return device;
}

}  // namespace assay::cuda
