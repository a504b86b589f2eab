#include "assay/record/profiler_csv.h"

#include <algorithm>
#include <cmath>

#include "assay/base/text.h"
#include "assay/record/csv.h"
#include "assay/record/name_sizes.h"
#include "assay/record/profiler_cell.h"
#include "assay/record/result_numbers.h"
#include "assay/tensor/dtype.h"

namespace assay {
namespace {

constexpr double kGibi = 1073741824.0;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

class Columns {
 public:
  static Result<Columns> create(const CsvRow& header, std::string_view origin) {
    Columns columns;
    columns.origin_ = origin;
    columns.line_ = header.front().line;
    for (const CsvCell& cell : header) {
      std::string name = lower(trim(cell.text));
      const auto earlier = std::find(columns.names_.begin(), columns.names_.end(), name);
      if (earlier != columns.names_.end() && !name.empty()) {
        return fail(ErrorCode::invalid_input,
                    "{}:{}:{}: the column '{}' is there twice, first as number {}; remove one",
                    origin, cell.line, cell.column, sanitize(name, 80),
                    earlier - columns.names_.begin() + 1);
      }
      columns.names_.push_back(std::move(name));
    }
    return columns;
  }
  std::size_t size() const { return names_.size(); }

  // The column of that name, or the only one that contains `part`.
  std::optional<std::size_t> find(std::string_view name, std::string_view part = {}) const {
    const auto whole = std::find(names_.begin(), names_.end(), name);
    if (whole != names_.end()) return whole - names_.begin();
    if (part.empty()) return std::nullopt;
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i].find(part) == std::string::npos) continue;
      if (found) return std::nullopt;
      found = i;
    }
    return found;
  }

  Result<std::size_t> need(std::string_view name) const {
    if (const auto found = find(name)) return *found;
    return fail(ErrorCode::invalid_input,
                "{}:{}:1: no column '{}'; a cutlass_profiler report has Operation, m, n, k and "
                "Runtime{}",
                origin_, line_, name, did_you_mean(name, names_));
  }

 private:
  std::string origin_;
  int line_ = 1;
  std::vector<std::string> names_;
};

bool agree(double runtime_ms, double gflops, double work) {
  return rates_agree(gflops, work / (runtime_ms * 1e-3) * 1e-9, runtime_ms);
}

class RowReader {
 public:
  static Result<RowReader> create(const CsvRow& header, std::string_view origin) {
    ASSAY_TRY(Columns found, Columns::create(header, origin));
    RowReader reader(std::move(found), origin);
    const Columns& columns = reader.columns_;
    ASSAY_TRY(reader.operation_, columns.need("operation"));
    ASSAY_TRY(reader.m_, columns.need("m"));
    ASSAY_TRY(reader.n_, columns.need("n"));
    ASSAY_TRY(reader.k_, columns.need("k"));
    reader.runtime_ = columns.find("runtime", "runtime");
    reader.gflops_ = columns.find("gflops", "gflop");
    if (!reader.runtime_ && !reader.gflops_) ASSAY_TRY(columns.need("runtime").map([](auto) {}));
    reader.flops_ = columns.find("flops");
    reader.gbps_ = columns.find("gb/s", "gb/s");
    reader.batch_ = columns.find("batch_count", "batch");
    reader.kind_ = columns.find("operationkind");
    reader.provider_ = columns.find("provider");
    reader.name_ = columns.find("name");
    reader.disposition_ = columns.find("disposition", "disposition");
    reader.status_ = columns.find("status");
    reader.accumulate_ = columns.find("accum", "accum");
    reader.a_ = columns.find("a");
    reader.b_ = columns.find("b");
    reader.c_ = columns.find("c");
    reader.d_ = columns.find("d");
    reader.alpha_ = columns.find("alpha");
    reader.beta_ = columns.find("beta");
    reader.gemm_kind_ = columns.find("gemm_kind");
    reader.runtime_a_ = columns.find("runtime_input_datatype_a");
    reader.runtime_b_ = columns.find("runtime_input_datatype_b");
    return reader;
  }

  Result<ProfilerRow> read(const CsvRow& line) const {
    if (line.size() != columns_.size()) {
      return fail(ErrorCode::invalid_input, "{}:{}:{}: {} cells, the header has {}", origin_,
                  line.front().line, line.back().column, line.size(), columns_.size());
    }
    ProfilerRow row;
    row.line = line.front().line;
    row.operation = text(line, operation_);
    if (row.operation.empty()) {
      return cell(line, operation_, "Operation").says("is empty; it names the kernel");
    }
    // Of another operation m, n and k say something else.
    if (const std::string kind = lower(text(line, kind_)); !kind.empty() && kind != "gemm")
      return cell(line, *kind_, "OperationKind")
          .says(
              fmt::format("'{}' is no gemm, and rows of others have no m, n and k; leave them out",
                          sanitize(kind, 40)));
    ASSAY_TRY(row.provider, name(line, provider_, "Provider", "a provider's name"));
    ASSAY_TRY(row.name, name(line, name_, "name", "a problem's name"));
    ASSAY_TRY(row.m, size_in(cell(line, m_, "m")));
    ASSAY_TRY(row.n, size_in(cell(line, n_, "n")));
    ASSAY_TRY(row.k, size_in(cell(line, k_, "k")));
    if (batch_ && !text(line, batch_).empty()) {
      ASSAY_TRY(row.batch, size_in(cell(line, *batch_, "batch_count")));
    }
    row.disposition = lower(text(line, disposition_));
    row.status = lower(text(line, status_));
    row.accumulate = text(line, accumulate_);
    row.a = text(line, a_);
    row.b = text(line, b_);
    row.c = text(line, c_);
    row.d = text(line, d_);
    row.runtime_a = runtime_type(line, runtime_a_);
    row.runtime_b = runtime_type(line, runtime_b_);
    ASSAY_TRY(read_problem(line, row));
    ASSAY_TRY(read_rates(line, row));
    for (const CsvCell& one : line) row.cells.emplace_back(trim(one.text));
    return row;
  }

 private:
  RowReader(Columns columns, std::string_view origin)
      : columns_(std::move(columns)), origin_(origin) {}

  static std::string text(const CsvRow& line, std::optional<std::size_t> column) {
    return column ? std::string(trim(line[*column].text)) : std::string();
  }
  ProfilerCell cell(const CsvRow& line, std::size_t column, std::string_view name) const {
    return {trim(line[column].text), name, origin_, line[column]};
  }
  Result<std::string> name(const CsvRow& line, std::optional<std::size_t> column,
                           std::string_view title, std::string_view what) const {
    std::string word = text(line, column);
    if (word.empty() || matches_name_rule(word)) return word;
    return cell(line, *column, title)
        .wrong(fmt::format("{}; names are made of A-Z a-z 0-9 _ . - alone, at most 200 of them",
                           what));
  }
  Result<std::optional<double>> number(const CsvRow& line, std::optional<std::size_t> column,
                                       std::string_view name) const {
    if (!column) return std::optional<double>();
    return number_in(cell(line, *column, name));
  }

  // A type that is chosen when a kernel runs; tools write "invalid" or "void" for none.
  static std::string runtime_type(const CsvRow& line, std::optional<std::size_t> column) {
    std::string type = lower(text(line, column));
    return type == "invalid" || type == "void" || type == "unknown" ? std::string() : type;
  }

  // What else tells problems apart: factors of the output, kinds of operands, sizes in the name.
  Status read_problem(const CsvRow& line, ProfilerRow& row) const {
    if (alpha_) {
      ASSAY_TRY(row.alpha, scalar_in(cell(line, *alpha_, "alpha")));
    }
    if (beta_) {
      ASSAY_TRY(row.beta, scalar_in(cell(line, *beta_, "beta")));
    }
    const std::string kind = lower(text(line, gemm_kind_));
    row.planar_complex = kind.starts_with("planar_complex");
    for (const std::string_view other : {"sparse", "grouped"})
      if (kind.find(other) != std::string::npos)
        return cell(line, *gemm_kind_, "gemm_kind")
            .says(fmt::format("rows of {} kernels are other problems than m, n and k tell; leave "
                              "them out",
                              sanitize(kind, 40)));
    const auto told = sizes_in_name(row.name);
    if (!told || (told->m == row.m && told->n == row.n && told->k == row.k)) return {};
    return cell(line, *name_, "name")
        .says(fmt::format("'{}' and m {}, n {}, k {} contradict each other", row.name, row.m, row.n,
                          row.k));
  }

  // A number that was written as none, by a row that says that it ran, is no number left out; and
  // an infinity is none in any row that may have run.
  Status check_told(const CsvRow& line, std::optional<std::size_t> column, std::string_view name,
                    bool has_number, bool says_so) const {
    const std::string written = lower(text(line, column));
    if (has_number || written.empty()) return {};
    if (!says_so && written.find("inf") == std::string::npos) return {};
    return cell(line, *column, name)
        .wrong(says_so ? "a positive number, and its row says that it ran" : "a positive number");
  }

  Status read_rates(const CsvRow& line, ProfilerRow& row) const {
    ASSAY_TRY(const auto runtime, number(line, runtime_, "Runtime"));
    ASSAY_TRY(const auto gflops, number(line, gflops_, "GFLOPs"));
    ASSAY_TRY(const auto flops, number(line, flops_, "Flops"));
    ASSAY_TRY(const auto gibps, number(line, gbps_, "GB/s"));
    const double work = flops.value_or(row.work());
    row.runtime_ms = runtime ? *runtime : gflops ? work / (*gflops * 1e9) * 1e3 : 0;
    row.gflops = gflops ? *gflops : runtime ? work / (*runtime * 1e-3) * 1e-9 : 0;
    if (gibps) row.gbps = *gibps * kGibi * 1e-9;
    if (row.ran()) {
      const bool says_so = !row.disposition.empty() || !row.status.empty();
      ASSAY_TRY(check_told(line, runtime_, "Runtime", runtime.has_value(), says_so));
      ASSAY_TRY(check_told(line, gflops_, "GFLOPs", gflops.has_value(), says_so));
    }
    if (!row.usable()) return {};
    const ProfilerCell time =
        runtime ? cell(line, *runtime_, "Runtime") : cell(line, *gflops_, "GFLOPs");
    if (gflops && !agree(row.runtime_ms, row.gflops, work) &&
        !agree(row.runtime_ms, row.gflops, row.work())) {
      return time.says(
          fmt::format("{:g} ms and {:g} GFLOPs contradict each other: m, n and k give "
                      "{:.4g}; Runtime is in milliseconds",
                      row.runtime_ms, row.gflops, row.work() / (row.runtime_ms * 1e-3) * 1e-9));
    }
    const double rate = row.work() / (row.runtime_ms * 1e-3) * 1e-9;
    const auto plausible = [](double value) {
      return value >= kSmallestNumber && value <= kLargestNumber;
    };
    if (plausible(row.runtime_ms) && plausible(rate)) return {};
    return time.says(
        fmt::format("{:g} ms for these sizes is {:.3g} GFLOP/s; a size or a unit is "
                    "mistaken",
                    row.runtime_ms, rate));
  }

  Columns columns_;
  std::string_view origin_;
  std::size_t operation_ = 0, m_ = 0, n_ = 0, k_ = 0;
  std::optional<std::size_t> kind_, runtime_, gflops_, flops_, gbps_, batch_, provider_, name_,
      disposition_, status_, accumulate_, a_, b_, c_, d_, alpha_, beta_, gemm_kind_, runtime_a_,
      runtime_b_;
};

bool same_text(const CsvRow& one, const CsvRow& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const CsvCell& a, const CsvCell& b) { return a.text == b.text; });
}

}  // namespace

bool ProfilerRow::ran() const {
  const bool fine = status.empty() || status == "success";
  return fine && (disposition.empty() || disposition == "passed" || disposition == "not_verified");
}

bool ProfilerRow::usable() const { return ran() && runtime_ms > 0 && gflops > 0; }

bool ProfilerRow::is_complex() const {
  return planar_complex || is_complex_type(profiler_operand(a).first) ||
         is_complex_type(profiler_operand(b).first);
}

double ProfilerRow::work() const {
  return (is_complex() ? 8.0 : 2.0) * static_cast<double>(m) * static_cast<double>(n) *
         static_cast<double>(k) * static_cast<double>(batch);
}

Result<ProfilerReport> read_profiler_csv(std::string_view text, std::string_view origin) {
  ASSAY_TRY(std::vector<CsvRow> lines, read_csv(text, origin));
  // As we write them, in front of what a spreadsheet would take for a formula.
  for (CsvRow& line : lines)
    for (CsvCell& cell : line)
      if (cell.text.starts_with('\'')) cell.text = std::string(without_csv_guard(cell.text));
  if (lines.empty()) {
    return fail(ErrorCode::invalid_input,
                "{}:1:1: is empty; a cutlass_profiler report starts with a header", origin);
  }
  ASSAY_TRY(const RowReader reader, RowReader::create(lines.front(), origin));
  ProfilerReport report;
  for (const CsvCell& cell : lines.front()) report.columns.emplace_back(trim(cell.text));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    // Appending runs (--append) may repeat the header.
    if (same_text(lines[i], lines.front())) continue;
    ASSAY_TRY(ProfilerRow row, reader.read(lines[i]));
    report.rows.push_back(std::move(row));
  }
  return report;
}

std::pair<std::string, char> profiler_operand(std::string_view cell) {
  const std::size_t colon = std::min(cell.find(':'), cell.size());
  const std::string dtype = lower(cell.substr(0, colon));
  const std::string order = lower(cell.substr(std::min(colon + 1, cell.size())));
  const char letter = order.starts_with("row") || order == "t"   ? 't'
                      : order.starts_with("col") || order == "n" ? 'n'
                                                                 : '\0';
  const std::optional<DType> known = find_dtype(dtype);
  return {known ? std::string(to_string(*known)) : dtype, letter};
}

}  // namespace assay
