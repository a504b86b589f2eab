#include "family.h"

#include <algorithm>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/input/device_family.h"
#include "text.h"

namespace assay::ptx {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;

bool is_elf(std::string_view image) {
  return image.starts_with(
      "\x7f"
      "ELF");
}

class PtxFamily final : public input::DeviceFamily {
 public:
  PtxFamily(Description description, std::string target)
      : DeviceFamily(std::move(description)), target_(std::move(target)) {}

 private:
  // Empty for a cubin: the driver knows.
  std::string code_objection(const Target& gpu) const override {
    if (target_.empty() || runs_on(target_, gpu.arch)) return {};
    return fmt::format("the PTX is for {}, and the GPU is {}", target_, gpu.arch);
  }

  Result<Artifact> do_compile(const KernelMetadata&, const MaskedProblem&, const Target&,
                              const CompileContext& context) const override {
    if (context.cache == nullptr)
      return fail(ErrorCode::internal, "device code is kept in a cache, and none was given");
    ASSAY_TRY(const std::string_view image, source_bytes(entry(), kMostBytes));
    const Json key = {{"provider", "ptx"}, {"image", sha256_hex(image)}, {"entry", entry().entry}};
    return context.cache->get_or_build(
        key, [&](const std::filesystem::path& folder) -> Result<ArtifactCache::Built> {
          const char* name = is_elf(image) ? "kernel.cubin" : "kernel.ptx";
          ASSAY_TRY(write_file_atomic((folder / name).string(), image));
          return ArtifactCache::Built{.file_name = name,
                                      .facts = {{"compiler", is_elf(image) ? "none" : "the driver"},
                                                {"symbol", entry().entry}}};
        });
  }

  std::string target_;
};

}  // namespace

Result<std::shared_ptr<const Family>> make_family(const KernelEntry& entry) {
  ASSAY_TRY(auto description, input::DeviceFamily::describe(entry));
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::invalid_input, "{}: source: {} {}", entry.origin,
                sanitize(entry.source.filename().string(), 200), what);
  };
  if (!entry.specialised_on.empty())
    return fail(ErrorCode::invalid_input,
                "{}: specialised_on: the code is compiled already; remove it", entry.origin);
  ASSAY_TRY(const std::string_view image, source_bytes(entry, kMostBytes));
  if (is_elf(image)) return std::make_shared<const PtxFamily>(std::move(description), "");
  const TextFacts facts = read_text(image);
  if (facts.version.empty() || facts.target.empty())
    return wrong("is neither a cubin nor PTX: it has no .version or no .target");
  if (std::find(facts.entries.begin(), facts.entries.end(), entry.entry) == facts.entries.end())
    return wrong(
        fmt::format("defines no kernel '{}'; it has {}", sanitize(entry.entry, 80),
                    facts.entries.empty() ? "none" : sanitize(join(facts.entries, ", "), 400)));
  return std::make_shared<const PtxFamily>(std::move(description), facts.target);
}

}  // namespace assay::ptx
