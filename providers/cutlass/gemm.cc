#include "gemm.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "assay/op/gemm/gemm.h"
#include "call.h"
#include "compile.h"
#include "export.h"
#include "shelf.h"
#include "space.h"

namespace assay::cutlass {
namespace {

// Rows under one rule.
struct RuleRows {
  Operands operands;
  bool swapped = false;
  const std::vector<uint32_t>* designs = nullptr;  // Of the family's lists.
  int64_t count = 0;
  std::shared_ptr<const KernelTraits> plain, searched;
};

std::shared_ptr<const KernelTraits> traits_of(const Operands& operands,
                                              std::shared_ptr<const ProblemRule> rule,
                                              bool searched) {
  KernelTraits traits;
  traits.rule = std::move(rule);
  const Generation& generation = *operands.generation;
  traits.name = generation.row_name;
  if (operands.alignment_in != 8) traits.name += fmt::format("_align{}", operands.alignment_in);
  if (operands.reads_c && generation.names_c) traits.name += "_c";
  if (searched) traits.name += "_{raster}_w{swizzle}_k{split_k}";
  traits.compile_seconds = generation.compile_seconds;
  traits.launch_attributes = {"raster", "swizzle", "split_k"};
  return std::make_shared<const KernelTraits>(std::move(traits));
}

// What all rows of a generation ask.
ProblemRule common_rule(const Generation& generation) {
  ProblemRule rule;
  const std::vector<DType> in = {DType::f16, DType::bf16};
  const std::vector<DType> out = {DType::f16, DType::bf16, DType::f32};
  rule.operands = {{.role = "a", .dtypes = in},
                   {.role = "b", .dtypes = in},
                   {.role = "c", .dtypes = out},
                   {.role = "out", .dtypes = out}};
  rule.scalars = true;
  rule.targets = generation.parsed_targets();
  return rule;
}

// Smaller is listed sooner. It matters only between kernels of which a ranker says the same, since
// no ranker is told it: a builder's own choice is one of the others; one warp group that computes
// alone rarely wins; stores that go through shared memory are wider.
int listing_place(const Design& design) {
  const bool alone = design.schedule == "tma" || design.schedule == "cpasync";
  return (design.schedule == "auto" ? 4 : alone ? 2 : 0) + (design.epilogue == "direct" ? 1 : 0);
}

// What a design says of itself, by its name.
Value attribute_of(const Design& is, std::string_view name) {
  const std::pair<std::string_view, int> numbers[] = {
      {"tile_m", is.tile_m},       {"tile_n", is.tile_n},       {"tile_k", is.tile_k},
      {"cluster_m", is.cluster_m}, {"cluster_n", is.cluster_n}, {"warps_m", is.warps_m},
      {"warps_n", is.warps_n},     {"stages", is.stages}};
  for (const auto& [known, number] : numbers)
    if (known == name) return int64_t{number};
  return name == "schedule" ? is.schedule : name == "epilogue" ? is.epilogue : is.scheduler;
}

std::shared_ptr<const DesignAxes> axes_of(const Table& table, bool swapped) {
  DesignAxis designs, runtimes;
  const auto attributes = table.generation->attributes;
  designs.names.assign(attributes.begin(), attributes.end());
  for (const Design& is : table.designs) {
    std::vector<Value>& choice = designs.choices.emplace_back();
    for (const std::string_view name : attributes) choice.push_back(attribute_of(is, name));
  }
  runtimes.names = {"raster", "swizzle", "split_k"};
  for (const Runtime& is : table.generation->runtimes)
    runtimes.choices.push_back({std::string(is.raster), is.swizzle, is.split_k});
  return std::make_shared<const DesignAxes>(
      std::vector<DesignAxis>{{{"swapped"}, {{swapped}}}, std::move(designs), std::move(runtimes)});
}

class GemmFamily final : public Family, public Exportable {
 public:
  GemmFamily(Settings settings, std::shared_ptr<const Table> table)
      : settings_(std::move(settings)),
        table_(std::move(table)),
        common_(common_rule(generation())),
        lists_(table_->lists) {
    for (std::vector<uint32_t>& list : lists_)
      std::ranges::stable_sort(
          list, {}, [&](uint32_t design) { return listing_place(table_->designs[design]); });
    // Behind the others, those that read a C which may not be there, and those of less alignment.
    std::vector<const Group*> groups;
    for (const Group& group : table_->groups) groups.push_back(&group);
    std::ranges::stable_sort(groups, {}, [](const Group* group) {
      return std::pair(group->operands.reads_c, -group->operands.alignment_in);
    });
    for (const bool swapped : {true, false}) {
      axes_[swapped ? 1 : 0] = axes_of(*table_, swapped);
      for (const Group* const group : groups) {
        const auto rule = std::make_shared<const ProblemRule>(rule_of(group->operands, swapped));
        const std::vector<uint32_t>& designs = lists_[group->list];
        int64_t count = 0;
        for (const uint32_t design : designs) count += points(design);
        rows_ += count;
        rules_.push_back({group->operands, swapped, &designs, count,
                          traits_of(group->operands, rule, false),
                          traits_of(group->operands, rule, true)});
      }
    }
  }

  const Exportable* exportable() const override { return this; }
  std::string_view name() const override { return generation().family; }
  Result<KernelExport> export_row(const KernelMetadata& row, const Problem& problem,
                                  const ExportOptions& options) const override {
    return export_call(row, problem, options);
  }

 private:
  const Generation& generation() const { return *table_->generation; }
  std::span<const Runtime> runtimes() const { return generation().runtimes; }

  bool splits_k(uint32_t design) const { return generation().splits_k(table_->designs[design]); }

  // How often a design is listed.
  int64_t points(uint32_t design) const {
    if (!settings_.searches_runtime) return 1;
    return std::ranges::count_if(
        runtimes(), [&](const Runtime& at) { return splits_k(design) || at.split_k == 1; });
  }

  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    if (const Refusals why = common_.match(query.problem(), query.target()); !why.empty()) {
      query.refuse(why.front().reason, why.front().sentence, rows_);
      return;
    }
    if (generation().slower_on_hopper && !settings_.sm80_on_hopper && query.target() != nullptr &&
        query.target()->arch.starts_with("sm_9")) {
      query.refuse(Reason::target, "for GPUs before Hopper (cutlass.ampere=all: for it, too)",
                   rows_);
      return;
    }
    std::vector<const RuleRows*> admitted;
    for (const RuleRows& rows : rules_)
      if (query.admits(*rows.plain->rule, rows.count)) admitted.push_back(&rows);
    if (admitted.empty()) return;
    const bool all = query.problem() == nullptr || toolchain().has_value();
    int64_t left = 0;
    for (const RuleRows* const rows : admitted) left += emit(*rows, all, query, sink);
    if (left > 0)
      query.refuse(Reason::compiler_missing,
                   fmt::format("not compiled yet, and {}", toolchain().error().message), left);
  }

  // Rows of each artifact that is ready, or of all; how many were left out.
  int64_t emit(const RuleRows& rows, bool all, const Query& query, const MetadataSink& sink) const {
    const auto& axes = axes_[rows.swapped ? 1 : 0];
    std::vector<uint32_t> ready;
    int64_t left = 0;
    for (const uint32_t design : *rows.designs) {
      if (all) break;
      if (is_ready({table_->designs[design], rows.operands}, query.target()))
        ready.push_back(design);
      else
        left += points(design);
    }
    const std::vector<uint32_t>& taken = all ? *rows.designs : ready;
    const auto row = [&](uint32_t design, size_t runtime) {
      return assay::Design(axes, static_cast<uint64_t>(design) * runtimes().size() + runtime);
    };
    for (const uint32_t design : taken) sink(KernelMetadata(rows.plain, row(design, 0)));
    if (!settings_.searches_runtime) return left;
    for (const uint32_t design : taken) {
      for (size_t i = 1; i < runtimes().size(); ++i)
        if (splits_k(design) || runtimes()[i].split_k == 1)
          sink(KernelMetadata(rows.searched, row(design, i)));
    }
    return left;
  }

  Refusals do_supports(const KernelMetadata& row, const Problem& problem,
                       const Target& target) const override {
    Refusals refusals;
    const auto view = gemm::view(problem);
    if (!view) {
      refusals.add(Reason::other, view.error().message);
      return refusals;
    }
    for (const int64_t size : {view->l, view->m, view->n, view->k})
      if (size > std::numeric_limits<int>::max())
        refusals.add(Reason::size, "a size is above 2^31-1");
    generation().add_refusals(row, *view, target, refusals);
    return refusals;
  }

  // One that was compiled anywhere, or a new one; what spills is not worth its time.
  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem&, const Target& target,
                              const CompileContext& context) const override {
    ASSAY_TRY(const Configuration configuration, configuration_of(row));
    ASSAY_TRY(Artifact artifact, made(configuration, target, context));
    if (const std::string why = objection(artifact.facts); !why.empty())
      return fail(ErrorCode::unsupported, "{}", why);
    return artifact;
  }

  Result<Artifact> made(const Configuration& configuration, const Target& target,
                        const CompileContext& context) const {
    const State& state = ready_state();
    if (const Shelf* const shelf =
            state.shelf_of(configuration.stock_name(), generation().code_for(target));
        shelf != nullptr) {
      ASSAY_TRY(const Json key, key_of(configuration, target, shelf->identity()));
      const auto there = ArtifactCache(shelf->root(), Log{})
                             .without_building()
                             .get_or_build(key, [](const auto&) -> Result<ArtifactCache::Built> {
                               return fail(ErrorCode::internal, "nothing is built on a shelf");
                             });
      if (there) return brought(*there, key, *shelf, context);
      if (!state.toolchain)
        return fail(ErrorCode::unsupported, "{}; bring that folder again, or have it compiled: {}",
                    there.error().message, state.toolchain.error().message);
    }
    if (!state.toolchain) return fail(state.toolchain.error());
    return compile(configuration, *state.toolchain, target, context);
  }

  // A pool's kernel in the cache, where workers find it whatever they may read, also where it is
  // only looked for: it takes part then. The pool's own where it cannot be put there.
  static Result<Artifact> brought(const Artifact& there, const Json& key, const Shelf& shelf,
                                  const CompileContext& context) {
    if (context.cache == nullptr || context.cache->root() == shelf.root()) return there;
    const auto copy = [&](const std::filesystem::path& folder) -> Result<ArtifactCache::Built> {
      const std::string name = there.file.filename().string();
      std::error_code error;
      if (!std::filesystem::copy_file(there.file, folder / name, error))
        return fail(ErrorCode::machine, "cannot copy a kernel of the pool: {}", error.message());
      return ArtifactCache::Built{name, there.facts};
    };
    auto copied = ArtifactCache(context.cache->root(), Log{}).get_or_build(key, copy);
    return copied ? std::move(copied) : there;
  }

  size_t do_workspace_bytes(const KernelMetadata& row, const Problem& problem, int) const override {
    return most_workspace_bytes(problem, row);
  }

  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const override {
    ASSAY_TRY(StreamStep step, bind_call(row, binding));
    steps.push_back(std::move(step));
    return {};
  }

  // Whether there is one: looked for once, when a problem's kernels are first asked for.
  const Result<Toolchain>& toolchain() const {
    std::call_once(toolchain_once_, [this] { toolchain_ = Toolchain::locate(settings_); });
    return toolchain_;
  }

  // For this GPU; null: any.
  bool is_ready(const Configuration& configuration, const Target* target) const {
    const State& state = ready_state();
    return state.any_ready &&
           state.shelf_of(configuration.stock_name(),
                          target == nullptr ? "" : generation().code_for(*target)) != nullptr;
  }

  // What is compiled already, looked for once: where there is no compiler, or one would be called.
  struct State {
    Result<Toolchain> toolchain = Toolchain{};  // With its identity.
    std::vector<Shelf> shelves;                 // That of this compiler first.
    bool any_ready = false;

    // code: empty for any.
    const Shelf* shelf_of(const std::string& name, const std::string& code) const {
      for (const Shelf& shelf : shelves)
        if ((code.empty() || shelf.code() == code) && shelf.has(name)) return &shelf;
      return nullptr;
    }
  };

  const State& ready_state() const {
    std::call_once(state_once_, [this] {
      State& state = state_.emplace();
      state.toolchain = Toolchain::find(settings_);
      for (const Code& made_for : generation().codes) {
        const std::string code(made_for.code);
        if (state.toolchain && !settings_.cache.empty())
          state.shelves.emplace_back(settings_.cache, state.toolchain->identity, code);
        for (const auto& root : {settings_.pool, settings_.cache}) {
          // With a compiler here, kernels of another are taken from a pool alone.
          if (root.empty() || (state.toolchain && root == settings_.cache)) continue;
          for (Shelf& shelf : Shelf::all_of(root, code)) state.shelves.push_back(std::move(shelf));
        }
      }
      for (const Shelf& shelf : state.shelves) state.any_ready = state.any_ready || !shelf.empty();
    });
    return *state_;
  }

  Settings settings_;
  std::shared_ptr<const Table> table_;
  ProblemRule common_;                         // Most problems are none for any of its many rules.
  std::vector<std::vector<uint32_t>> lists_;   // The table's, in the order of listing.
  std::shared_ptr<const DesignAxes> axes_[2];  // By swapped.
  std::vector<RuleRows> rules_;
  int64_t rows_ = 0;
  mutable std::once_flag toolchain_once_, state_once_;
  mutable Result<Toolchain> toolchain_ = Toolchain{};
  mutable std::optional<State> state_;
};

}  // namespace

Result<std::vector<std::shared_ptr<const Family>>> make_gemm_families(const Settings& settings) {
  std::vector<std::shared_ptr<const Table>> tables;
  const auto embedded = [](const Table& table) {
    return std::shared_ptr<const Table>(std::shared_ptr<const Table>(), &table);
  };
  for (const Generation* generation : generations())
    tables.push_back(embedded(table_of(*generation)));
  if (settings.whole_space) {
    ASSAY_TRY(Table whole, whole_table(settings));
    tables.front() = std::make_shared<const Table>(std::move(whole));
  }
  std::vector<std::shared_ptr<const Family>> families;
  for (auto& table : tables) {
    if (table->configurations == 0)
      return fail(ErrorCode::internal, "the table of CUTLASS's configurations cannot be read");
    families.push_back(std::make_shared<const GemmFamily>(settings, std::move(table)));
  }
  return families;
}

}  // namespace assay::cutlass
