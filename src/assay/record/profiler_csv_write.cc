// Results as cutlass_profiler would report them.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <set>

#include "assay/base/text.h"
#include "assay/record/csv.h"
#include "assay/record/profiler_csv.h"

namespace assay {
namespace {

constexpr double kGibibyte = 1073741824.0;
constexpr double kSame = 1e-4;  // Reports round to six digits or fewer.

constexpr std::string_view kColumns[] = {"Problem",
                                         "Provider",
                                         "OperationKind",
                                         "Operation",
                                         "Disposition",
                                         "Status",
                                         "gemm_kind",
                                         "m",
                                         "n",
                                         "k",
                                         "A",
                                         "B",
                                         "C",
                                         "D",
                                         "alpha",
                                         "beta",
                                         "split_k_mode",
                                         "split_k_slices",
                                         "batch_count",
                                         "raster_order",
                                         "runtime_input_datatype_a",
                                         "runtime_input_datatype_b",
                                         "use_pdl",
                                         "enable_sm90_mixed_dtype_shuffle_test",
                                         "swizzle_size",
                                         "op_class",
                                         "accum",
                                         "cta_m",
                                         "cta_n",
                                         "cta_k",
                                         "cluster_m",
                                         "cluster_n",
                                         "cluster_k",
                                         "cluster_m_fallback",
                                         "cluster_n_fallback",
                                         "cluster_k_fallback",
                                         "stages",
                                         "warps_m",
                                         "warps_n",
                                         "warps_k",
                                         "inst_m",
                                         "inst_n",
                                         "inst_k",
                                         "min_cc",
                                         "max_cc",
                                         "Bytes",
                                         "Flops",
                                         "Flops/Byte",
                                         "Runtime",
                                         "GB/s",
                                         "GFLOPs"};

// Readers take names that differ in case or in blanks around them for one.
struct ByName {
  static std::string name_of(std::string_view column) {
    std::string name(trim(column));
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
  }
  bool operator()(std::string_view first, std::string_view second) const {
    return name_of(first) < name_of(second);
  }
};

// Of the tool's own columns, or the one that assay writes ahead of them.
bool is_known(std::string_view column) {
  static const std::set<std::string, ByName> known = [] {
    std::set<std::string, ByName> all(std::begin(kColumns), std::end(kColumns));
    all.insert("name");
    return all;
  }();
  return known.contains(std::string(column));
}

// The kept cells of a result; an empty object where it has none.
const Json& kept_cells(const ProviderResult& result) {
  static const Json none = Json::object();
  const auto found = result.metadata.find(kProfilerCells);
  return found != result.metadata.end() && found->is_object() ? *found : none;
}

class RowWriter {
 public:
  RowWriter(const ProviderResult& result, const std::string& provider, std::size_t number)
      : result_(result), kept_(kept_cells(result)), number_(number), provider_(provider) {}

  Result<std::string> cell(std::string_view column) const {
    if (column == "name") return result_.name;
    if (column == "Problem") return std::to_string(number_);
    if (column == "Provider") return provider_ == "cutlass" ? "CUTLASS" : provider_;
    if (column == "Operation") return result_.kernel;
    if (column == "m") return size(result_.m, column);
    if (column == "n") return size(result_.n, column);
    if (column == "k") return size(result_.k, column);
    if (column == "batch_count") return std::to_string(result_.batch.value_or(1));
    if (column == "A") return operand(column, "a", 0);
    if (column == "B") return operand(column, "b", 1);
    if (column == "D") return operand(column, "out", 2);
    if (column == "accum") return accumulate();
    if (column == "alpha" && result_.alpha) return scalar(column, *result_.alpha);
    if (column == "beta" && result_.beta) return scalar(column, *result_.beta);
    if (column == "Runtime") return number(column, result_.runtime_ms);
    if (column == "GB/s")
      return result_.gbps ? number(column, *result_.gbps * 1e9 / kGibibyte) : "";
    if (column == "GFLOPs") return number(column, flops() / (result_.runtime_ms * 1e-3) * 1e-9);
    if (column == "Flops") return number(column, flops());
    if (column == "Bytes") return result_.gbps ? number(column, bytes()) : "";
    if (column == "Flops/Byte")
      return result_.gbps ? number(column, std::floor(flops() / std::max(1.0, bytes()))) : "";
    const std::string found = kept(column);
    return found.empty() ? usual(column) : found;
  }

 private:
  std::string kept(std::string_view column) const {
    const auto found = kept_.find(std::string(column));
    return found != kept_.end() && found->is_string() ? found->get<std::string>() : std::string();
  }

  // What a plain GEMM has there, where nothing was kept.
  std::string usual(std::string_view column) const {
    if (column == "OperationKind") return "gemm";
    // What assay timed was proven before; of other tools' numbers nobody knows.
    if (column == "Disposition") return result_.kernel_id.empty() ? "not_verified" : "passed";
    if (column == "Status") return "success";
    if (column == "gemm_kind") return "universal";
    if (column == "C") return "void:row";
    if (column == "alpha" || column == "split_k_slices") return "1";
    if (column == "beta") return "0";
    if (column == "split_k_mode") return "serial";
    return {};
  }

  Result<std::string> size(const std::optional<std::int64_t>& value,
                           std::string_view column) const {
    if (value) return std::to_string(*value);
    return fail(ErrorCode::invalid_input,
                "{} of {} has no {}, which a cutlass_profiler report needs; add m, n and k to it",
                result_.name, provider_, column);
  }

  std::string scalar(std::string_view column, double value) const {
    const std::string found = kept(column);
    return found.empty() || std::strtod(found.c_str(), nullptr) != value ? fmt::format("{}", value)
                                                                         : found;
  }

  // The kept text where it is the same number, so that what comes back is what went in.
  std::string number(std::string_view column, double value) const {
    const std::string found = kept(column);
    const double before = found.empty() ? 0 : std::strtod(found.c_str(), nullptr);
    if (std::abs(before - value) <= kSame * value) return found;
    return column == "Runtime" ? fmt::format("{}", value) : fmt::format("{:.12g}", value);
  }

  std::string operand(std::string_view column, const std::string& role, std::size_t letter) const {
    const auto dtype = result_.dtypes.find(role);
    const std::string found = kept(column);
    const auto [kept_dtype, kept_letter] = profiler_operand(found);
    const char wanted = letter < result_.layout.size() ? result_.layout[letter]
                        : letter == 2                  ? 't'
                                                       : '\0';
    const bool same_letter = kept_letter == 0 || wanted == 0 || kept_letter == wanted;
    if (dtype == result_.dtypes.end()) return found;
    if (!found.empty() && kept_dtype == dtype->second && same_letter) return found;
    if (wanted == 0) return dtype->second;
    return dtype->second + (wanted == 'n' ? ":column" : ":row");
  }

  std::string accumulate() const {
    const auto dtype = result_.dtypes.find("accumulate");
    if (dtype == result_.dtypes.end()) return kept("accum");
    const std::string found = kept("accum");
    return profiler_operand(found).first == dtype->second ? found : dtype->second;
  }

  // As the tool counts: the scaling of the output is work too.
  double flops() const {
    const double m = static_cast<double>(result_.m.value_or(0));
    const double n = static_cast<double>(result_.n.value_or(0));
    const double k = static_cast<double>(result_.k.value_or(0));
    const double each = result_.work() > 0 ? result_.work() / (m * n * k) / batch() : 2;
    return each * (m * n * k + m * n) * static_cast<double>(result_.batch.value_or(1));
  }
  double batch() const { return static_cast<double>(result_.batch.value_or(1)); }
  double bytes() const {
    return std::round(result_.gbps.value_or(0) * 1e9 * result_.runtime_ms * 1e-3);
  }

  const ProviderResult& result_;
  const Json& kept_;
  std::size_t number_;
  const std::string& provider_;
};

}  // namespace

Result<std::string> profiler_csv(std::span<const ProviderResults> results) {
  // Tags of the tool stand in front of its own columns; the problem's name is one.
  std::set<std::string, ByName> tags;
  for (const ProviderResults& one : results)
    for (const ProviderResult& result : one.results)
      for (const auto& [column, text] : kept_cells(result).items())
        if (!is_known(column)) tags.insert(column);
  std::vector<std::string> columns = {"name"};
  columns.insert(columns.end(), tags.begin(), tags.end());
  columns.insert(columns.end(), std::begin(kColumns), std::end(kColumns));
  std::string text;
  const auto add = [&](std::size_t index, const std::string& cell) {
    text += (index == 0 ? "" : ",") + csv_cell(csv_text(cell));
  };
  for (std::size_t i = 0; i < columns.size(); ++i) add(i, columns[i]);
  text += '\n';
  std::size_t number = 0;
  for (const ProviderResults& one : results) {
    for (const ProviderResult& result : one.results) {
      const RowWriter row(result, one.provider, ++number);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        ASSAY_TRY(const std::string cell, row.cell(columns[i]));
        add(i, cell);
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace assay
