#include "assay/device/cpu/cpu_device.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <fstream>
#include <limits>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <utility>

#include "assay/base/fd.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"

namespace assay::cpu {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

class Pages final : public Buffer {
 public:
  Pages(void* base, size_t mapped, void* data, size_t bytes)
      : base_(base), mapped_(mapped), data_(data), bytes_(bytes) {}
  ~Pages() override { ::munmap(base_, mapped_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  void* data() const override { return data_; }
  size_t bytes() const override { return bytes_; }

 private:
  void* base_;
  size_t mapped_;
  void* data_;
  size_t bytes_;
};

// Every page gets its memory now, so that no timed launch pays for it.
Status prefault(std::byte* base, size_t bytes) {
#ifndef MADV_POPULATE_WRITE
  constexpr int MADV_POPULATE_WRITE = 23;  // Linux 5.14.
#endif
  if (::madvise(base, bytes, MADV_POPULATE_WRITE) == 0) return {};
  if (errno == ENOMEM || errno == EFAULT || errno == EHWPOISON) {
    return fail(ErrorCode::machine, "{}", errno_text(errno));
  }
  for (size_t at = 0; at < bytes; at += kPage) {
    *reinterpret_cast<volatile std::byte*>(base + at) = std::byte{0};
  }
  return {};
}

class CpuStream final : public Stream {
 public:
  Status synchronize() override { return {}; }
  void* native() const override { return nullptr; }
};

class CpuDevice final : public Device {
 public:
  CpuDevice(const Topology& topology, Target target, Fingerprint fingerprint, int threads)
      : topology_(topology),
        target_(std::move(target)),
        fingerprint_(std::move(fingerprint)),
        threads_(threads) {}

  const Fingerprint& fingerprint() const override { return fingerprint_; }
  const Target& target() const override { return target_; }
  int threads() const override { return threads_; }
  size_t last_level_cache_bytes() const override {
    return std::max({topology_.l3_bytes, topology_.l2_bytes, topology_.l1d_bytes});
  }
  size_t memory_bytes() const override { return topology_.memory_bytes; }

  Result<std::unique_ptr<Buffer>> allocate(size_t bytes, const BufferOptions& options) override;

  Result<std::unique_ptr<Stream>> make_stream() override { return std::make_unique<CpuStream>(); }

 private:
  Topology topology_;
  Target target_;
  Fingerprint fingerprint_;
  int threads_;
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
  const bool huge = options.huge_pages && bytes >= kHugePage;
  // Huge pages are granted to aligned 2 MiB only.
  const size_t alignment = std::max({options.alignment, kPage, huge ? kHugePage : kPage});
  const size_t used =
      round_up(std::max<size_t>(bytes + options.offset, 1), huge ? kHugePage : kPage);
  const size_t mapped = used + alignment - kPage;
  void* base = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return refuse(errno_text(errno));
  const auto address = reinterpret_cast<uintptr_t>(base);
  std::byte* aligned = static_cast<std::byte*>(base) + (round_up(address, alignment) - address);
  auto buffer = std::make_unique<Pages>(base, mapped, aligned + options.offset, bytes);
  // Refusal of huge pages (a kernel built without them) costs time, not correctness.
  ::madvise(aligned, used, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  if (Status ready = prefault(aligned, used); !ready) return refuse(ready.error().message);
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
  return std::make_unique<CpuDevice>(topology, std::move(target), std::move(fingerprint), threads);
}

}  // namespace assay::cpu
