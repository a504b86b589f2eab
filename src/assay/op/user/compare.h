#pragma once

// An output against what the user's reference says, within the tolerance of the definition; and
// whether that tolerance tells right from wrong. Not for use outside op/user.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/op/operation.h"
#include "assay/op/user/definition.h"

namespace assay::user {

namespace method {

// Records say them, and `assay compare --recompute` knows no others.
inline constexpr std::string_view kEvery = "every element against the user's reference";
inline constexpr std::string_view kNotThis = "another launch is compared: the reference is slow";
inline constexpr std::string_view kAll[] = {kEvery, kNotThis};

}  // namespace method

Check compare(const Operand& operand, const Tolerance& tolerance, std::span<const double> expected,
              std::span<const std::byte> output);

// What trivial kernels hand out, held against the tolerance: of uniform inputs. others: what the
// reference says of other ones. Empty: each is wrong, and what is right, rounded to the output's
// type, is right. Else a sentence about all that pass, which begins with the definition's field.
struct AuditedInput {
  std::string_view role;
  std::span<const double> values;
};
std::string find_impostor(const Operand& operand, const Tolerance& tolerance,
                          std::span<const AuditedInput> inputs, std::span<const double> expected,
                          std::span<const double> others);

// Of two outputs of the reference for the same inputs: an element in which they differ by more than
// rounding in float64, seen from what is allowed. None: the reference says the same again.
std::optional<size_t> first_difference(const Tolerance& tolerance, std::span<const double> expected,
                                       std::span<const double> again);
// "out[0,3] = 1, then 2".
std::string difference_text(const Operand& operand, std::span<const double> expected,
                            std::span<const double> again, size_t element);

}  // namespace assay::user
