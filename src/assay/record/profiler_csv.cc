#include "assay/record/profiler_csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "assay/base/text.h"
#include "assay/tensor/dtype.h"

namespace assay {
namespace {

constexpr double kGibi = 1073741824.0;
constexpr std::size_t kMaxRows = 4'000'000;

struct Line {
  std::vector<std::string> cells;
  int number = 0;
};

// RFC 4180: quoted cells may hold commas, quotes (doubled) and line ends.
Result<std::vector<Line>> split_csv(std::string_view text, std::string_view origin) {
  std::vector<Line> lines;
  Line line{{}, 1};
  std::string cell;
  int number = 1;
  bool quoted = false, any = false;
  const auto end_line = [&] {
    line.cells.push_back(std::move(cell));
    cell.clear();
    const bool blank = line.cells.size() == 1 && trim(line.cells[0]).empty();
    if (any && !blank) lines.push_back(std::move(line));
    line = {{}, number};
    any = false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\0')
      return fail(ErrorCode::invalid_input, "{}:{}: a zero byte; not text", origin, number);
    if (quoted) {
      if (c == '\n') ++number;
      if (c != '"') {
        cell += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += '"';
        ++i;
      } else {
        quoted = false;
      }
    } else if (c == '"' && trim(cell).empty()) {
      cell.clear();
      quoted = any = true;
    } else if (c == ',') {
      line.cells.push_back(std::move(cell));
      cell.clear();
      any = true;
    } else if (c == '\n') {
      ++number;
      end_line();
      if (lines.size() > kMaxRows) {
        return fail(ErrorCode::invalid_input, "{}:{}: more than {} rows", origin, number, kMaxRows);
      }
    } else if (c != '\r') {
      cell += c;
      any = true;
    }
  }
  if (quoted) {
    return fail(ErrorCode::invalid_input, "{}:{}: a quoted cell has no closing quote", origin,
                line.number);
  }
  end_line();
  return lines;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

class Columns {
 public:
  Columns(const Line& header, std::string_view origin) : origin_(origin), line_(header.number) {
    for (const std::string& cell : header.cells) names_.push_back(lower(trim(cell)));
  }
  std::size_t size() const { return names_.size(); }

  // The column of that name, or the only one that contains one of the parts.
  std::optional<std::size_t> find(std::string_view name,
                                  std::initializer_list<std::string_view> parts = {}) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return i;
    }
    for (const std::string_view part : parts) {
      std::optional<std::size_t> found;
      int count = 0;
      for (std::size_t i = 0; i < names_.size(); ++i) {
        if (names_[i].find(part) == std::string::npos) continue;
        found = found.value_or(i);
        ++count;
      }
      if (count == 1) return found;
    }
    return std::nullopt;
  }

  Result<std::size_t> need(std::string_view name,
                           std::initializer_list<std::string_view> parts = {}) const {
    if (const auto found = find(name, parts)) return *found;
    return fail(ErrorCode::invalid_input,
                "{}:{}: no column '{}'; a cutlass_profiler report has Operation, m, n, k and "
                "Runtime{}",
                origin_, line_, name, did_you_mean(name, names_));
  }

 private:
  std::string origin_;
  int line_;
  std::vector<std::string> names_;
};

// One cell with its place, for errors.
struct Cell {
  std::string_view text;
  std::string_view column;
  std::string_view origin;
  int line;

  tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorCode::invalid_input, "{}:{}: {}: '{}' is not {}", origin, line, column,
                sanitize(text, 80), what);
  }
};

Result<std::int64_t> size_in(const Cell& cell) {
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(cell.text.data(), cell.text.data() + cell.text.size(), value);
  if (error != std::errc() || end != cell.text.data() + cell.text.size() || value < 1 ||
      value > (std::int64_t{1} << 40)) {
    return cell.wrong("a whole number from 1 to 2^40");
  }
  return value;
}

// Empty cells, 0 and "nan" mean that there is no number, as in rows that did not run.
Result<std::optional<double>> number_in(const Cell& cell) {
  if (cell.text.empty()) return std::optional<double>();
  double value = 0;
  const auto [end, error] =
      std::from_chars(cell.text.data(), cell.text.data() + cell.text.size(), value);
  if (error != std::errc() || end != cell.text.data() + cell.text.size()) {
    return cell.wrong("a number");
  }
  if (std::isnan(value) || value == 0) return std::optional<double>();
  if (!std::isfinite(value) || value < 0) return cell.wrong("a positive number");
  return std::optional<double>(value);
}

class RowReader {
 public:
  static Result<RowReader> create(const Line& header, std::string_view origin) {
    RowReader reader(Columns(header, origin), origin);
    const Columns& columns = reader.columns_;
    ASSAY_TRY(reader.operation_, columns.need("operation"));
    ASSAY_TRY(reader.m_, columns.need("m"));
    ASSAY_TRY(reader.n_, columns.need("n"));
    ASSAY_TRY(reader.k_, columns.need("k"));
    reader.runtime_ = columns.find("runtime", {"runtime"});
    reader.gflops_ = columns.find("gflops", {"gflop"});
    if (!reader.runtime_ && !reader.gflops_) {
      ASSAY_TRY(columns.need("runtime"));
    }
    reader.flops_ = columns.find("flops");
    reader.gbps_ = columns.find("gb/s", {"gb/s"});
    reader.batch_ = columns.find("batch_count", {"batch"});
    reader.disposition_ = columns.find("disposition", {"disposition"});
    reader.status_ = columns.find("status");
    reader.accumulate_ = columns.find("accum", {"accum"});
    reader.a_ = columns.find("a");
    reader.b_ = columns.find("b");
    reader.c_ = columns.find("c");
    reader.d_ = columns.find("d");
    return reader;
  }

  Result<ProfilerRow> read(const Line& line) const {
    if (line.cells.size() != columns_.size()) {
      return fail(ErrorCode::invalid_input, "{}:{}: {} cells, the header has {}", origin_,
                  line.number, line.cells.size(), columns_.size());
    }
    ProfilerRow row;
    row.line = line.number;
    row.operation = text(line, operation_);
    if (row.operation.empty()) {
      return fail(ErrorCode::invalid_input, "{}:{}: Operation: is empty; it names the kernel",
                  origin_, line.number);
    }
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
    ASSAY_TRY(read_rates(line, row));
    return row;
  }

 private:
  RowReader(Columns columns, std::string_view origin)
      : columns_(std::move(columns)), origin_(origin) {}

  static std::string text(const Line& line, std::optional<std::size_t> column) {
    return column ? std::string(trim(line.cells[*column])) : std::string();
  }
  Cell cell(const Line& line, std::size_t column, std::string_view name) const {
    return {trim(line.cells[column]), name, origin_, line.number};
  }
  Result<std::optional<double>> number(const Line& line, std::optional<std::size_t> column,
                                       std::string_view name) const {
    if (!column) return std::optional<double>();
    return number_in(cell(line, *column, name));
  }

  Status read_rates(const Line& line, ProfilerRow& row) const {
    ASSAY_TRY(const auto runtime, number(line, runtime_, "Runtime"));
    ASSAY_TRY(const auto gflops, number(line, gflops_, "GFLOPs"));
    ASSAY_TRY(const auto flops, number(line, flops_, "Flops"));
    ASSAY_TRY(const auto gibps, number(line, gbps_, "GB/s"));
    const double work =
        flops.value_or(2.0 * static_cast<double>(row.m) * static_cast<double>(row.n) *
                       static_cast<double>(row.k) * static_cast<double>(row.batch));
    row.runtime_ms = runtime ? *runtime : gflops ? work / (*gflops * 1e9) * 1e3 : 0;
    row.gflops = gflops ? *gflops : runtime ? work / (*runtime * 1e-3) * 1e-9 : 0;
    if (gibps) row.gbps = *gibps * kGibi * 1e-9;
    return {};
  }

  Columns columns_;
  std::string_view origin_;
  std::size_t operation_ = 0, m_ = 0, n_ = 0, k_ = 0;
  std::optional<std::size_t> runtime_, gflops_, flops_, gbps_, batch_, disposition_, status_,
      accumulate_, a_, b_, c_, d_;
};

// "f16:row" -> {"f16", 't'}; the letter is 0 where the cell names no layout.
std::pair<std::string, char> operand_of(const std::string& cell) {
  const std::size_t colon = cell.find(':');
  const std::string dtype = lower(cell.substr(0, colon));
  const std::string order = colon == std::string::npos ? "" : lower(cell.substr(colon + 1));
  const char letter = order.starts_with("row") || order == "t"   ? 't'
                      : order.starts_with("col") || order == "n" ? 'n'
                                                                 : '\0';
  const std::optional<DType> known = find_dtype(dtype);
  return {known ? std::string(to_string(*known)) : dtype, letter};
}

ProviderResult result_of(const ProfilerRow& row, const std::string& name) {
  ProviderResult out;
  out.name = name;
  out.kernel = row.operation;
  out.runtime_ms = row.runtime_ms;
  out.gflops = row.gflops;
  out.tflops = row.gflops * 1e-3;
  out.gbps = row.gbps;
  out.m = row.m;
  out.n = row.n;
  out.k = row.k;
  if (row.batch != 1) out.batch = row.batch;
  const auto [a, a_order] = operand_of(row.a);
  const auto [b, b_order] = operand_of(row.b);
  const auto [d, d_order] = operand_of(row.d.empty() ? row.c : row.d);
  if (!a.empty()) out.dtypes["a"] = a;
  if (!b.empty()) out.dtypes["b"] = b;
  if (!d.empty() && d != "void") out.dtypes["out"] = d;
  if (!row.accumulate.empty()) out.dtypes["accumulate"] = operand_of(row.accumulate).first;
  if (a_order != 0 && b_order != 0) {
    out.layout = {a_order, b_order};
    if (d_order == 'n') out.layout += 'n';
  }
  return out;
}

}  // namespace

bool ProfilerRow::usable() const {
  const bool ran = disposition.empty() || disposition == "passed" || disposition == "not_verified";
  const bool fine = status.empty() || status == "success";
  return ran && fine && runtime_ms > 0 && gflops > 0;
}

Result<std::vector<ProfilerRow>> read_profiler_csv(std::string_view text, std::string_view origin) {
  ASSAY_TRY(const std::vector<Line> lines, split_csv(text, origin));
  if (lines.empty()) {
    return fail(ErrorCode::invalid_input,
                "{}:1: is empty; a cutlass_profiler report starts with "
                "a header",
                origin);
  }
  ASSAY_TRY(const RowReader reader, RowReader::create(lines.front(), origin));
  std::vector<ProfilerRow> rows;
  rows.reserve(lines.size() - 1);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    // Appending runs (--append) may repeat the header.
    if (lines[i].cells == lines.front().cells) continue;
    ASSAY_TRY(ProfilerRow row, reader.read(lines[i]));
    rows.push_back(std::move(row));
  }
  return rows;
}

ProviderResults best_rows(std::span<const ProfilerRow> rows, std::span<const NamedSizes> names,
                          const std::string& provider, const std::string& origin) {
  const auto name_of = [&](const ProfilerRow& row) -> std::string {
    for (const NamedSizes& sizes : names) {
      if (sizes.m == row.m && sizes.n == row.n && sizes.k == row.k) return sizes.name;
    }
    return fmt::format("gemm_m{}_n{}_k{}", row.m, row.n, row.k);
  };
  std::map<std::string, const ProfilerRow*> best;
  std::vector<std::string> order;
  for (const ProfilerRow& row : rows) {
    if (!row.usable()) continue;
    const std::string problem = fmt::format("{}|{}|{}|{}|{}|{}|{}", row.m, row.n, row.k, row.batch,
                                            row.a, row.b, row.d.empty() ? row.c : row.d);
    const auto [found, is_new] = best.emplace(problem, &row);
    if (is_new) order.push_back(problem);
    if (row.runtime_ms < found->second->runtime_ms) found->second = &row;
  }
  ProviderResults out;
  out.provider = provider;
  out.origin = origin;
  std::set<std::string> named;
  for (const std::string& problem : order) {
    const ProfilerRow& row = *best[problem];
    out.results.push_back(result_of(row, name_of(row)));
    out.results.back().csv = origin;
    out.results.back().line = row.line;
    named.insert(out.results.back().name);
  }
  for (const NamedSizes& sizes : names) {
    if (named.insert(sizes.name).second) out.failed.push_back(sizes.name);
  }
  return out;
}

}  // namespace assay
