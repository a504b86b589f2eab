// The rows of a cutlass_profiler report as one provider's results.

#include <algorithm>
#include <map>
#include <set>

#include "assay/base/text.h"
#include "assay/record/profiler_csv.h"

namespace assay {
namespace {

constexpr std::string_view kUsualProvider = "cutlass";

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string provider_of(const ProfilerRow& row) {
  return row.provider.empty() ? std::string(kUsualProvider) : lower(row.provider);
}

bool same_sizes(const ProfilerRow& one, const ProfilerRow& other) {
  return one.m == other.m && one.n == other.n && one.k == other.k && one.batch == other.batch;
}

std::string name_of(const ProfilerRow& row, std::span<const NamedSizes> names) {
  for (const NamedSizes& sizes : names) {
    if (sizes.m == row.m && sizes.n == row.n && sizes.k == row.k && sizes.batch == row.batch)
      return sizes.name;
  }
  if (!row.name.empty()) return row.name;
  return fmt::format("gemm_m{}_n{}_k{}{}", row.m, row.n, row.k,
                     row.batch == 1 ? "" : fmt::format("_l{}", row.batch));
}

struct Types {
  std::map<std::string, std::string> dtypes;
  std::string layout;
};

Types types_of(const ProfilerRow& row) {
  const auto [a, a_order] = profiler_operand(row.a);
  const auto [b, b_order] = profiler_operand(row.b);
  const auto [d, d_order] = profiler_operand(row.d.empty() ? row.c : row.d);
  Types types;
  const auto type_of = [&](const std::string& declared, const std::string& chosen) {
    const std::string type = chosen.empty() ? declared : profiler_operand(chosen).first;
    return row.planar_complex ? "c" + type : type;
  };
  if (!a.empty()) types.dtypes["a"] = type_of(a, row.runtime_a);
  if (!b.empty()) types.dtypes["b"] = type_of(b, row.runtime_b);
  if (!d.empty() && d != "void") types.dtypes["out"] = type_of(d, "");
  if (!row.accumulate.empty()) types.dtypes["accumulate"] = profiler_operand(row.accumulate).first;
  if (a_order != 0 && b_order != 0) {
    types.layout = {a_order, b_order};
    if (d_order == 'n') types.layout += 'n';
  }
  return types;
}

// What tells problems apart. Sums of another type are another problem: f16 loses what f32 keeps.
std::string problem_of(const ProfilerRow& row, const std::string& name) {
  const Types types = types_of(row);
  std::string key = fmt::format("{}|{}|{:g}|{:g}", name, types.layout, row.alpha.value_or(1),
                                row.beta.value_or(0));
  for (const auto& [operand, dtype] : types.dtypes) key += '|' + operand + '=' + dtype;
  return key;
}

ProviderResult result_of(const ProfilerRow& row, const std::vector<std::string>& columns,
                         std::string name) {
  ProviderResult out;
  out.name = std::move(name);
  out.kernel = row.operation;
  out.runtime_ms = row.runtime_ms;
  // The tool also counts the output's scaling as work; results of all providers count 2 m n k.
  out.gflops = row.work() / (row.runtime_ms * 1e-3) * 1e-9;
  out.tflops = *out.gflops * 1e-3;
  out.gbps = row.gbps;
  out.m = row.m;
  out.n = row.n;
  out.k = row.k;
  if (row.batch != 1) out.batch = row.batch;
  if (row.alpha.value_or(1) != 1) out.alpha = row.alpha;  // A plain product says nothing of them.
  if (row.beta.value_or(0) != 0) out.beta = row.beta;
  Types types = types_of(row);
  out.dtypes = std::move(types.dtypes);
  out.layout = std::move(types.layout);
  Json& cells = out.metadata[kProfilerCells] = Json::object();
  for (std::size_t i = 0; i < columns.size() && i < row.cells.size(); ++i) {
    if (!columns[i].empty() && !row.cells[i].empty()) cells[columns[i]] = row.cells[i];
  }
  return out;
}

// What was verified comes before what was not, and of equals the faster one.
bool is_better(const ProfilerRow& row, const ProfilerRow& than) {
  const bool row_unverified = row.disposition == "not_verified";
  const bool than_unverified = than.disposition == "not_verified";
  if (row_unverified != than_unverified) return than_unverified;
  return row.runtime_ms < than.runtime_ms;
}

// out^T = b^T a^T is the same work on the same bytes: a row that has m and n the other way round,
// and a column-major output, may be what a name means.
std::string swapped_row(const ProfilerReport& report, const NamedSizes& sizes) {
  for (const ProfilerRow& row : report.rows) {
    if (row.m != sizes.n || row.n != sizes.m || row.k != sizes.k || row.batch != sizes.batch ||
        row.m == row.n)
      continue;
    return fmt::format(
        "line {} has m {}, n {}: the operands are swapped, as for a column-major output; write "
        "m {}, n {}, and a, b and their layouts likewise",
        row.line, row.m, row.n, sizes.m, sizes.n);
  }
  return {};
}

std::set<std::string> providers_of(const ProfilerReport& report) {
  std::set<std::string> found;
  for (const ProfilerRow& row : report.rows) found.insert(provider_of(row));
  return found;
}

// The provider whose rows are wanted; empty: all.
Result<std::string> choose_provider(const ProfilerReport& report, const std::string& wanted,
                                    const std::string& origin) {
  const std::set<std::string> found = providers_of(report);
  if (found.size() <= 1) return std::string();
  if (found.contains(lower(wanted))) return lower(wanted);
  const std::vector<std::string> list(found.begin(), found.end());
  return fail(ErrorCode::invalid_input, "{}: {} of {}; choose one: assay import --provider NAME{}",
              origin, wanted.empty() ? "it has rows" : fmt::format("no row is of {}, but", wanted),
              join(list, ", "), did_you_mean(wanted, list));
}

}  // namespace

Result<ProviderResults> best_rows(const ProfilerReport& report, std::span<const NamedSizes> names,
                                  const std::string& provider, const std::string& origin) {
  ASSAY_TRY(const std::string chosen, choose_provider(report, provider, origin));
  struct Of {
    std::string name;
    const ProfilerRow* best = nullptr;  // Null: no row of it is usable.
  };
  std::map<std::string, std::size_t> places;
  std::vector<Of> problems;
  std::map<std::string, const ProfilerRow*> first_of_name;
  std::string found(kUsualProvider);
  for (const ProfilerRow& row : report.rows) {
    if (!chosen.empty() && provider_of(row) != chosen) continue;
    found = provider_of(row);
    const std::string name = name_of(row, names);
    const ProfilerRow& first = *first_of_name.emplace(name, &row).first->second;
    if (!same_sizes(first, row))
      return fail(ErrorCode::invalid_input, "{}:{}: name: '{}' has other sizes in line {}", origin,
                  row.line, name, first.line);
    const auto [place, is_new] = places.emplace(problem_of(row, name), problems.size());
    if (is_new) problems.push_back({name});
    const ProfilerRow*& best = problems[place->second].best;
    if (row.usable() && (best == nullptr || is_better(row, *best))) best = &row;
  }
  ProviderResults out;
  out.provider = provider.empty() ? found : provider;
  out.origin = origin;
  std::set<std::string> named;
  for (const Of& problem : problems) {
    if (problem.best == nullptr) continue;
    out.results.push_back(result_of(*problem.best, report.columns, problem.name));
    out.results.back().csv = origin;
    out.results.back().line = problem.best->line;
    named.insert(problem.name);
  }
  const auto failed = [&](const std::string& name) {
    if (named.insert(name).second) out.failed.push_back(name);
  };
  for (const Of& problem : problems) failed(problem.name);
  for (const NamedSizes& sizes : names) {
    failed(sizes.name);
    if (out.failed.empty() || out.failed.back() != sizes.name) continue;
    if (std::string why = swapped_row(report, sizes); !why.empty())
      out.reasons[sizes.name] = std::move(why);
  }
  return out;
}

Result<std::vector<ProviderResults>> best_rows_of_each(const ProfilerReport& report,
                                                       const std::string& origin) {
  std::vector<ProviderResults> list;
  for (const std::string& provider : providers_of(report)) {
    ASSAY_TRY(list.emplace_back(), best_rows(report, {}, provider, origin));
  }
  return list;
}

}  // namespace assay
