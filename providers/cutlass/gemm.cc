#include "gemm.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "assay/device/cuda/limits.h"
#include "assay/device/device_facts.h"
#include "assay/op/gemm/gemm.h"
#include "call.h"
#include "compile.h"
#include "export.h"
#include "shelf.h"
#include "space.h"

namespace assay::cutlass {
namespace {

// The first is what a caller gets who says nothing. Raster order and swizzle are said as CUTLASS
// takes them; it swizzles less where there are few tiles.
constexpr std::array<Runtime, 9> kRuntimes = {{{},
                                               {"along_m", 1, 1},
                                               {"along_n", 1, 1},
                                               {"along_m", 4, 1},
                                               {"along_n", 4, 1},
                                               {"along_m", 8, 1},
                                               {"along_n", 8, 1},
                                               {"heuristic", 1, 2},
                                               {"heuristic", 1, 4}}};

// Of sm80: blocks run along m, in columns of tiles as wide as the swizzle; parts of k are added by
// the blocks of a tile one after another.
constexpr std::array<Runtime, 9> kRuntimesSm80 = {{{},
                                                   {"along_m", 1, 1},
                                                   {"along_m", 2, 1},
                                                   {"along_m", 4, 1},
                                                   {"along_m", 8, 1},
                                                   {"heuristic", 1, 2},
                                                   {"heuristic", 1, 4},
                                                   {"heuristic", 1, 8},
                                                   {"heuristic", 1, 16}}};

std::span<const Runtime> runtimes_of(Generation generation) {
  if (generation == Generation::sm90) return kRuntimes;
  return kRuntimesSm80;
}

// Of one core; measured 40 to 50 for sm90, CUDA 13.0.
double compile_seconds(Generation generation) { return generation == Generation::sm90 ? 45 : 20; }

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
  const bool multistage = operands.generation == Generation::sm80;
  traits.name =
      multistage
          ? "{tile_m}x{tile_n}x{tile_k}_{warps_m}x{warps_n}_{stages}_{schedule}"
          : "{tile_m}x{tile_n}x{tile_k}_{cluster_m}x{cluster_n}_{schedule}_{epilogue}_{scheduler}";
  if (operands.alignment_in != 8) traits.name += fmt::format("_align{}", operands.alignment_in);
  if (operands.reads_c && !multistage) traits.name += "_c";  // Of sm80 all do.
  if (searched) traits.name += "_{raster}_w{swizzle}_k{split_k}";
  traits.compile_seconds = compile_seconds(operands.generation);
  traits.launch_attributes = {"raster", "swizzle", "split_k"};
  return std::make_shared<const KernelTraits>(std::move(traits));
}

// What all rows of a generation ask.
ProblemRule common_rule(Generation generation) {
  ProblemRule rule;
  const std::vector<DType> in = {DType::f16, DType::bf16};
  const std::vector<DType> out = {DType::f16, DType::bf16, DType::f32};
  rule.operands = {{.role = "a", .dtypes = in},
                   {.role = "b", .dtypes = in},
                   {.role = "c", .dtypes = out},
                   {.role = "out", .dtypes = out}};
  rule.scalars = true;
  rule.targets = targets_of(generation);
  return rule;
}

// Smaller is listed sooner. It matters only between kernels of which a ranker says the same, since
// no ranker is told it: a builder's own choice is one of the others; one warp group that computes
// alone rarely wins; stores that go through shared memory are wider.
int listing_place(const Design& design) {
  const bool alone = design.schedule == "tma" || design.schedule == "cpasync";
  return (design.schedule == "auto" ? 4 : alone ? 2 : 0) + (design.epilogue == "direct" ? 1 : 0);
}

std::shared_ptr<const DesignAxes> axes_of(const Table& table, bool swapped) {
  DesignAxis designs, runtimes;
  const bool multistage = table.generation == Generation::sm80;
  if (multistage)
    designs.names = {"tile_m", "tile_n", "tile_k", "warps_m", "warps_n", "stages", "schedule"};
  else
    designs.names = {"tile_m", "tile_n",   "tile_k",   "cluster_m", "cluster_n",
                     "stages", "schedule", "epilogue", "scheduler"};
  for (const Design& is : table.designs) {
    std::vector<Value>& choice = designs.choices.emplace_back();
    for (const int number :
         {is.tile_m, is.tile_n, is.tile_k, multistage ? is.warps_m : is.cluster_m,
          multistage ? is.warps_n : is.cluster_n, is.stages})
      choice.emplace_back(int64_t{number});
    choice.emplace_back(is.schedule);
    if (!multistage) choice.insert(choice.end(), {is.epilogue, is.scheduler});
  }
  runtimes.names = {"raster", "swizzle", "split_k"};
  for (const Runtime& is : runtimes_of(table.generation))
    runtimes.choices.push_back({std::string(is.raster), is.swizzle, is.split_k});
  return std::make_shared<const DesignAxes>(
      std::vector<DesignAxis>{{{"swapped"}, {{swapped}}}, std::move(designs), std::move(runtimes)});
}

class GemmFamily final : public Family, public Exportable {
 public:
  GemmFamily(Settings settings, std::shared_ptr<const Table> table)
      : settings_(std::move(settings)),
        table_(std::move(table)),
        common_(common_rule(table_->generation)),
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
  std::string_view name() const override {
    return generation() == Generation::sm90 ? "gemm" : "gemm_sm80";
  }
  Result<KernelExport> export_row(const KernelMetadata& row, const Problem& problem,
                                  const ExportOptions& options) const override {
    return export_call(row, problem, options);
  }

 private:
  Generation generation() const { return table_->generation; }
  std::span<const Runtime> runtimes() const { return runtimes_of(generation()); }

  bool splits_k(uint32_t design) const {
    return generation() == Generation::sm80 || table_->designs[design].scheduler == "stream_k";
  }

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
    // Slower there than Hopper's, and no ranker knows by how much.
    if (generation() == Generation::sm80 && !settings_.sm80_on_hopper &&
        query.target() != nullptr && query.target()->arch.starts_with("sm_9")) {
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
    if (generation() == Generation::sm80) add_refusals_sm80(row, *view, target, refusals);
    return refusals;
  }

  static void add_refusals_sm80(const KernelMetadata& row, const gemm::View& view,
                                const Target& target, Refusals& refusals) {
    constexpr int64_t kElementBytes = 2;
    const int64_t bytes = (row.design.integer("tile_m", 0) + row.design.integer("tile_n", 0)) *
                          row.design.integer("tile_k", 0) * row.design.integer("stages", 0) *
                          kElementBytes;
    const int64_t most = cuda::most_shared_bytes(facts_of(target).capability);
    if (bytes > most)
      refusals.add(
          Reason::workspace,
          fmt::format("its stages take {} bytes of shared memory, and a block of {} has {}", bytes,
                      target.to_string(), most));
    if (view.l > 1 && row.design.integer("split_k", 1) > 1)
      refusals.add(Reason::batch, "it splits k or takes batches, not both");
    if (view.l > 65535) refusals.add(Reason::batch, "it takes 65,535 batches at most");
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
            state.shelf_of(configuration.stock_name(), code_for(generation(), target));
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
                          target == nullptr ? "" : code_for(generation(), *target)) != nullptr;
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
      for (const std::string& code : codes_of(generation())) {
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
  if (settings.whole_space) {
    ASSAY_TRY(Table whole, whole_table(settings));
    tables.push_back(std::make_shared<const Table>(std::move(whole)));
  } else {
    tables.push_back(embedded(default_table()));
  }
  tables.push_back(embedded(sm80_table()));
  std::vector<std::shared_ptr<const Family>> families;
  for (auto& table : tables) {
    if (table->configurations == 0)
      return fail(ErrorCode::internal, "the table of CUTLASS's configurations cannot be read");
    families.push_back(std::make_shared<const GemmFamily>(settings, std::move(table)));
  }
  return families;
}

}  // namespace assay::cutlass
