#include "family.h"

#include <filesystem>
#include <regex>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/input/argument_values.h"
#include "assay/input/entry_rows.h"
#include "assay/kernel/device_code/bind.h"
#include "nvrtc.h"

namespace assay::cuda_source {
namespace {

constexpr size_t kMostSourceBytes = size_t{4} << 20;
constexpr const char* kCubin = "kernel.cubin";

struct Extents {
  std::vector<Expression> grid, block, cluster;
  std::optional<Expression> shared;
};

Result<std::vector<Expression>> parse(const KernelEntry& entry,
                                      const std::vector<std::string>& texts) {
  std::vector<Expression> expressions;
  for (const std::string& text : texts) {
    auto expression = Expression::parse(text);
    if (!expression)
      return fail(ErrorCode::invalid_input, "{}: launch: {}", entry.origin,
                  expression.error().message);
    expressions.push_back(std::move(*expression));
  }
  return expressions;
}

std::string macro_value(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "1" : "0";
  return to_string(value);
}

class CudaFamily final : public Family {
 public:
  CudaFamily(input::EntryRows rows, Extents extents)
      : rows_(std::move(rows)), extents_(std::move(extents)) {}

  std::string_view name() const override { return entry().name; }

 private:
  const KernelEntry& entry() const { return rows_.entry(); }

  static bool is_card(const Target* target) {
    return target != nullptr && target->arch.starts_with("sm_");
  }

  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    rows_.enumerate(query, [&](const KernelMetadata& row) {
      const std::string why =
          query.problem() == nullptr ? "" : launch_objection(row, *query.problem());
      if (why.empty())
        sink(row);
      else
        query.refuse(Reason::constraint, why);
    });
  }

  Refusals do_supports(const KernelMetadata& row, const Problem& problem,
                       const Target& target) const override {
    Refusals refusals;
    if (!is_card(&target)) refusals.add(Reason::target, "CUDA code runs on a card");
    if (const auto why = rows_.objection(row.design, problem))
      refusals.add(why->reason, why->sentence);
    if (const std::string why = launch_objection(row, problem); !why.empty())
      refusals.add(Reason::constraint, why);
    return refusals;
  }

  std::string launch_objection(const KernelMetadata& row, const Problem& problem) const {
    const auto geometry = geometry_of(row, problem);
    return geometry ? device_code::objection(*geometry) : geometry.error().message;
  }

  Result<device_code::Geometry> geometry_of(const KernelMetadata& row,
                                            const Problem& problem) const {
    device_code::Geometry geometry;
    const auto fill = [&](const std::vector<Expression>& from,
                          std::array<uint32_t, 3>& to) -> Status {
      for (size_t i = 0; i < from.size(); ++i) {
        ASSAY_TRY(to[i], extent(from[i], row, problem));
      }
      return {};
    };
    ASSAY_TRY(fill(extents_.grid, geometry.grid));
    ASSAY_TRY(fill(extents_.block, geometry.block));
    ASSAY_TRY(fill(extents_.cluster, geometry.cluster));
    if (extents_.shared) {
      ASSAY_TRY(geometry.shared_bytes, extent(*extents_.shared, row, problem));
    }
    return geometry;
  }

  static Result<uint32_t> extent(const Expression& expression, const KernelMetadata& row,
                                 const Problem& problem) {
    ASSAY_TRY(const int64_t value, input::EntryRows::evaluate(expression, row.design, problem));
    if (value < 0 || value > 0x7fffffff)
      return fail(ErrorCode::failed, "launch: '{}' is {}", expression.text(), value);
    return static_cast<uint32_t>(value);
  }

  std::vector<std::string> options_for(const KernelMetadata& row, const MaskedProblem& problem,
                                       const Target& target, const Nvrtc& nvrtc) const {
    std::vector<std::string> options = {"-std=c++17", "-default-device", "-lineinfo",
                                        "--gpu-architecture=" + target.arch, "--ptxas-options=-v"};
    for (const auto& [name, value] : row.design)
      if (!input::is_told(entry(), name))
        options.push_back(fmt::format("-D{}={}", name, macro_value(value)));
    for (const std::string& name : entry().specialised_on) {
      std::string macro = "ASSAY_" + name;
      for (char& letter : macro)
        if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
      options.push_back(fmt::format("-D{}={}", macro, problem.dimension(name)));
    }
    for (const std::string& folder : nvrtc.include_folders()) options.push_back("-I" + folder);
    options.push_back("-I" + entry().source.parent_path().string());
    options.insert(options.end(), entry().flags.begin(), entry().flags.end());
    return options;
  }

  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem& problem,
                              const Target& target, const CompileContext& context) const override {
    if (context.cache == nullptr)
      return fail(ErrorCode::internal, "a source is compiled into a cache, and none was given");
    ASSAY_TRY(const auto nvrtc, Nvrtc::open({}));
    ASSAY_TRY(const std::string source, read_file(entry().source.string(), kMostSourceBytes));
    const std::vector<std::string> options = options_for(row, problem, target, *nvrtc);
    const Json key = {
        {"provider", "cuda_source"},    {"source", sha256_hex(source)},
        {"entry", entry().entry},       {"options", options},
        {"compiler", nvrtc->version()}, {"library", sha256_of_file(nvrtc->path()).value_or("")},
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

  size_t do_workspace_bytes(const KernelMetadata& row, const Problem& problem,
                            int threads) const override {
    return rows_.workspace_bytes(row.design, problem, threads);
  }

  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const override {
    const Json& facts = binding.artifact.facts;
    const auto symbol = facts.is_object() ? facts.find("symbol") : facts.end();
    if (symbol == facts.end() || !symbol->is_string())
      return fail(ErrorCode::failed, "the artifact names no function");
    constexpr size_t kMostBytes = size_t{256} << 20;
    ASSAY_TRY(const std::string cubin, read_file(binding.artifact.file.string(), kMostBytes));
    ASSAY_TRY(const device_code::Geometry geometry, geometry_of(row, binding.problem));
    ASSAY_TRY(const auto values,
              input::argument_values(
                  {entry(), row, binding.problem, binding.threads,
                   rows_.workspace_bytes(row.design, binding.problem, binding.threads)},
                  entry().args));
    ASSAY_TRY(auto step, device_code::bind(binding.device, std::as_bytes(std::span(cubin)),
                                           symbol->get<std::string>(), geometry, values));
    steps.push_back(std::move(step));
    return {};
  }

  input::EntryRows rows_;
  Extents extents_;
};

}  // namespace

Result<std::shared_ptr<const Family>> make_family(const KernelEntry& entry) {
  if (!entry.launch)
    return fail(ErrorCode::invalid_input, "{}: there is no field launch", entry.origin);
  if (!entry.prepare_entry.empty())
    return fail(ErrorCode::unsupported, "{}: prepare: device code does not pack weights yet",
                entry.origin);
  Extents extents;
  ASSAY_TRY(extents.grid, parse(entry, entry.launch->grid));
  ASSAY_TRY(extents.block, parse(entry, entry.launch->block));
  ASSAY_TRY(extents.cluster, parse(entry, entry.launch->cluster));
  if (!entry.launch->shared_text.empty()) {
    ASSAY_TRY(auto shared, parse(entry, {entry.launch->shared_text}));
    extents.shared = std::move(shared.front());
  }
  ASSAY_TRY(auto rows, input::EntryRows::create(entry));
  return std::make_shared<const CudaFamily>(std::move(rows), std::move(extents));
}

}  // namespace assay::cuda_source
