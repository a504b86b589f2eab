#pragma once

// A report as the answer to a question.

#include <string>
#include <string_view>

#include "assay/op/problem.h"
#include "assay/profiler/question.h"
#include "assay/record/provider_results.h"

namespace assay::profiler {

// The fastest row that is a result, in the problem's own words: sizes, types and layout are the
// problem's, however it was asked. Its metadata hold the row as it stands and what was asked.
// ErrorCode::failed, a sentence: why there is none. `none_fitted`: whether that is because no
// kernel could be asked at all.
struct NoAnswer {
  std::string sentence;
  bool none_fitted = false;
};
tl::expected<ProviderResult, NoAnswer> read_answer(const Problem& problem, const Question& question,
                                                   std::string_view report,
                                                   const std::string& origin);

}  // namespace assay::profiler
