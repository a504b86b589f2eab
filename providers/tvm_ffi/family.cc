#include "family.h"

#include <algorithm>
#include <optional>

#include "assay/base/choices.h"
#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/input/argument_values.h"
#include "assay/input/entry_family.h"
#include "call.h"
#include "object_file.h"
#include "script.h"

namespace assay::tvm_ffi {
namespace {

constexpr size_t kMostObjectBytes = size_t{1} << 30;
constexpr size_t kMostListed = 12;
constexpr const char* kObject = "kernel.so";

template <class... Args>
tl::unexpected<Error> wrong(const KernelEntry& entry, fmt::format_string<Args...> sentence,
                            Args&&... args) {
  return fail(ErrorCode::invalid_input, "{}: {}", entry.origin,
              fmt::format(sentence, std::forward<Args>(args)...));
}

// Names beginning with '_' are what tools keep beside their functions (documentation, metadata).
Status check_entry(const KernelEntry& entry, const ObjectFile& object) {
  if (std::ranges::binary_search(object.entries, entry.entry)) return {};
  std::vector<std::string> names;
  for (const std::string& name : object.entries)
    if (!name.starts_with('_')) names.push_back(sanitize(name, 100));
  const std::string file = sanitize(entry.source.filename().string(), 200);
  if (names.empty())
    return wrong(entry, "entry: {} exports no {}{}, nor any other function of TVM-FFI", file,
                 kPrefix, entry.entry);
  const size_t more = names.size() - std::min(names.size(), kMostListed);
  std::vector<std::string> listed(names.begin(), names.end() - static_cast<std::ptrdiff_t>(more));
  return wrong(entry, "entry: {} exports no {}{}{}", file, kPrefix, entry.entry,
               did_you_mean(entry.entry, names,
                            fmt::format("there are: {}{}", join(listed, ", "),
                                        more == 0 ? "" : fmt::format(" and {} more", more))));
}

// What the object is, and its bytes: the user's file, or what the user's script writes.
struct Content {
  std::string bytes;
  ObjectFile object;
};

Result<Content> made_by_script(const KernelEntry& entry, const Target& target,
                               const ProviderSettings& settings, const CompileContext& context) {
  Content content;
  ASSAY_TRY(content.bytes, make_object(entry, target, settings, context));
  auto object = parse_object(content.bytes);
  if (!object)
    return fail(ErrorCode::build_failed, "{}: what the script wrote: {}", entry.origin,
                object.error().message);
  content.object = std::move(*object);
  if (const Status has = check_entry(entry, content.object); !has)
    return fail(ErrorCode::build_failed, "{}", has.error().message);
  return content;
}

class TvmFfiFamily final : public input::HostFamily {
 public:
  TvmFfiFamily(input::EntryRows rows, std::optional<ObjectFile> object, ProviderSettings settings)
      : HostFamily(std::move(rows)), object_(std::move(object)), settings_(std::move(settings)) {}

 private:
  std::string symbol() const { return std::string(kPrefix) + entry().entry; }

  // Its tensors lie in this machine's memory, unless its targets are GPUs.
  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    if (query.target() != nullptr && query.target()->is_gpu() && !entry().rule->for_gpus_alone())
      return query.refuse(Reason::target,
                          "it says nothing of GPUs; one that takes a GPU's tensors says so: "
                          "targets: [" +
                              query.target()->arch + "]");
    HostFamily::do_enumerate(query, sink);
  }

  Refusals do_supports(const KernelMetadata& row, const Problem& problem,
                       const Target& target) const override {
    Refusals refusals;
    if (target.is_gpu() != entry().rule->for_gpus_alone())
      refusals.add(Reason::target, "its tensors lie elsewhere");
    for (const Refusal& why : HostFamily::do_supports(row, problem, target))
      refusals.add(why.reason, why.sentence);
    return refusals;
  }

  // Of an object nothing is compiled: the cache keeps the bytes that are raced, whatever becomes of
  // the file. A script runs for each target.
  Result<Artifact> do_compile(const KernelMetadata&, const MaskedProblem&, const Target& target,
                              const CompileContext& context) const override {
    if (context.cache == nullptr)
      return fail(ErrorCode::internal, "an object is kept in a cache, and none was given");
    Json key = {{"provider", "tvm_ffi"}, {"symbol", symbol()}};
    if (object_) {
      ASSAY_TRY(const std::string_view bytes, source_bytes(entry(), kMostObjectBytes));
      key["sha256"] = sha256_hex(bytes);
    } else {
      ASSAY_TRY(key["script"], script_identity(entry(), settings_));
      key["target"] = target.to_string();
    }
    return context.cache->get_or_build(
        key, [&](const std::filesystem::path& folder) -> Result<ArtifactCache::Built> {
          ASSAY_TRY(const Content content, content_for(target, context));
          ASSAY_TRY(write_file_atomic((folder / kObject).string(), content.bytes));
          return ArtifactCache::Built{.file_name = kObject,
                                      .facts = {{"symbol", symbol()},
                                                {"sha256", sha256_hex(content.bytes)},
                                                {"needs", content.object.needed}}};
        });
  }

  Result<Content> content_for(const Target& target, const CompileContext& context) const {
    if (!object_) return made_by_script(entry(), target, settings_, context);
    ASSAY_TRY(const std::string_view bytes, source_bytes(entry(), kMostObjectBytes));
    return Content{.bytes = std::string(bytes), .object = *object_};
  }

  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const override {
    const std::string file = binding.artifact.file.string();
    if (file.empty())
      return fail(ErrorCode::internal, "{}: the artifact has no file", entry().name);
    auto loaded = load({.file = file,
                        .symbol = symbol(),
                        .folder = entry().source.parent_path(),
                        .needed = needed_by(binding.artifact),
                        .settings = settings_});
    if (!loaded) return fail(with_context(std::move(loaded).error(), entry().origin));
    ASSAY_TRY(const auto values,
              input::argument_values(
                  {entry(), row, binding.problem, binding.threads,
                   rows().workspace_bytes(row.design, binding.problem, binding.threads)},
                  entry().args));
    ASSAY_TRY(auto step, Call::make_step(std::move(*loaded), binding, values, entry().rule->batch));
    steps.push_back(std::move(step));
    return {};
  }

  static std::vector<std::string> needed_by(const Artifact& artifact) {
    std::vector<std::string> needed;
    if (const auto list = artifact.facts.find("needs");
        list != artifact.facts.end() && list->is_array())
      for (const Json& name : *list)
        if (name.is_string()) needed.push_back(name.get<std::string>());
    return needed;
  }

  std::optional<ObjectFile> object_;  // Empty: a script writes it.
  ProviderSettings settings_;
};

// What a description may say of code that others compile, and of functions that are called as they
// are.
Status check_fields(const KernelEntry& entry) {
  if (!entry.prepare_entry.empty())
    return wrong(entry, "prepare: an object with TVM-FFI entry points does not pack weights here");
  if (!entry.specialised_on.empty())
    return wrong(entry,
                 "specialised_on: nothing is compiled here; write constraints instead, such "
                 "as [k == 4096]");
  for (const KernelEntry::Tunable& tunable : entry.tunables) {
    if (std::ranges::find(entry.args, tunable.name) == entry.args.end())
      return wrong(entry, "tunables: args does not name '{}', and nothing else would know of it",
                   tunable.name);
    if (std::holds_alternative<std::string>(tunable.values.front()))
      return wrong(entry, "tunables: '{}' is text, and only numbers and truth values are passed",
                   tunable.name);
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const Family>> make_family(const KernelEntry& entry,
                                                  const ProviderSettings& settings) {
  if (!entry.rule) return wrong(entry, "no rule");
  ASSAY_TRY(check_fields(entry));
  std::optional<ObjectFile> object;
  ASSAY_TRY(const std::string_view content, source_bytes(entry, kMostObjectBytes));
  if (!is_script(entry)) {
    auto parsed = parse_object(content);
    if (!parsed)
      return wrong(entry, "source: '{}': {}", sanitize(entry.source.string(), 300),
                   parsed.error().message);
    ASSAY_TRY(check_entry(entry, *parsed));
    object = std::move(*parsed);
  }
  const auto runs_on = entry.rule->for_gpus_alone() ? input::RunsOn::gpu : input::RunsOn::cores;
  ASSAY_TRY(auto rows, input::EntryRows::create(entry, {}, runs_on));
  return std::make_shared<const TvmFfiFamily>(std::move(rows), std::move(object), settings);
}

}  // namespace assay::tvm_ffi
