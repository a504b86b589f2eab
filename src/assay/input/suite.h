#pragma once

// Suites: lists of problems that users edit, shapes/*.yaml. Those of the repository are embedded.
//
//   suite: decode
//   operation: gemm                      # The default.
//   defaults: {a: f16, b: f16, out: f16, layout: tn, constant: [b]}
//   shapes:
//     - {name: up_m4_n28672_k4096, m: 4, n: 28672, k: 4096, role: decode, weight: 32}
//
// Fields are the operation's (Operation::fields) and name, role, weight. A shape's own field wins
// over the defaults. A name may carry sizes (_m4_n28672_k4096): they stand in for fields left out,
// and must agree with fields that are there. A shape without a name gets one from role and sizes.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/op/problem.h"

namespace assay::input {

struct Suite {
  std::string name;               // [A-Za-z0-9_.-]+
  std::vector<Problem> problems;  // Not empty; names are unique.
  std::string origin;             // The file, or "embedded suite decode".
};

Result<Suite> read_suite(const std::filesystem::path& path);
Result<Suite> parse_suite(std::string_view text, std::string_view origin);

struct EmbeddedSuite {
  std::string_view name;
  std::string_view text;
};
std::span<const EmbeddedSuite> embedded_suites();  // Sorted by name.

// An embedded suite's name, or a file: anything with a slash or ending in .yaml or .yml. What is
// neither is an error that lists the suites and names the nearest.
Result<Suite> find_suite(std::string_view name_or_file);

// The problems of these names, in the suite's order (--shapes NAME...); no names: all. An unknown
// name is an error that names the nearest.
Result<Suite> select(const Suite& suite, std::span<const std::string> names);

}  // namespace assay::input
