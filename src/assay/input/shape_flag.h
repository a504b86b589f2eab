#pragma once

// Problems from the command line: --shape m=64,n=4096,k=14336,dtype=bf16
//
//   shape   := pair ("," pair)*
//   pair    := FIELD "=" values               any field of the operation, and name, role, weight;
//                                             operation=NAME for another than the default
//   values  := item ("|" item)*               alternatives: the shape is taken once with each
//   item    := TEXT | range                   ranges for integer fields alone
//   range   := FIRST ":" LAST                 1:4      is 1 2 3 4
//            | FIRST ":" LAST ":" ["+"] STEP  1:9:2    is 1 3 5 7 9
//            | FIRST ":" LAST ":" "*" FACTOR  1:256:*2 is 1 2 4 ... 256
//
// A field that is itself a list (constant) joins its parts with "+": constant=a+b; "none" is the
// empty list. Several fields with alternatives give every combination, the last field varying
// fastest. Shells read * and |: put such a shape in quotes.
//
// Defaults: the operation's own (gemm: layout tn, float32 accumulation), and as constant operands
// its weights (OperationWords; gemm: b).

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/input/suite.h"
#include "assay/op/operation.h"

namespace assay::input {

inline constexpr int64_t kMaxShapeFlagProblems = 100'000;

// Names are made from name (or role, or the operation), sizes and whatever else varies, and are
// unique. Errors say the column within the flag.
Result<std::vector<Problem>> parse_shape_flag(std::string_view text);

// Sizes alone, as the values of an integer field: "16", "1,8,64", "1:256:*2". Errors begin with
// `flag`, and say the column.
Result<std::vector<int64_t>> parse_size_list(std::string_view text, std::string_view flag);

// All --shape flags of a command as one suite called "command-line".
Result<Suite> parse_shape_flags(std::span<const std::string> flags);

}  // namespace assay::input
