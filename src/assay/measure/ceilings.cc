#include "assay/measure/ceilings.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <immintrin.h>
#include <memory>
#include <sys/mman.h>
#include <thread>

#include "assay/base/clock.h"
#include "assay/base/version.h"

namespace assay::measure {
namespace {

// Runs `work` on `threads` threads at once until about `seconds` have passed; units per second over
// all of them. work(thread) does a fixed amount and returns how many units that was.
double rate(int threads, double seconds, const std::function<double(int)>& work) {
  std::atomic<int> waiting{threads};
  std::vector<double> units(static_cast<size_t>(threads), 0.0);
  std::vector<int64_t> ends(static_cast<size_t>(threads), 0);
  std::atomic<int64_t> start{0};
  const auto body = [&](int thread) {
    if (waiting.fetch_sub(1) == 1) start = monotonic_ns();
    while (waiting.load() > 0) std::this_thread::yield();
    const int64_t deadline = monotonic_ns() + static_cast<int64_t>(seconds * 1e9);
    double done = 0;
    do done += work(thread);
    while (monotonic_ns() < deadline);
    units[static_cast<size_t>(thread)] = done;
    ends[static_cast<size_t>(thread)] = monotonic_ns();
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(body, t);
  body(0);
  for (auto& other : others) other.join();
  double total = 0;
  for (const double unit : units) total += unit;
  const double elapsed = static_cast<double>(*std::ranges::max_element(ends) - start.load()) * 1e-9;
  return elapsed > 0 ? total / elapsed : 0;
}

// The best two of several slices of the time: a ceiling is what the machine reaches, and whatever
// else runs on it only takes away. Slices of two milliseconds find gaps between others' turns.
struct BestTwo {
  double largest = 0, second = 0;
};
BestTwo best_rates(int threads, double seconds, const std::function<double(int)>& work) {
  constexpr int kSlices = 12;
  BestTwo best;
  for (int slice = 0; slice < kSlices; ++slice) {
    const double reached = rate(threads, seconds / kSlices, work);
    best.second = std::max(best.second, std::min(best.largest, reached));
    best.largest = std::max(best.largest, reached);
  }
  return best;
}

struct Unmap {
  size_t bytes;
  void operator()(void* memory) const { ::munmap(memory, bytes); }
};

// What any processor can do.
void read_words(const char* from, size_t bytes) {
  uint64_t sum = 0;
  for (size_t at = 0; at + 8 <= bytes; at += 8) {
    uint64_t word;
    std::memcpy(&word, from + at, 8);
    sum ^= word;
  }
  asm volatile("" : : "r"(sum));
}

struct Peak {
  const char* name;
  void (*chain)();
  double operations;  // Of one call.
};

#if defined(__x86_64__)

__attribute__((target("avx512f"))) void read_block_512(const char* from, size_t bytes) {
  __m512i sums[8];
  for (auto& sum : sums) sum = _mm512_setzero_si512();
  for (size_t at = 0; at + 512 <= bytes; at += 512)
    _Pragma("GCC unroll 8") for (size_t i = 0; i < 8; ++i) sums[i] =
        _mm512_xor_si512(sums[i], _mm512_load_si512(from + at + 64 * i));
  for (const auto& sum : sums) asm volatile("" : : "v"(sum));
}

__attribute__((target("avx2"))) void read_block_256(const char* from, size_t bytes) {
  __m256i sums[8];
  for (auto& sum : sums) sum = _mm256_setzero_si256();
  for (size_t at = 0; at + 256 <= bytes; at += 256)
    _Pragma("GCC unroll 8") for (size_t i = 0; i < 8; ++i) sums[i] = _mm256_xor_si256(
        sums[i], _mm256_load_si256(reinterpret_cast<const __m256i*>(from + at + 32 * i)));
  for (const auto& sum : sums) asm volatile("" : : "x"(sum));
}

// Twelve chains of dependent operations hide a latency of six on two ports. In assembly, because a
// compiler that keeps one chain in memory would measure its stores.
constexpr int kChains = 12;
constexpr int kSteps = 20'000;

#define ASSAY_CHAINS(NAME, TARGET, TYPE, ZERO, MNEMONIC, KEEP)                                   \
  __attribute__((target(TARGET))) void NAME() {                                                  \
    const TYPE factor = ZERO;                                                                    \
    TYPE c0 = ZERO, c1 = ZERO, c2 = ZERO, c3 = ZERO, c4 = ZERO, c5 = ZERO;                       \
    TYPE c6 = ZERO, c7 = ZERO, c8 = ZERO, c9 = ZERO, c10 = ZERO, c11 = ZERO;                     \
    for (int step = 0; step < kSteps; ++step)                                                    \
      asm volatile(                                                                              \
          MNEMONIC                                                                               \
          " %12, %12, %0\n\t" MNEMONIC " %12, %12, %1\n\t" MNEMONIC " %12, %12, %2\n\t" MNEMONIC \
          " %12, %12, %3\n\t" MNEMONIC " %12, %12, %4\n\t" MNEMONIC " %12, %12, %5\n\t" MNEMONIC \
          " %12, %12, %6\n\t" MNEMONIC " %12, %12, %7\n\t" MNEMONIC " %12, %12, %8\n\t" MNEMONIC \
          " %12, %12, %9\n\t" MNEMONIC " %12, %12, %10\n\t" MNEMONIC " %12, %12, %11"            \
          : "+" KEEP(c0), "+" KEEP(c1), "+" KEEP(c2), "+" KEEP(c3), "+" KEEP(c4), "+" KEEP(c5),  \
            "+" KEEP(c6), "+" KEEP(c7), "+" KEEP(c8), "+" KEEP(c9), "+" KEEP(c10), "+" KEEP(c11) \
          : KEEP(factor));                                                                       \
  }
ASSAY_CHAINS(fma_f32_512, "avx512f", __m512, _mm512_setzero_ps(), "vfmadd231ps", "v")
ASSAY_CHAINS(fma_f64_512, "avx512f", __m512d, _mm512_setzero_pd(), "vfmadd231pd", "v")
ASSAY_CHAINS(fma_f32_256, "avx2,fma", __m256, _mm256_setzero_ps(), "vfmadd231ps", "x")
ASSAY_CHAINS(fma_f64_256, "avx2,fma", __m256d, _mm256_setzero_pd(), "vfmadd231pd", "x")
ASSAY_CHAINS(dot_bf16_512, "avx512f,avx512bf16", __m512, _mm512_setzero_ps(), "vdpbf16ps", "v")
#undef ASSAY_CHAINS

void read_block(const char* from, size_t bytes) {
  if (__builtin_cpu_supports("avx512f")) return read_block_512(from, bytes);
  if (__builtin_cpu_supports("avx2")) return read_block_256(from, bytes);
  read_words(from, bytes);
}

std::vector<Peak> peaks() {
  constexpr double kFmas = double{kChains} * kSteps;
  std::vector<Peak> found;
  if (__builtin_cpu_supports("avx512f")) {
    found.push_back({"flops_f64", fma_f64_512, kFmas * 8 * 2});
    found.push_back({"flops_f32", fma_f32_512, kFmas * 16 * 2});
    if (__builtin_cpu_supports("avx512bf16"))
      found.push_back({"flops_bf16", dot_bf16_512, kFmas * 32 * 2});
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    found.push_back({"flops_f64", fma_f64_256, kFmas * 4 * 2});
    found.push_back({"flops_f32", fma_f32_256, kFmas * 8 * 2});
  }
  return found;
}

#else

void read_block(const char* from, size_t bytes) { read_words(from, bytes); }
std::vector<Peak> peaks() { return {}; }

#endif

}  // namespace

Reading merge(const Reading& one, const Reading& other) {
  if (other.largest > one.largest) return merge(other, one);
  Reading both = one;
  if (one.ceiling.value >= other.largest) return both;
  both.ceiling = other.ceiling;
  both.ceiling.value = other.largest;
  return both;
}

std::vector<Reading> measure_ceilings(int threads, size_t last_level_cache_bytes, double seconds) {
  threads = std::max(threads, 1);
  const std::string from = utc_now_iso8601();
  std::vector<Reading> ceilings;
  const auto add = [&](const char* name, const BestTwo& best, const char* unit) {
    if (best.second > 0)
      ceilings.push_back({.ceiling = {.name = name,
                                      .value = best.second,
                                      .unit = unit,
                                      .threads = threads,
                                      .from = from,
                                      .until = utc_now_iso8601(),
                                      .load = 0},
                          .largest = best.largest});
  };
  const auto list = peaks();
  const double share = seconds / static_cast<double>(list.size() + 2);

  // Far larger than the cache, so that what is read comes from memory.
  const size_t per_thread = std::max(4 * last_level_cache_bytes, size_t{64} << 20) /
                            static_cast<size_t>(threads) / 4096 * 4096;
  const size_t bytes = per_thread * static_cast<size_t>(threads);
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped != MAP_FAILED) {
    const std::unique_ptr<void, Unmap> memory(mapped, Unmap{bytes});
    ::madvise(mapped, bytes, MADV_HUGEPAGE);
    std::memset(mapped, 1, bytes);
    constexpr size_t kBlock = size_t{1} << 20;
    std::vector<size_t> at(static_cast<size_t>(threads), 0);
    const auto read = [&](int thread) {
      size_t& offset = at[static_cast<size_t>(thread)];
      if (offset + kBlock > per_thread) offset = 0;
      read_block(
          static_cast<const char*>(mapped) + per_thread * static_cast<size_t>(thread) + offset,
          kBlock);
      offset += kBlock;
      return static_cast<double>(kBlock);
    };
    add("read", best_rates(threads, 2 * share, read), "byte/s");
  }
  for (const Peak& peak : list)
    add(peak.name,
        best_rates(threads, share,
                   [&](int) {
                     peak.chain();
                     return peak.operations;
                   }),
        "flop/s");
  return ceilings;
}

std::vector<Ceiling> larger_of(std::vector<Ceiling> now, const std::vector<Ceiling>& kept) {
  for (const Ceiling& before : kept) {
    const auto same = std::ranges::find_if(now, [&](const Ceiling& ceiling) {
      return ceiling.name == before.name && ceiling.threads == before.threads;
    });
    if (same != now.end() && before.value > same->value) *same = before;
  }
  return now;
}

double physics_floor_seconds(double flops, double bytes, DType dtype, int threads) {
  constexpr double kClockHz = 6.5e9;
  constexpr double kBytesPerCycle = 128;
  double operations_per_cycle = 128;  // f32: 2 units x 16 lanes x 2, doubled.
  if (dtype == DType::f64) operations_per_cycle = 64;
  if (size_bytes(dtype) <= 2)
    operations_per_cycle = 4096;  // Matrix units: 1024 products of bytes, doubled.
  const double cores = std::max(threads, 1);
  return std::max(flops / operations_per_cycle, bytes / kBytesPerCycle) / kClockHz / cores;
}

}  // namespace assay::measure
