#include <array>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/utsname.h>

#include "assay/device/cpu/cpu_device.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace assay::cpu {
namespace {

#if defined(__x86_64__)

enum Register { eax, ebx, ecx, edx };

// What the operating system must save and restore before a feature's registers can be used: bits of
// XCR0 (Intel SDM volume 1, chapter 13).
constexpr uint64_t kNone = 0;
constexpr uint64_t kAvx = 0x6;      // XMM and YMM.
constexpr uint64_t kAvx512 = 0xe6;  // And opmask, upper ZMM, ZMM16 to 31.
constexpr uint64_t kAmx = 0x60000;  // Tile configuration and tile data.

struct Feature {
  const char* name;
  uint32_t leaf, subleaf;
  Register where;
  int bit;
  uint64_t state;
};

// Positions: Intel SDM volume 2, CPUID; AMD APM volume 3, appendix E.
constexpr Feature kFeatures[] = {
    {"sse2", 1, 0, edx, 26, kNone},
    {"pni", 1, 0, ecx, 0, kNone},
    {"pclmulqdq", 1, 0, ecx, 1, kNone},
    {"ssse3", 1, 0, ecx, 9, kNone},
    {"fma", 1, 0, ecx, 12, kAvx},
    {"cx16", 1, 0, ecx, 13, kNone},
    {"sse4_1", 1, 0, ecx, 19, kNone},
    {"sse4_2", 1, 0, ecx, 20, kNone},
    {"movbe", 1, 0, ecx, 22, kNone},
    {"popcnt", 1, 0, ecx, 23, kNone},
    {"aes", 1, 0, ecx, 25, kNone},
    {"avx", 1, 0, ecx, 28, kAvx},
    {"f16c", 1, 0, ecx, 29, kAvx},
    {"bmi1", 7, 0, ebx, 3, kNone},
    {"avx2", 7, 0, ebx, 5, kAvx},
    {"bmi2", 7, 0, ebx, 8, kNone},
    {"erms", 7, 0, ebx, 9, kNone},
    {"avx512f", 7, 0, ebx, 16, kAvx512},
    {"avx512dq", 7, 0, ebx, 17, kAvx512},
    {"adx", 7, 0, ebx, 19, kNone},
    {"avx512ifma", 7, 0, ebx, 21, kAvx512},
    {"clflushopt", 7, 0, ebx, 23, kNone},
    {"clwb", 7, 0, ebx, 24, kNone},
    {"avx512cd", 7, 0, ebx, 28, kAvx512},
    {"sha_ni", 7, 0, ebx, 29, kNone},
    {"avx512bw", 7, 0, ebx, 30, kAvx512},
    {"avx512vl", 7, 0, ebx, 31, kAvx512},
    {"avx512vbmi", 7, 0, ecx, 1, kAvx512},
    {"avx512_vbmi2", 7, 0, ecx, 6, kAvx512},
    {"gfni", 7, 0, ecx, 8, kNone},
    {"vaes", 7, 0, ecx, 9, kAvx},
    {"avx512_vnni", 7, 0, ecx, 11, kAvx512},
    {"avx512_bitalg", 7, 0, ecx, 12, kAvx512},
    {"avx512_vpopcntdq", 7, 0, ecx, 14, kAvx512},
    {"amx_bf16", 7, 0, edx, 22, kAmx},
    {"avx512_fp16", 7, 0, edx, 23, kAvx512},
    {"amx_tile", 7, 0, edx, 24, kAmx},
    {"amx_int8", 7, 0, edx, 25, kAmx},
    {"avx_vnni", 7, 1, eax, 4, kAvx},
    {"avx512_bf16", 7, 1, eax, 5, kAvx512},
    {"amx_fp16", 7, 1, eax, 21, kAmx},
    {"avx_ifma", 7, 1, eax, 23, kAvx},
    {"avx_vnni_int8", 7, 1, edx, 4, kAvx},
    {"avx_ne_convert", 7, 1, edx, 5, kAvx},
    {"abm", 0x80000001, 0, ecx, 5, kNone},
};

// XCR0, or 0 where the operating system does not use XSAVE.
uint64_t enabled_state() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 27))) return 0;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

void add_features(Target& target) {
  const uint64_t state = enabled_state();
  for (const Feature& feature : kFeatures) {
    std::array<uint32_t, 4> registers{};
    if (!__get_cpuid_count(feature.leaf, feature.subleaf, &registers[eax], &registers[ebx],
                           &registers[ecx], &registers[edx])) {
      continue;
    }
    const bool present = registers[feature.where] >> feature.bit & 1u;
    if (present && (state & feature.state) == feature.state) target.features.insert(feature.name);
  }
}

#else

// Linux prints the names itself.
void add_features(Target& target) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("Features", 0) != 0) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (std::string word; words >> word;) target.features.insert(word);
    return;
  }
}

#endif

}  // namespace

Target host_target() {
  Target target;
  utsname names{};
  target.arch = ::uname(&names) == 0 ? names.machine : "unknown";
#if defined(__x86_64__)
  target.arch = "x86_64";  // uname says i686 to a process under setarch.
#endif
  add_features(target);
  return target;
}

}  // namespace assay::cpu
