#pragma once

// What a user says of an operation that assay does not have: its operands, its tolerance, and the
// function that defines what is right. Not for use outside op/user and input/.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/op/operation.h"
#include "assay/tensor/dtype.h"

namespace assay::user {

// An element is right within absolute + relative * |expected|.
struct Tolerance {
  double relative = 0, absolute = 0;
  bool operator==(const Tolerance&) const = default;
};

struct DefinedOperand {
  std::string role;
  std::vector<std::string> dimensions;  // Outermost first; elements lie side by side in that order.
  std::vector<DType> dtypes;            // Those that a problem may choose of.
  bool output = false;
  bool operator==(const DefinedOperand&) const = default;
};

enum class Language : uint8_t { cpp, python };
std::string_view to_string(Language language);

struct ReferenceText {
  Language language = Language::cpp;
  std::string file;      // Its name, for compilers' errors.
  std::string function;  // Such as softmax_reference, or mine::softmax.
  std::string text;      // All of the file.
  std::string program;   // Of Python: the interpreter; empty: python3.
  bool operator==(const ReferenceText&) const = default;
};

struct Definition {
  std::string name;  // For people and files.
  std::vector<std::string> dimensions;
  std::vector<DefinedOperand> operands;                 // One of them is the output.
  std::vector<std::pair<std::string, double>> scalars;  // With their defaults.
  std::string flops;                                    // An expression of dimensions; empty: 0.
  std::map<std::string, Tolerance> tolerances;          // By the output's type; "": of all others.
  std::vector<InputKind> inputs;                        // uniform is one of them.
  ReferenceText reference;

  bool operator==(const Definition&) const = default;
};

inline constexpr size_t kMostReferenceBytes = size_t{64} << 10;

// Errors begin with the field: "tolerance: ...".
Status check(const Definition& definition);

// The name of the operation: `user:softmax@1a2b3c4d5e6f {...}`. It holds the whole definition, so
// that workers, records and replays need no other file. Up to the blank it is for people.
std::string id_of(const Definition& definition);
// `defined`: what stands behind "user:". Strict: records may come from anywhere.
Result<Definition> parse_id(std::string_view defined);

// Kinds that definitions may ask for, and have where they say nothing.
std::span<const InputKind> known_inputs();

}  // namespace assay::user
