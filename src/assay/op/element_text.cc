#include "assay/op/element_text.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace assay {
namespace {

constexpr ElementType kTypes[] = {
    {DType::f64, "double", "double", "double", "", ""},
    {DType::f32, "float", "float", "float", "", ""},
    {DType::bf16, "uint16_t", "unsigned short", "float", "from_bf16", "to_bf16"},
    {DType::f16, "uint16_t", "unsigned short", "float", "from_f16", "to_f16"},
    {DType::s8, "int8_t", "signed char", "int32_t", "", ""},
    {DType::s32, "int32_t", "int", "int32_t", "", ""},
};

struct Function {
  std::string_view name, host, device;
};
constexpr Function kFunctions[] = {
    {"from_bf16", R"(static float from_bf16(uint16_t bits) {
  const uint32_t word = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}
)",
     R"(static __device__ float from_bf16(unsigned short bits) {
  return __uint_as_float((unsigned)bits << 16);
}
)"},
    {"to_bf16", R"(/* To the nearest, and to the even one of two. */
static uint16_t to_bf16(float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  return (uint16_t)((word + 0x7fff + (word >> 16 & 1)) >> 16);
}
)",
     R"(/* To the nearest, and to the even one of two. The GPU's NaN has all bits: it would wrap. */
static __device__ unsigned short to_bf16(float value) {
  if (value != value) return 0x7fff;
  const unsigned word = __float_as_uint(value);
  return (unsigned short)((word + 0x7fff + (word >> 16 & 1)) >> 16);
}
)"},
    {"from_f16", R"(static float from_f16(uint16_t bits) {
  _Float16 value;
  memcpy(&value, &bits, sizeof value);
  return (float)value;
}
)",
     R"(static __device__ float from_f16(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
)"},
    {"to_f16", R"(static uint16_t to_f16(float value) {
  const _Float16 half = (_Float16)value;
  uint16_t bits;
  memcpy(&bits, &half, sizeof bits);
  return bits;
}
)",
     R"(static __device__ unsigned short to_f16(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
)"},
};

}  // namespace

const ElementType* find_element_type(DType dtype) {
  const auto* const found = std::ranges::find(kTypes, dtype, &ElementType::dtype);
  return found == std::end(kTypes) ? nullptr : found;
}

std::string call_text(std::string_view function, const std::string& value) {
  return function.empty() ? value : fmt::format("{}({})", function, value);
}

std::string includes_and_functions(SourceLanguage language, std::set<std::string_view> used) {
  used.erase("");
  const bool device = language == SourceLanguage::cuda, c = language == SourceLanguage::c;
  std::string out;
  if (!device) {
    out = c ? "#include <stdint.h>\n" : "#include <cstdint>\n";
    if (!used.empty()) out += c ? "#include <string.h>\n" : "#include <cstring>\n";
    out += c || used.empty() ? "\n" : "\nusing std::memcpy;\n\n";
  }
  for (const Function& function : kFunctions)
    if (used.contains(function.name)) out.append(device ? function.device : function.host) += '\n';
  return out;
}

}  // namespace assay
