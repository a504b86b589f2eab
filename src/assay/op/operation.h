#pragma once

// What the rest of the house knows of an operation. One folder under op/ implements this; catalog,
// sweep, records and the C ABI never learn GEMM.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/fd.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/op/model.h"
#include "assay/op/problem.h"
#include "assay/op/renewal.h"
#include "assay/op/words.h"
#include "assay/tensor/error_bound.h"

namespace assay {

class CalculatedInstance;  // op/calculator.h
class Definitions;         // op/definitions.h
class ExportFront;         // op/export_front.h
class FirstKernel;         // op/first_kernel.h
class LastPart;            // op/last_part.h
class ProofWords;          // op/proof_words.h

// A field of a user's shape entry (m, n, k, a, b, out, layout ...), for checking types with the
// line at hand before problem() checks what fields mean together.
struct FieldRule {
  enum class Kind { integer, number, text, dtype, text_list };
  std::string name;
  Kind kind;
  bool required = false;
  int64_t min = 0, max = 0;  // Integers only.
  std::string help;          // "rows of A and out, 1 .. 2^31-1"
};

// Minimal traffic and arithmetic of one launch: each input read once, each output written once.
struct Work {
  double flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  double bytes() const { return bytes_read + bytes_written; }
};

// What kind of numbers an instance holds. Each sees some class of wrong kernels that the others
// may not: see verify/.
enum class InputKind : uint8_t {
  uniform,       // [-1, 1); floating ones with some small elements (gemm/inputs.h: Lines).
  exact,         // Small integers: every product, partial sum and output is exact.
  wide_range,    // Magnitudes over many binades.
  cancellation,  // Large terms that cancel: shows a narrower accumulator or input type.
  needle,        // Zeros but for one huge element at a random place.
  zeros,
  ones,
  identity,    // B (or A) is the identity where sizes allow: catches layout mix-ups.
  non_finite,  // NaN and Inf at random places must propagate as the reference says.
  // Smaller integers, of like sizes: exact even if blocks are added up before they are multiplied.
  exact_blocks,
};
std::string_view to_string(InputKind kind);
std::span<const InputKind> all_input_kinds();
std::optional<InputKind> find_input_kind(std::string_view name);

// The mean of squared errors, each held against what the declared accumulate type gives in the mean
// where terms are added one by one: 1 is what that plain order gives.
struct MeanSquare {
  int64_t elements = 0;
  double sum = 0;  // elements times the mean.

  void add(const MeanSquare& more) {
    elements += more.elements;
    sum += more.sum;
  }
  double root() const { return elements > 0 ? std::sqrt(sum / static_cast<double>(elements)) : 0; }
};

// The outcome of comparing the outputs of one launch with the reference.
struct Check {
  bool right = false;
  std::string method;    // "every element against float64", "exact, Freivalds mod 2^61-1 + ..."
  int64_t elements = 0;  // Elements in the outputs.
  int64_t compared = 0;  // Elements compared one by one.
  int64_t wrong = 0;     // Of those; Freivalds failures count as at least 1.
  double max_error = 0;  // In units of the error budget: above 1 is wrong.
  double mean_error = 0;
  // Of uniform inputs of floating types; no elements elsewhere. Wide lines are those where few
  // terms count, so that errors of what was stored are not hidden by those of adding up.
  MeanSquare ordinary_lines, wide_lines;
  double smallest_visible = 0;  // Absolute error that the method sees anywhere; 0: any difference.
  std::string first_wrong;      // "out[0,3,17] = nan, expected 0.25 +- 1e-6"; empty when right.
  std::string operand;          // The role of the output that first_wrong is of.
  bool untouched = false;       // Elements still hold the poison pattern (set by verify/).
  // Of an output that is wrong elementwise: whether it is right by the normwise bound. Nothing:
  // such a promise says nothing of these inputs.
  std::optional<bool> within_normwise;
};

// One set of input values with its reference, held by the referee alone.
class Instance {
 public:
  virtual ~Instance() = default;
  virtual const Problem& problem() const = 0;
  virtual InputKind kind() const = 0;

  // Bytes of operand i (problem().operands()[i].span_bytes of them); for outputs that are not also
  // read, empty. Gaps between strided rows hold a fixed NaN-like filler.
  virtual std::span<const std::byte> input(size_t operand) const = 0;
  // The same, where there are any, as a memory file that nobody can change.
  virtual Result<UniqueFd> input_file(size_t operand) const = 0;

  // Compares what a launch wrote with the reference: span_bytes of each output, in the order of the
  // problem's operands. seeds: what
  // the launch's inputs were made from, where they were not the instance's own
  // (Operation::renewal). bound: what the kernel promises of its errors. Inputs of which that says
  // nothing are left out: right, and nothing compared.
  Check check(std::span<const std::span<const std::byte>> outputs, const InputSeeds& seeds = {},
              ErrorBound bound = ErrorBound::elementwise) const;
  // The same, of outputs that lie one behind another as OutputPlaces (outputs.h) has them; so a
  // single one lies by itself.
  Check check(std::span<const std::byte> outputs, const InputSeeds& seeds = {},
              ErrorBound bound = ErrorBound::elementwise) const;

  // A new instance by permuting rows, columns and the summed dimension and by flipping signs: other
  // bytes, same reference up to that permutation, so that one float64 reference serves many seeds.
  virtual Result<std::unique_ptr<Instance>> derive(uint64_t seed) const = 0;

  // Where a faster machine may do the comparisons; null where none can.
  virtual const CalculatedInstance* calculated() const { return nullptr; }

 private:
  // As many outputs as the problem has.
  virtual Check do_check(std::span<const std::span<const std::byte>> outputs,
                         const InputSeeds& seeds, ErrorBound bound) const = 0;
};

class Operation {
 public:
  virtual ~Operation() = default;
  virtual std::string_view name() const = 0;
  virtual std::span<const FieldRule> fields() const = 0;
  virtual const OperationWords& words() const = 0;

  // Whether shapes, suites and kernels that name no operation mean this one; true of one alone.
  virtual bool is_default() const { return false; }

  // What an operation may have beside itself; null where it has none.
  virtual const ProofWords* proof_words() const { return nullptr; }
  virtual const FirstKernel* first_kernels() const { return nullptr; }
  virtual const ExportFront* export_front() const { return nullptr; }
  virtual const Definitions* definitions() const { return nullptr; }

  // fields: JSON object by the rules above (defaults filled in here). The one way to a Problem.
  virtual Result<Problem> problem(const Json& fields) const = 0;

  virtual Work work(const Problem& problem) const = 0;

  // Which input kinds say something about this problem's dtypes: of kernels that promise normwise
  // errors those of all others, some of which an instance then leaves out, and perhaps more.
  virtual std::vector<InputKind> useful_kinds(const Problem& problem, ErrorBound bound) const = 0;
  std::vector<InputKind> useful_kinds(const Problem& problem) const {
    return useful_kinds(problem, ErrorBound::elementwise);
  }

  // Fresh uniform numbers for an input of a timed launch: of each operand set for one that the
  // problem declares constant, of each launch for the others. Workers make them, who see no
  // reference. Deterministic in all arguments, independent for different seeds. Without a launch:
  // as an operand set is made first.
  virtual Renewal renewal(const Problem& problem, size_t operand,
                          const InputSeeds& seeds) const = 0;

  // The first input that varies from launch to launch, and of which all of the output depends: a
  // producer writes it in a chain. The number of operands where there is none; then nothing that
  // kernels do can be measured, since they could keep what they made once.
  virtual size_t varied_operand(const Problem& problem) const = 0;

  // Whether the reference computes this epilogue, in this spelling: what is not empty is a chain of
  // steps that '+' joins. No problem and no kernel may name another one, since whether a kernel
  // left it out could not be seen. The error says which there are.
  virtual Status check_epilogue(std::string_view text) const;

  // The steps that such chains may have; none where the operation has no epilogues.
  struct StepNames {
    std::span<const std::string_view> all, with_operand;
  };
  virtual StepNames step_names() const { return {}; }

  // A problem's epilogue taken off: what a library that has none is asked for. Its operands are the
  // first ones of the whole problem. And that epilogue as a kernel of its own, to run behind.
  // Unsupported where the operation has none, or has no such kernel for these types.
  virtual Result<Problem> without_last_part(const Problem& problem) const;
  virtual Result<std::shared_ptr<const LastPart>> last_part(const Problem& problem) const;

  // Deterministic in (problem, kind, seed).
  virtual Result<std::unique_ptr<Instance>> make_instance(const Problem& problem, InputKind kind,
                                                          uint64_t seed) const = 0;

  // Small problems that tell right kernels from wrong ones, each with a name of its own: what
  // conformance (verify/conformance.h) asks kernels to do. A float64 reference of all takes
  // seconds.
  virtual Result<std::vector<Problem>> telling_problems() const = 0;

  // What trivial kernels hand out that have not computed what they should (zeros, a copy of an
  // input, half of the terms ...), by name; and the output of one of them on an instance, false
  // where it would be right by what it is; several outputs lie as OutputPlaces has them. A problem
  // on which one passes proves nothing (verify/audit.h).
  virtual std::span<const std::string_view> impostors() const { return {}; }
  virtual bool pretend(size_t /*impostor*/, const Instance&,
                       std::span<std::byte> /*output*/) const {
    return false;
  }
  // The same question with fewer outputs, where answering it takes more than `products`
  // multiplications.
  virtual Result<Problem> fewer_outputs(const Problem& problem, double /*products*/) const {
    return problem;
  }

  // The problems of this operation in one pass of m tokens through a model, as problem() takes
  // them; their field weight is the number of calls. None where models have none.
  virtual std::vector<Json> problems_of_model(const ModelSizes&, int64_t /*m*/) const { return {}; }
};

// What a shape, a suite or a kernel's description means that names no operation.
std::string_view default_operation();

// Generated from the folders under op/, in the order of their names.
std::span<const Operation* const> built_in_operations();
Result<const Operation*> find_operation(std::string_view name);  // Error lists the known ones.

// The names of an epilogue's steps, which '+' joins; their numbers, behind ':', are left out.
std::vector<std::string> epilogue_steps(std::string_view epilogue);

}  // namespace assay
