#include "assay/record/result_numbers.h"

#include <algorithm>
#include <cmath>

#include "assay/record/name_sizes.h"
#include "assay/tensor/dtype.h"

namespace assay {
namespace {

Error wrong_number(const JsonField& field, std::string_view sentence) {
  return field.error(ErrorCode::invalid_input, sentence);
}

// Numbers in such files are rounded to a few digits, so a contradiction is more than 5 % and half a
// step of three decimals.
bool contradict(double stated, double derived, double step) {
  return std::abs(stated - derived) > 0.05 * derived + step;
}

// The sizes that a result's name tells stand for absent fields, and must not contradict others.
Status check_name(const JsonField& field, ProviderResult& sized) {
  const auto told = sizes_in_name(sized.name);
  if (!told) return {};
  const auto check = [&](const char* key, std::optional<std::int64_t>& size,
                         std::int64_t said) -> Status {
    if (!size) size = said;
    if (*size == said) return {};
    return fail(
        wrong_number(field, fmt::format("{} {} and the {} {} in the name '{}' contradict each "
                                        "other",
                                        key, *size, key, said, sized.name)));
  };
  ASSAY_TRY(check("m", sized.m, told->m));
  ASSAY_TRY(check("n", sized.n, told->n));
  ASSAY_TRY(check("k", sized.k, told->k));
  if (told->batch && !sized.batch) sized.batch = told->batch;
  return {};
}

double operand_bytes(const ProviderResult& result) {
  const auto bits = [&](const char* operand) {
    const auto found = result.dtypes.find(operand);
    const auto dtype = found == result.dtypes.end() ? std::nullopt : find_dtype(found->second);
    return dtype ? static_cast<double>(info(*dtype).bits) : 0;
  };
  const double a = bits("a"), b = bits("b"), out = bits("out");
  if (a == 0 || b == 0 || out == 0 || !result.m || !result.n || !result.k) return 0;
  const auto m = static_cast<double>(*result.m), n = static_cast<double>(*result.n),
             k = static_cast<double>(*result.k);
  return (a * m * k + b * k * n + out * m * n) / 8 * static_cast<double>(result.batch.value_or(1));
}

// Tools count traffic in their own ways; a unit is mistaken by a thousand.
constexpr double kMostTraffic = 30;

}  // namespace

bool rates_agree(double stated, double derived, double runtime_ms) {
  constexpr double kShare = 0.05, kHalfStep = 5e-4;
  const double least = derived * runtime_ms / (runtime_ms + kHalfStep);
  const double most = derived * (1 + kHalfStep / runtime_ms);
  return stated >= least * (1 - kShare) - kHalfStep && stated <= most * (1 + kShare) + kHalfStep;
}

Status check_numbers(const JsonField& field, const ProviderResult& result) {
  if (result.gflops && contradict(*result.gflops * 1e-3, result.tflops, 5e-4)) {
    return fail(
        wrong_number(field, fmt::format("gflops {:g} and tflops {:g} contradict each other; "
                                        "1 tflops is 1000 gflops",
                                        *result.gflops, result.tflops)));
  }
  ProviderResult sized = result;
  ASSAY_TRY(check_name(field, sized));
  if (sized.work() == 0) return {};
  const auto derived_from = [&](double work) { return work / (result.runtime_ms * 1e-3) * 1e-12; };
  const auto wrong_by = [&](double derived) {
    return !rates_agree(result.tflops, derived, result.runtime_ms);
  };
  const double derived = derived_from(sized.work());
  // A number beside sizes in a name may count layers instead of a batch.
  const double batch = result.batch ? 1 : static_cast<double>(sized.batch.value_or(1));
  // A name may say that there is a batch, and not of how many; a unit is mistaken by a thousand.
  const bool is_some_batch = !sized.batch && result.name.find("batch") != std::string::npos;
  const double some = std::clamp(std::round(result.tflops / derived), 1.0, 999.0);
  if (wrong_by(derived) && wrong_by(derived / batch) &&
      !(is_some_batch && !wrong_by(derived * some))) {
    return fail(wrong_number(
        field, fmt::format("tflops {:g} does not follow from m, n, k{} and "
                           "runtime_ms {:g}, which give {:.4g}",
                           result.tflops, result.m && result.n && result.k ? "" : " of the name",
                           result.runtime_ms, derived)));
  }
  const double traffic = operand_bytes(sized) / (result.runtime_ms * 1e-3) * 1e-9;
  if (result.gbps && traffic > 0 &&
      (*result.gbps > traffic * kMostTraffic || *result.gbps < traffic / kMostTraffic))
    return fail(wrong_number(field, fmt::format("gbps {:g} does not follow from the operands and "
                                                "runtime_ms {:g}, which give {:.4g}",
                                                *result.gbps, result.runtime_ms, traffic)));
  return {};
}

}  // namespace assay
