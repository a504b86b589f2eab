#include "family.h"

#include <filesystem>
#include <regex>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/input/device_family.h"
#include "nvrtc.h"

namespace assay::cuda_source {
namespace {

constexpr size_t kMostSourceBytes = size_t{4} << 20;
constexpr const char* kCubin = "kernel.cubin";

std::string macro_value(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "1" : "0";
  return to_string(value);
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& letter : result)
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  return result;
}

class CudaFamily final : public input::DeviceFamily {
 public:
  using DeviceFamily::DeviceFamily;

 private:
  std::vector<std::string> options_for(const KernelMetadata& row, const MaskedProblem& problem,
                                       const Target& target, const Nvrtc& nvrtc) const {
    std::vector<std::string> options = {"-std=c++17", "-default-device", "-lineinfo",
                                        "--gpu-architecture=" + target.arch, "--ptxas-options=-v"};
    for (const auto& [name, value] : row.design)
      if (!input::is_told(entry(), name))
        options.push_back(fmt::format("-D{}={}", name, macro_value(value)));
    for (const std::string& name : entry().specialised_on)
      options.push_back(fmt::format("-DASSAY_{}={}", upper(name), problem.dimension(name)));
    for (const Operand& operand : problem.unmasked_types().operands())
      options.push_back(
          fmt::format("-DASSAY_{}_{}=1", upper(operand.role), upper(to_string(operand.dtype))));
    for (const std::string& folder : nvrtc.include_folders()) options.push_back("-I" + folder);
    options.push_back("-I" + entry().source.parent_path().string());
    options.insert(options.end(), entry().flags.begin(), entry().flags.end());
    return options;
  }

  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem& problem,
                              const Target& target, const CompileContext& context) const override {
    if (context.cache == nullptr)
      return fail(ErrorCode::internal, "a source is compiled into a cache, and none was given");
    ASSAY_TRY(const auto nvrtc, Nvrtc::shared());
    ASSAY_TRY(const std::string source, read_file(entry().source.string(), kMostSourceBytes));
    const std::vector<std::string> options = options_for(row, problem, target, *nvrtc);
    const Json key = {{"provider", "cuda_source"},    {"source", sha256_hex(source)},
                      {"entry", entry().entry},       {"options", options},
                      {"compiler", nvrtc->version()}, {"library", nvrtc->sha256()},
                      {"target", target.to_string()}};
    return context.cache->get_or_build(
        key, [&](const std::filesystem::path& folder) -> Result<ArtifactCache::Built> {
          auto compiled =
              nvrtc->compile(source, entry().source.filename().string(), entry().entry, options);
          if (!compiled) return fail(with_context(std::move(compiled).error(), entry().origin));
          ASSAY_TRY(write_file_atomic(
              (folder / kCubin).string(),
              std::string_view(reinterpret_cast<const char*>(compiled->cubin.data()),
                               compiled->cubin.size())));
          Json facts = {{"compiler", "nvrtc " + nvrtc->version()},
                        {"flags", options},
                        {"symbol", compiled->symbol},
                        {"target", target.to_string()}};
          add_resources(compiled->log, facts);
          return ArtifactCache::Built{.file_name = kCubin, .facts = std::move(facts)};
        });
  }

  // ptxas's own lines: "Used 32 registers, ... 8 bytes spill stores".
  static void add_resources(const std::string& log, Json& facts) {
    const auto number = [&](const char* pattern, const char* name) {
      std::smatch found;
      if (std::regex_search(log, found, std::regex(pattern)))
        facts[name] = std::stoll(found[1].str());
    };
    number(R"(Used (\d{1,9}) registers)", "registers");
    number(R"((\d{1,9}) bytes spill stores)", "spill_store_bytes");
    number(R"((\d{1,9}) bytes spill loads)", "spill_load_bytes");
    number(R"((\d{1,9}) bytes smem)", "static_shared_bytes");
  }
};

}  // namespace

Result<std::shared_ptr<const Family>> make_family(const KernelEntry& entry) {
  ASSAY_TRY(auto description, input::DeviceFamily::describe(entry));
  return std::make_shared<const CudaFamily>(std::move(description));
}

}  // namespace assay::cuda_source
