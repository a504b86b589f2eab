#include "assay/compare/proof_claims.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "assay/op/proof_words.h"

namespace assay {
namespace {

// Errors are sums in another order where a mean is of many.
constexpr double kRounding = 1 + 1e-9;

// Of what a kernel writes.
int64_t output_elements(const Problem& problem) {
  int64_t elements = 0;
  for (const Operand& operand : problem.operands()) {
    if (operand.access == Access::read) continue;
    int64_t own = 1;
    for (const int64_t size : operand.sizes) own *= size;
    elements += own;
  }
  return elements;
}

// With '#' for each number, or for where one is put in.
std::string without_numbers(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (digit && !out.empty() && out.back() == '#') continue;
    if (digit || text.substr(i, 2) == "{}") {
      i += digit ? 0 : 1;
      out += '#';
    } else {
      out += text[i];
    }
  }
  return out;
}

class Proofs {
 public:
  Proofs(const Operation& operation, const Problem& problem)
      : operation_(operation),
        problem_(problem),
        elements_(output_elements(problem)),
        words_(operation.proof_words()) {
    if (words_ != nullptr) {
      largest_ = words_->largest_of_uniform(problem);
      for (const std::string_view method : words_->check_methods())
        methods_.push_back(without_numbers(method));
    }
    for (const Operand& operand : problem.operands())
      if (operand.dtype == DType::f64) largest_of_type_ = std::numeric_limits<double>::max();
  }

  std::vector<Contradiction> find(const ProblemRecord& recorded) {
    for (const KernelOutcome& kernel : recorded.kernels) {
      if (kernel.proof) check(kernel, *kernel.proof);
      if (is_timed(kernel.ending)) check_timed(kernel);
    }
    return std::move(found_);
  }

 private:
  void say(std::string what, std::string recorded, std::string made) {
    found_.push_back({std::move(what), std::move(recorded), std::move(made)});
  }

  void check_timed(const KernelOutcome& kernel) {
    const std::string what = "proof of " + kernel.label();
    if (!kernel.proof || !kernel.proof->right) {
      say(what, kernel.proof ? "wrong" : "none", "right: it was timed");
      return;
    }
    std::string missing;
    for (const InputKind kind : operation_.useful_kinds(problem_, kernel.proof->error_bound))
      if (std::ranges::find(kernel.proof->checks, to_string(kind), &ProofCheck::input) ==
          kernel.proof->checks.end())
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", to_string(kind));
    if (!missing.empty()) say("inputs in the " + what, "no " + missing, "all that tell something");
    if (kernel.proof->launches < std::ssize(kernel.proof->checks))
      say("launches in the " + what, fmt::to_string(kernel.proof->launches),
          fmt::format("at least {}, one for each output", kernel.proof->checks.size()));
  }

  void check(const KernelOutcome& kernel, const ProofSummary& proof) {
    const ProofCheck* uniform = nullptr;
    for (const ProofCheck& one : proof.checks) {
      check(fmt::format("in the proof of {} on {}", kernel.label(), one.input), one,
            proof.error_bound);
      if (one.input == to_string(InputKind::uniform)) uniform = &one;
    }
    if (uniform == nullptr) return;
    const auto same = [&](const char* what, const auto& recorded, const auto& made) {
      if (recorded != made)
        say(fmt::format("{} in the proof of {}", what, kernel.label()), fmt::to_string(recorded),
            fmt::to_string(made));
    };
    same("method", proof.method, uniform->method);
    same("mean error", proof.mean_error, uniform->mean_error);
    same("smallest visible error", proof.smallest_visible, uniform->smallest_visible);
  }

  void check(const std::string& where, const ProofCheck& one, ErrorBound bound) {
    const auto kind = find_input_kind(one.input);
    if (!kind) say("input " + where, one.input, "a kind of inputs");
    if (!is_method(one.method)) say("method " + where, one.method, "one of the operation's");
    if (one.method.find(kNormwiseMethod) != std::string::npos && bound != ErrorBound::normwise)
      say("method " + where, one.method, "elementwise: the kernel promises that");
    const bool left_out = kind && words_ != nullptr && words_->leaves_out(problem_, *kind, bound);
    if (one.method.starts_with(kLeftOutMethod) != left_out)
      say("method " + where, one.method,
          left_out ? "left out: normwise errors say nothing of it" : "a comparison");
    if (left_out) return check_left_out(where, one);
    if (one.elements != elements_)
      say("elements of the output " + where, fmt::to_string(one.elements),
          fmt::to_string(elements_));
    if (one.compared < 1 || one.compared > elements_)
      say("compared " + where, fmt::to_string(one.compared), fmt::format("1 to {}", elements_));
    if (one.first_wrong.empty() != (one.wrong == 0))
      say("first_wrong " + where, one.first_wrong, fmt::format("{} are wrong", one.wrong));
    if (one.wrong == 0 && one.max_error > 1)
      say("max_error " + where, fmt::to_string(one.max_error), "at most 1: nothing is wrong");
    if (one.mean_error > one.max_error * kRounding)
      say("mean_error " + where, fmt::to_string(one.mean_error),
          fmt::format("at most the largest, {}", one.max_error));
    // Who sees nothing smaller than the output itself sees nothing.
    const double most = kind == InputKind::uniform ? largest_ : largest_of_type_;
    if (one.smallest_visible > most)
      say("smallest_visible " + where, fmt::to_string(one.smallest_visible),
          fmt::format("at most {}", most));
  }

  void check_left_out(const std::string& where, const ProofCheck& one) {
    if (one.compared != 0 || one.wrong != 0)
      say("compared " + where, fmt::to_string(std::max(one.compared, one.wrong)),
          "nothing: it is left out");
  }

  bool is_method(std::string_view method) const {
    // Who multiplied is no other method.
    for (const std::string_view where : {kOnTheGpu, kOnTheGpuEarlier})
      if (method.ends_with(where)) method.remove_suffix(where.size());
    if (method.ends_with(kNormwiseMethod)) method.remove_suffix(kNormwiseMethod.size());
    return std::ranges::find(methods_, without_numbers(method)) != methods_.end();
  }

  const Operation& operation_;
  const Problem& problem_;
  int64_t elements_;
  double largest_ = 0;
  double largest_of_type_ = std::numeric_limits<float>::max();  // Of narrower ones, too.
  const ProofWords* words_;
  std::vector<std::string> methods_;
  std::vector<Contradiction> found_;
};

}  // namespace

std::vector<Contradiction> find_proof_contradictions(const ProblemRecord& recorded,
                                                     const Operation& operation,
                                                     const Problem& problem) {
  return Proofs(operation, problem).find(recorded);
}

}  // namespace assay
