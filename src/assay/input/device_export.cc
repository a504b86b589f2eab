#include "assay/input/device_export.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "assay/base/embedded.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"

namespace assay::input_export {
std::span<const EmbeddedFile> embedded_files();
}  // namespace assay::input_export

namespace assay::input {
namespace {

// Symbols are the author's words, and stand in a text of C.
bool is_symbol(std::string_view name) {
  return !name.empty() && name.size() <= 4000 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '.' || c == '%';
  });
}

template <class Numbers>
std::string list(const Numbers& numbers) {
  std::vector<std::string> texts;
  for (const auto number : numbers) texts.push_back(std::to_string(number));
  return "{" + join(texts, ", ") + "}";
}

std::string parameter(const ArgumentValue& value) {
  switch (value.kind) {
    case ArgumentValue::Kind::pointer:
      if (value.scratch_bytes > 0)
        return fmt::format("{{gpu::Parameter::scratch, -1, {}, 0, {{}}}}", value.scratch_bytes);
      return fmt::format("{{gpu::Parameter::pointer, {}, 0, 0, {{}}}}", value.place);
    case ArgumentValue::Kind::integer:
      return fmt::format("{{gpu::Parameter::integer, -1, {}, 0, {{}}}}", value.integer);
    case ArgumentValue::Kind::real:
      return fmt::format("{{gpu::Parameter::real, -1, 0, {:.17g}, {{}}}}", value.real);
    case ArgumentValue::Kind::tensor_map: {
      const TensorMapShape& map = *value.map;
      const auto codes = device_code::codes_of(map).value_or(device_code::MapCodes{});
      return fmt::format(
          "{{gpu::Parameter::tensor_map, {}, 0, 0,\n     {{{}, {}, {}, {}, {}, {}, "
          "{}}}}}",
          value.place, codes.type, map.sizes.size(), list(map.sizes), list(map.step_bytes),
          list(map.box), codes.swizzle, codes.promotion);
    }
  }
  return {};
}

}  // namespace

std::vector<ExportFile> launcher_files() {
  std::vector<ExportFile> files;
  for (const EmbeddedFile& file : input_export::embedded_files()) {
    const std::string name(file.name.substr(file.name.rfind('/') + 1));
    files.push_back(
        {name == "abi.h" ? "cuda_driver.h" : "gpu_launch.h", std::string(file.content)});
  }
  return files;
}

Result<KernelExport> export_device_code(const ExportFile& image, const CodeLaunch& launch,
                                        const std::string& for_target) {
  if (!is_symbol(launch.symbol))
    return fail(ErrorCode::unsupported, "the function '{}' cannot be named in C",
                sanitize(launch.symbol, 80));
  const device_code::Geometry& geometry = launch.geometry;
  // Two exported kernels may be linked into one program.
  const std::string label = "assay_image_" + sha256_hex(image.text).substr(0, 16);
  std::string parameters;
  for (const ArgumentValue& value : launch.parameters)
    parameters += fmt::format("    {},  // {}\n", parameter(value), sanitize(value.name, 80));
  KernelExport made;
  made.code = fmt::format(
      "#include \"gpu_launch.h\"\n\n"
      "__asm__(\".pushsection .rodata\\n.balign 64\\n.globl {0}\\n.hidden {0}\\n{0}:\\n\"\n"
      "        \".incbin \\\"{1}\\\"\\n.byte 0\\n.popsection\\n\");\n"
      "extern \"C\" __attribute__((visibility(\"hidden\"))) const char {0}[];\n\n"
      "namespace {{\n\n"
      "const gpu::Parameter kParameters[] = {{\n{2}}};\n"
      "const gpu::Kernel kKernel = {{{0}, \"{3}\", {4}, {5}, {6}, {7}, {8}, kParameters, "
      "{9}}};\n\n"
      "int run_kernel(void* const* data, void* stream) {{\n"
      "  static gpu::Launcher launcher(kKernel);\n"
      "  return launcher(data, stream);\n}}\n\n}}  // namespace\n",
      label, image.path, parameters, launch.symbol, list(geometry.grid), list(geometry.block),
      list(geometry.cluster), geometry.shared_bytes, launch.dependent ? "true" : "false",
      launch.parameters.size());
  made.files = launcher_files();
  made.files.push_back(image);
  made.compile_flags = {"-std=c++20", "-O2"};
  made.link_flags = {"-ldl", "-pthread"};
  made.on_gpu = true;
  made.dependent_launch = launch.dependent;
  made.what = fmt::format("compiled device code for {}, launched through the driver (libcuda.so.1)",
                          sanitize(for_target, 40));
  return made;
}

}  // namespace assay::input
