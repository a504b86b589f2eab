#include "assay/op/user/user.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/op/definitions.h"
#include "assay/op/proof_words.h"
#include "assay/op/user/compare.h"
#include "assay/op/user/export_front.h"
#include "assay/op/user/first_kernel.h"
#include "assay/op/user/inputs.h"
#include "assay/op/user/instance.h"
#include "assay/op/user/problem.h"

namespace assay::user {
namespace {

// That are kept compiled: each holds a descriptor.
constexpr int kMostPrograms = 64;

class DefinedOperation final : public Operation,
                               public ProofWords,
                               public FirstKernel,
                               public ExportFront {
 public:
  DefinedOperation(Definition definition, std::string id)
      : definition_(std::move(definition)),
        id_(std::move(id)),
        fields_(field_rules(definition_)),
        words_(words_of(definition_)) {}

  std::string_view name() const override { return id_; }
  const ProofWords* proof_words() const override { return this; }
  const FirstKernel* first_kernels() const override { return this; }
  const ExportFront* export_front() const override { return this; }
  std::string formula(const Problem&) const override { return formula_of(definition_); }
  Result<std::vector<ReferenceFile>> reference(const Problem& problem,
                                               ErrorBound /*bound*/) const override {
    return reference_files(definition_, problem);
  }
  std::span<const FieldRule> fields() const override { return fields_; }
  const OperationWords& words() const override { return words_; }
  Result<Problem> problem(const Json& fields) const override {
    return problem_from_json(definition_, id_, fields);
  }

  Work work(const Problem& problem) const override {
    Work work;
    work.flops = flops_of(definition_, problem);
    for (const Operand& operand : problem.operands())
      (operand.access == Access::read ? work.bytes_read : work.bytes_written) +=
          static_cast<double>(operand.span_bytes);
    return work;
  }

  std::vector<InputKind> useful_kinds(const Problem& problem, ErrorBound) const override {
    return proof_inputs(definition_, problem);
  }
  Renewal renewal(const Problem& problem, size_t operand, const InputSeeds& seeds) const override {
    return timed_renewal_of(definition_, problem, operand, seeds);
  }
  size_t varied_operand(const Problem& problem) const override {
    const auto operands = problem.operands();
    return static_cast<size_t>(std::ranges::find_if(operands, varies) - operands.begin());
  }

  Result<std::unique_ptr<Instance>> make_instance(const Problem& problem, InputKind kind,
                                                  uint64_t seed) const override {
    if (problem.operation() != id_)
      return fail(ErrorCode::invalid_input, "{}: its operation is {}, not {}", problem.name(),
                  operation_title(problem.operation()), operation_title(id_));
    ASSAY_TRY(auto reference, reference_of(problem));
    return make_user_instance(definition_, problem, kind, seed, std::move(reference));
  }

  Result<std::vector<Problem>> telling_problems() const override { return std::vector<Problem>(); }

  // Without a file nobody knows of it: there is no shape to begin with.
  std::string first_shape() const override { return {}; }
  std::string complete(const std::string& shape) const override { return shape; }
  Result<std::string> first_kernel(const NewKernel& kernel, const Problem& problem) const override {
    return naive_kernel(definition_, kernel, problem);
  }

  std::span<const std::string_view> check_methods() const override { return method::kAll; }
  bool leaves_out(const Problem&, InputKind, ErrorBound) const override { return false; }
  // What it is, only the reference knows: whether the tolerance tells anything is audited.
  double largest_of_uniform(const Problem&) const override {
    return std::numeric_limits<double>::max();
  }

 private:
  // Of a problem: the process of all instances that are there, and what it executes, for the next.
  struct KeptReference {
    std::weak_ptr<Reference> running;
    Reference::Program program;
  };

  Result<std::shared_ptr<Reference>> reference_of(const Problem& problem) const {
    const std::scoped_lock lock(mutex_);
    KeptReference& kept = references_[problem.signature()];
    if (auto running = kept.running.lock()) return running;
    ASSAY_TRY(auto started,
              Reference::start(definition_, problem, Reference::kDeadlineSeconds, kept.program));
    if (kept.program == nullptr && ++programs_ > kMostPrograms) drop_programs();
    kept = {started, started->program()};
    return started;
  }

  void drop_programs() const {
    for (auto& [unused, kept] : references_) kept.program = nullptr;
    programs_ = 1;
  }

  Definition definition_;
  std::string id_;
  std::vector<FieldRule> fields_;
  OperationWords words_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, KeptReference> references_;
  mutable int programs_ = 0;
};

class Operations {
 public:
  const Operation* find(std::string_view id) {
    const std::scoped_lock lock(mutex_);
    const auto found = by_title_.find(operation_title(id));
    if (found == by_title_.end()) return nullptr;
    const bool same = id.find(' ') == std::string_view::npos || found->second->name() == id;
    return same ? found->second.get() : nullptr;
  }
  const Operation* add(const Definition& definition, std::string id) {
    const std::scoped_lock lock(mutex_);
    auto& kept = by_title_[std::string(operation_title(id))];
    if (kept == nullptr || kept->name() != id)
      kept = std::make_unique<DefinedOperation>(definition, std::move(id));
    return kept.get();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<DefinedOperation>, std::less<>> by_title_;
};

Operations& operations() {
  static Operations all;
  return all;
}

class UserOperation final : public Operation, public Definitions {
 public:
  std::string_view name() const override { return "user"; }
  const Definitions* definitions() const override { return this; }
  std::span<const FieldRule> fields() const override { return {}; }
  const OperationWords& words() const override {
    static const OperationWords none;
    return none;
  }
  Result<Problem> problem(const Json&) const override {
    return fail(ErrorCode::invalid_input,
                "operation: which one of yours? Name the file that defines it, as in "
                "operation=softmax.op.yaml");
  }
  Work work(const Problem&) const override { return {}; }
  std::vector<InputKind> useful_kinds(const Problem&, ErrorBound) const override { return {}; }
  Renewal renewal(const Problem&, size_t, const InputSeeds&) const override {
    Renewal none;
    none.sizes = {0, 0, 0};
    return none;
  }
  size_t varied_operand(const Problem& problem) const override { return problem.operands().size(); }
  Result<std::unique_ptr<Instance>> make_instance(const Problem& problem, InputKind,
                                                  uint64_t) const override {
    return fail(ErrorCode::invalid_input, "{}: not a problem of a user's operation",
                problem.name());
  }
  Result<std::vector<Problem>> telling_problems() const override { return std::vector<Problem>(); }

  Result<const Operation*> defined(std::string_view rest) const override {
    const std::string id = fmt::format("user:{}", rest);
    if (const Operation* known = operations().find(id)) return known;
    ASSAY_TRY(const Definition definition, parse_id(rest));
    return operations().add(definition, id);
  }
};

}  // namespace

Result<const Operation*> define(const Definition& definition) {
  ASSAY_TRY(check(definition));
  const std::string id = id_of(definition);
  if (const Operation* known = operations().find(id)) return known;
  return operations().add(definition, id);
}

const Operation& operation() {
  static const UserOperation user;
  return user;
}

}  // namespace assay::user
