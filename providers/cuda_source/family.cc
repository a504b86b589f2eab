#include "family.h"

#include <filesystem>
#include <random>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/input/device_family.h"
#include "assay/input/source_files.h"
#include "assay/kernel/device_code/resources.h"
#include "nvrtc.h"

namespace assay::cuda_source {
namespace {

constexpr size_t kMostSourceBytes = size_t{4} << 20;
constexpr const char* kCubin = "kernel.cubin";

class CudaFamily final : public input::DeviceFamily {
 public:
  CudaFamily(Description description, ProviderSettings settings)
      : DeviceFamily(std::move(description)), settings_(std::move(settings)) {}

 private:
  // All but where headers lie: an archive of compiled code is of use elsewhere too.
  std::vector<std::string> options_for(const KernelMetadata& row, const MaskedProblem& problem,
                                       const Target& target) const {
    std::vector<std::string> options = {"-std=c++17", "-default-device", "-lineinfo",
                                        "--gpu-architecture=" + target.arch, "--ptxas-options=-v"};
    for (const std::string& macro : macros(row, problem, TypeMacros::all))
      options.push_back("-D" + macro);
    options.insert(options.end(), entry().flags.begin(), entry().flags.end());
    return options;
  }

  // What the source brings along, by place from its folder, and the hash of each. The toolkit's own
  // headers are not among them: the library's hash stands for those.
  Result<Json> files_of(std::vector<std::string> options) const {
    const std::filesystem::path folder = entry().source.parent_path();
    options.push_back("-I" + folder.string());
    ASSAY_TRY(const auto found, input::find_local_files(entry(), options));
    Json files = Json::object();
    for (const auto& [path, hash] : found.sha256)
      files[std::filesystem::path(path).lexically_relative(folder).string()] = hash;
    // NVRTC has no preprocessor to ask: whatever that header holds, it is read anew by each
    // process.
    static const uint64_t process = std::random_device{}();
    if (found.needs_preprocessor) files["includes that only a preprocessor follows"] = process;
    return files;
  }

  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem& problem,
                              const Target& target, const CompileContext& context) const override {
    if (context.cache == nullptr)
      return fail(ErrorCode::internal, "a source is compiled into a cache, and none was given");
    ASSAY_TRY(const auto nvrtc, Nvrtc::shared(settings_));
    ASSAY_TRY(std::string_view source, source_bytes(entry(), kMostSourceBytes));
    if (source.starts_with("\xef\xbb\xbf")) source.remove_prefix(3);  // A byte order mark.
    std::vector<std::string> options = options_for(row, problem, target);
    ASSAY_TRY(const Json files, files_of(options));
    const Json key = {{"provider", "cuda_source"},
                      {"files", files},
                      {"entry", entry().entry},
                      {"options", options},
                      {"headers", std::string(own_header())},
                      {"compiler", nvrtc->version()},
                      {"library", nvrtc->sha256()},
                      {"target", target.to_string()}};
    for (const std::string& folder : nvrtc->include_folders()) options.push_back("-I" + folder);
    options.push_back("-I" + entry().source.parent_path().string());
    return context.cache->get_or_build(
        key, [&](const std::filesystem::path& folder) -> Result<ArtifactCache::Built> {
          auto compiled = nvrtc->compile(std::string(source), entry().source.filename().string(),
                                         entry().entry, options);
          if (!compiled) return fail(with_context(std::move(compiled).error(), entry().origin));
          ASSAY_TRY(check_brought_files(entry()));
          ASSAY_TRY(write_file_atomic(
              (folder / kCubin).string(),
              std::string_view(reinterpret_cast<const char*>(compiled->cubin.data()),
                               compiled->cubin.size())));
          Json facts = {{"compiler", "nvrtc " + nvrtc->version()},
                        {"flags", options},
                        {"symbol", compiled->symbol},
                        {"target", target.to_string()}};
          device_code::add_resources(compiled->log, compiled->symbol, facts);
          return ArtifactCache::Built{.file_name = kCubin, .facts = std::move(facts)};
        });
  }

  ProviderSettings settings_;
};

}  // namespace

Result<std::shared_ptr<const Family>> make_family(const KernelEntry& entry,
                                                  const ProviderSettings& settings) {
  ASSAY_TRY(auto description, input::DeviceFamily::describe(entry));
  return std::make_shared<const CudaFamily>(std::move(description), settings);
}

}  // namespace assay::cuda_source
