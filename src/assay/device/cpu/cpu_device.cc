#include "assay/device/cpu/cpu_device.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <fstream>
#include <limits>
#include <sched.h>
#include <string>
#include <utility>

#include "assay/base/fd.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/device/cpu/pages.h"

namespace assay::cpu {
namespace {

class CpuStream final : public Stream {
 public:
  Status synchronize() override { return {}; }
  void* native() const override { return nullptr; }
};

class CpuDevice final : public Device {
 public:
  CpuDevice(const Topology& topology, Target target, Fingerprint fingerprint, int threads,
            size_t kept_bytes)
      : topology_(topology),
        target_(std::move(target)),
        fingerprint_(std::move(fingerprint)),
        threads_(threads),
        kept_(std::make_shared<KeptPages>(kept_bytes)) {}

  const Fingerprint& fingerprint() const override { return fingerprint_; }
  const Target& target() const override { return target_; }
  int threads() const override { return threads_; }
  size_t last_level_cache_bytes() const override {
    return std::max({topology_.l3_bytes, topology_.l2_bytes, topology_.l1d_bytes});
  }
  size_t memory_bytes() const override { return topology_.memory_bytes; }

  size_t mapped_bytes() const override { return kept_->mapped_bytes(); }
  Result<std::unique_ptr<Buffer>> allocate(size_t bytes, const BufferOptions& options) override;

  Result<std::unique_ptr<Stream>> make_stream() override { return std::make_unique<CpuStream>(); }
  Result<std::unique_ptr<Stream>> wrap_stream(void* native) override {
    if (native == nullptr) return make_stream();
    return fail(ErrorCode::invalid_input, "a CPU has no streams but its own: pass null");
  }

 private:
  Topology topology_;
  Target target_;
  Fingerprint fingerprint_;
  int threads_;
  std::shared_ptr<KeptPages> kept_;  // Buffers may outlive the device.
};

Result<std::unique_ptr<Buffer>> CpuDevice::allocate(size_t bytes, const BufferOptions& options) {
  if (!std::has_single_bit(options.alignment)) {
    return fail(ErrorCode::invalid_input, "alignment {} is not a power of two", options.alignment);
  }
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::machine, "cannot allocate {} bytes ({}): {}", bytes,
                format_bytes(static_cast<double>(bytes)), why);
  };
  const size_t most = std::numeric_limits<size_t>::max() / 4;
  if (bytes > most || options.offset > most || options.alignment > most) {
    return refuse("more than any machine has");
  }
  if (topology_.memory_bytes != 0 && bytes > topology_.memory_bytes) {
    return refuse("this machine has " + format_bytes(static_cast<double>(topology_.memory_bytes)));
  }
  auto buffer = take_pages(kept_, bytes, options);
  if (!buffer) return refuse(buffer.error().message);
  return buffer;
}

std::string transparent_huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  std::getline(file, line);
  const size_t from = line.find('['), to = line.find(']');
  if (from == std::string::npos || to == std::string::npos || to < from) return "unknown";
  return line.substr(from + 1, to - from - 1);
}

// The id names the machine, not what one process of it may use: a worker pinned to one core is
// still on the machine of its parent.
Fingerprint make_fingerprint(const Topology& topology, const Target& target, int threads) {
  Json identity = {{"model", topology.model},
                   {"vendor", topology.vendor},
                   {"microcode", topology.microcode},
                   {"logical", topology.machine_logical},
                   {"l1d_bytes", topology.l1d_bytes},
                   {"l2_bytes", topology.l2_bytes},
                   {"l3_bytes", topology.l3_instance_bytes},
                   {"target", target.to_string()}};
  Fingerprint fingerprint;
  fingerprint.kind = "cpu";
  fingerprint.name = topology.model;
  fingerprint.id = sha256_hex(canonical(identity)).substr(0, 16);
  fingerprint.details = {{"vendor", topology.vendor},
                         {"microcode", topology.microcode},
                         {"machine_logical", topology.machine_logical},
                         {"logical", topology.logical},
                         {"physical_cores", topology.physical_cores},
                         {"threads", threads},
                         {"l1d_bytes", topology.l1d_bytes},
                         {"l2_bytes", topology.l2_bytes},
                         {"l3_bytes", topology.l3_bytes},
                         {"memory_bytes", topology.memory_bytes},
                         {"cpu_quota", topology.cpu_quota},
                         {"arch", target.arch},
                         {"features", target.features},
                         {"transparent_huge_pages", transparent_huge_pages()}};
  return fingerprint;
}

Status pin_to(const std::vector<int>& cores) {
  const int cpus = *std::max_element(cores.begin(), cores.end()) + 1;
  cpu_set_t* set = CPU_ALLOC(cpus);
  if (!set) return fail(ErrorCode::machine, "cannot pin: out of memory");
  const size_t bytes = CPU_ALLOC_SIZE(cpus);
  CPU_ZERO_S(bytes, set);
  for (int core : cores) CPU_SET_S(core, bytes, set);
  const int error = ::sched_setaffinity(0, bytes, set) == 0 ? 0 : errno;
  CPU_FREE(set);
  if (error != 0) {
    return fail(ErrorCode::machine, "cannot pin to {} cores: {}", cores.size(), errno_text(error));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Device>> open(const Options& options) {
  const Topology topology = read_topology();
  const int cores = static_cast<int>(topology.physical_cores.size());
  if (options.threads < 0 || options.threads > cores) {
    return fail(ErrorCode::invalid_input,
                "{} threads asked for, but this process may use {} physical core{}: give 1 to {}",
                options.threads, cores, cores == 1 ? "" : "s", cores);
  }
  const int threads = options.threads == 0 ? default_threads(topology) : options.threads;
  if (options.pin) {
    ASSAY_TRY(pin_to({topology.physical_cores.begin(), topology.physical_cores.begin() + threads}));
  }
  Target target = host_target();
  Fingerprint fingerprint = make_fingerprint(topology, target, threads);
  return std::make_unique<CpuDevice>(
      topology, std::move(target), std::move(fingerprint), threads,
      static_cast<size_t>(options.kept_share * static_cast<double>(topology.memory_bytes)));
}

}  // namespace assay::cpu
