#include "assay/select/table_state.h"

#include <algorithm>
#include <map>

#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/op/operation.h"

namespace assay {
namespace {

Result<Problem> sample_problem(const Json& sample) {
  const auto name = sample.find("operation");
  if (name == sample.end() || !name->is_string())
    return fail(ErrorCode::invalid_input, "its sample problem names no operation");
  ASSAY_TRY(const Operation* const operation, find_operation(name->get<std::string>()));
  return operation->problem(sample);
}

// Whether code that was compiled seeing `tuned` may run what is seen as `here`: the same, but for
// operands that lie more aligned.
bool may_stand_for(Json tuned, Json here) {
  for (Json* side : {&tuned, &here})
    if (!side->is_object() || !side->contains("operands") || !side->at("operands").is_array())
      return false;
  Json &before = tuned["operands"], &now = here["operands"];
  if (before.size() != now.size()) return false;
  for (size_t i = 0; i < now.size(); ++i) {
    Json *was = &before[i], *is = &now[i];
    if (!was->is_object() || !is->is_object()) return false;
    const Json promised = was->value("alignment", Json()), given = is->value("alignment", Json());
    if (!promised.is_number_integer() || !given.is_number_integer() || given < promised)
      return false;
    was->erase("alignment");
    is->erase("alignment");
  }
  return canonical(tuned) == canonical(here);
}

}  // namespace

Result<std::shared_ptr<const TableState>> TableState::make(TableContents contents,
                                                           const Catalog& catalog,
                                                           const TableOptions& options) {
  if (contents.kernels.size() > kMostTableKernels)
    return fail(ErrorCode::invalid_input, "a table of {} kernels: there can be {}",
                contents.kernels.size(), kMostTableKernels);
  std::shared_ptr<TableState> state(new TableState());
  state->contents_ = std::move(contents);
  state->compile_ = options.compile;
  state->kernels_.resize(state->contents_.kernels.size());
  ASSAY_TRY(state->find_kernels(catalog));
  ASSAY_TRY(state->put_code(options.folder));
  state->look_for_staleness(options.device);
  state->index_problems();
  return state;
}

// One search for all of them. A row is the kernel that was tuned if it has its id: the design alone
// would also find one whose rules have changed since.
Status TableState::find_kernels(const Catalog& catalog) {
  std::map<std::pair<std::string_view, std::string_view>, std::vector<size_t>> wanted;
  std::vector<std::string> ids;
  for (size_t i = 0; i < contents_.kernels.size(); ++i) {
    const KernelMetadata& metadata = contents_.kernels[i].metadata;
    wanted[{metadata.provider(), metadata.family()}].push_back(i);
    ids.push_back(metadata.id());
  }
  const auto rows_of = [&](const KernelMetadata& row) -> const std::vector<size_t>* {
    const auto found = wanted.find({row.provider(), row.family()});
    return found == wanted.end() ? nullptr : &found->second;
  };
  const auto has_design_of = [&](const KernelMetadata& row, size_t i) {
    return contents_.kernels[i].metadata.design == row.design;
  };
  ASSAY_TRY(const Found found, catalog.get_kernels({.where = [&](const KernelMetadata& row) {
    const auto* rows = rows_of(row);
    return rows != nullptr &&
           std::any_of(rows->begin(), rows->end(), [&](size_t i) { return has_design_of(row, i); });
  }}));
  std::vector<bool> other_rules(kernels_.size(), false);
  for (const Kernel& kernel : found.kernels) {
    for (const size_t i : *rows_of(kernel.metadata())) {
      if (!has_design_of(kernel.metadata(), i)) continue;
      if (kernel.metadata().has_id(ids[i]))
        kernels_[i].kernel = kernel;
      else
        other_rules[i] = true;
    }
  }
  bool any = kernels_.empty();
  std::string reasons;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    any |= kernels_[i].kernel.has_value();
    if (kernels_[i].kernel) continue;
    const KernelMetadata& metadata = contents_.kernels[i].metadata;
    const auto family = catalog.from_metadata(metadata);
    kernels_[i].missing = !family          ? family.error().message
                          : other_rules[i] ? "the kernel of that design takes other problems now"
                                           : "its family has no such design any more";
    if (reasons.size() < 2000)
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ",
                             sanitize(contents_.kernels[i].label(), 200),
                             sanitize(kernels_[i].missing, 400));
  }
  if (any) return {};
  return fail(ErrorCode::unsupported, "the catalog has no kernel of this table: {}", reasons);
}

Status TableState::put_code(const std::string& folder) {
  for (size_t i = 0; i < kernels_.size(); ++i) {
    auto& blob = contents_.kernels[i].blob;
    if (!blob) continue;
    if (kernels_[i].kernel) {
      if (!folder_) {
        ASSAY_TRY(folder_, TemporaryDirectory::create(folder, "assay-table-"));
      }
      kernels_[i].file = folder_->file(fmt::format("{}-{}", i, blob->file_name));
      ASSAY_TRY(write_file_atomic(kernels_[i].file, blob->bytes));
    }
    blob->bytes = {};
  }
  return {};
}

void TableState::look_for_staleness(const Device* device) {
  std::unique_ptr<Device> own;
  if (device == nullptr && contents_.origin.device_kind == "cpu") {
    if (auto opened = cpu::open({})) own = std::move(*opened);
    device = own.get();
  }
  if (device != nullptr) staleness_ = differences(contents_.origin, *device);
  std::vector<std::string> missing, changed;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const TableKernel& tuned = contents_.kernels[i];
    const std::string label = sanitize(tuned.label(), 200);
    TableKernelState& here = kernels_[i];
    if (!here.kernel) {
      missing.push_back(fmt::format("{} is not here: {}", label, sanitize(here.missing, 400)));
      continue;
    }
    // Code of the table is what was tuned, whatever is here.
    if (tuned.blob || device == nullptr) continue;
    const auto problem = sample_problem(tuned.sample);
    const auto now = problem ? here.kernel->compile(*problem, device->target(), compile_)
                             : fail(problem.error());
    here.stale = now ? code_difference(tuned, *now) : now.error().message;
    if (here.stale.empty()) continue;
    here.stale = sanitize(here.stale, 400);
    // Kernels of one library differ alike.
    std::string sentence =
        fmt::format("{}: {}", sanitize(tuned.metadata.provider(), 60), here.stale);
    if (std::find(changed.begin(), changed.end(), sentence) == changed.end())
      changed.push_back(std::move(sentence));
  }
  staleness_.insert(staleness_.end(), changed.begin(), changed.end());
  staleness_.insert(staleness_.end(), missing.begin(), missing.end());
}

void TableState::index_problems() {
  by_signature_ = DigestMap(contents_.problems.size());
  by_measures_ = DigestMap(contents_.problems.size());
  kinds_.resize(contents_.kinds.size());
  std::vector<std::vector<int64_t>> sizes(kinds_.size());
  for (uint32_t p = 0; p < contents_.problems.size(); ++p) {
    const TableProblem& problem = contents_.problems[p];
    const TableKind& kind = contents_.kinds[problem.kind];
    const auto& choices = problem.choices;
    const auto best = std::find_if(choices.begin(), choices.end(), [&](const TableChoice& choice) {
      return kernels_[choice.kernel].kernel.has_value();
    });
    if (best == choices.end()) continue;  // As if it had not been tuned.
    const DigestMap::Answer answer{.tuned_us = static_cast<float>(best->median_us),
                                   .problem = p,
                                   .kernel = static_cast<uint16_t>(best->kernel),
                                   .rank = static_cast<uint16_t>(best - choices.begin())};
    by_signature_.add(problem.signature, answer);
    by_measures_.add(whole_digest(kind.text, problem.measures), answer);
    kinds_[problem.kind].problems.push_back(p);
    add_losses(problem, kinds_[problem.kind]);
    sizes[problem.kind].insert(
        sizes[problem.kind].end(), problem.measures.begin(),
        problem.measures.begin() + static_cast<std::ptrdiff_t>(kind.dimensions.size()));
  }
  for (size_t k = 0; k < kinds_.size(); ++k) {
    kinds_[k].digest = kind_digest(contents_.kinds[k].text);
    kinds_[k].index = SizeIndex(contents_.kinds[k].weights, sizes[k]);
  }
}

void TableState::add_losses(const TableProblem& problem, Kind& kind) const {
  const std::vector<TableChoice>& choices = problem.choices;
  const size_t first = kind.losses.size();
  for (uint32_t rank = 0; rank < choices.size(); ++rank) {
    const uint32_t kernel = choices[rank].kernel;
    const bool known =
        std::any_of(kind.losses.begin() + static_cast<std::ptrdiff_t>(first), kind.losses.end(),
                    [&](const KernelLoss& loss) { return loss.kernel == kernel; });
    if (known || !kernels_[kernel].kernel) continue;
    kind.losses.push_back(
        {kernel, rank, loss_of(choices[rank].median_us, choices.front().median_us, rank)});
  }
  kind.ends.push_back(kind.losses.size());
}

const TableState::Kind* TableState::find_kind(uint64_t digest) const {
  for (const Kind& kind : kinds_)
    if (kind.digest == digest && !kind.problems.empty()) return &kind;
  return nullptr;
}

Result<Artifact> TableState::artifact(uint32_t index, const Problem& problem,
                                      const Target& target) const {
  const TableKernel& tuned = contents_.kernels[index];
  const Kernel& kernel = *kernels_[index].kernel;
  if (!tuned.blob || kernels_[index].file.empty()) return kernel.compile(problem, target, compile_);
  std::string why;
  const auto compiled_for = Target::parse(tuned.blob->target);
  if (!compiled_for || !target.covers(*compiled_for))
    why = fmt::format("the table's code is for {}", sanitize(tuned.blob->target, 400));
  else if (!may_stand_for(tuned.blob->visible,
                          MaskedProblem(problem, kernel.metadata().specialised_on()).key()))
    why = "the table's code was compiled for other sizes or types, or operands more aligned";
  else
    return Artifact{tuned.artifact_hash, kernels_[index].file, tuned.artifact_facts};
  auto compiled = kernel.compile(problem, target, compile_);
  if (!compiled) return fail(with_context(std::move(compiled.error()), why));
  return compiled;
}

}  // namespace assay
