#include "assay/op/gemm/gemm.h"

#include <cmath>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/op/gemm/description.h"
#include "assay/op/gemm/element_wise.h"
#include "assay/op/gemm/epilogue.h"
#include "assay/op/gemm/epilogue_alone.h"
#include "assay/op/gemm/export_front.h"
#include "assay/op/gemm/first_kernel.h"
#include "assay/op/gemm/impostors.h"
#include "assay/op/gemm/instance.h"
#include "assay/op/gemm/methods.h"
#include "assay/op/gemm/of_model.h"
#include "assay/op/gemm/renewal.h"
#include "assay/op/gemm/telling_problems.h"
#include "assay/op/gemm/work.h"
#include "assay/op/proof_words.h"

namespace assay::gemm {
namespace {

// An operand of an epilogue's step, whose elements lie one behind the other.
OperationWords::Operand vector(const char* role) {
  return {.role = role, .optional = true, .of_step = true, .layout_of = "out"};
}

const OperationWords& operation_words() {
  static const OperationWords words = {
      .operands = {{.role = "a", .dimensions = {"l", "m", "k"}},
                   {.role = "b", .dimensions = {"l", "k", "n"}},
                   {.role = "out", .dimensions = {"l", "m", "n"}, .output = true},
                   {.role = "c",
                    .dimensions = {"l", "m", "n"},
                    .optional = true,
                    .of_scalar = "beta",
                    .layout_of = "out"},
                   vector("bias"),
                   vector("row_bias"),
                   vector("scale"),
                   vector("column_scale"),
                   vector("row_scale"),
                   {.role = "residual",
                    .dimensions = {"l", "m", "n"},
                    .optional = true,
                    .of_step = true,
                    .layout_of = "out"}},
      .dimensions = {"m", "n", "k", "l"},
      .batch = "l",
      .scalars = {{"alpha", 1}, {"beta", 0}},
      .weights = {"b"},
  };
  return words;
}

class Gemm final : public Operation, public ProofWords, public FirstKernel, public ExportFront {
 public:
  std::string_view name() const override { return "gemm"; }
  bool is_default() const override { return true; }
  const ProofWords* proof_words() const override { return this; }
  const FirstKernel* first_kernels() const override { return this; }
  const ExportFront* export_front() const override { return this; }
  std::string formula(const Problem& problem) const override { return formula_of(problem); }
  Result<std::vector<ReferenceFile>> reference(const Problem& problem,
                                               ErrorBound bound) const override {
    return reference_files(problem, bound);
  }
  std::string first_shape() const override { return "m=4,n=512,k=512"; }
  std::string complete(const std::string& shape) const override {
    return shape.find("layout") == std::string::npos ? shape + ",layout=tt" : shape;
  }
  Result<std::string> first_kernel(const NewKernel& kernel, const Problem& problem) const override {
    return naive_kernel(kernel, problem);
  }
  std::span<const FieldRule> fields() const override { return field_rules(); }
  const OperationWords& words() const override { return operation_words(); }
  Result<Problem> problem(const Json& fields) const override { return problem_from_json(fields); }
  Work work(const Problem& problem) const override { return work_of(problem); }
  std::vector<InputKind> useful_kinds(const Problem& problem, ErrorBound bound) const override {
    auto sizes = view(problem);
    return sizes ? useful_input_kinds(*sizes, bound) : std::vector<InputKind>();
  }
  std::span<const std::string_view> check_methods() const override { return method::kAll; }
  bool leaves_out(const Problem& problem, InputKind kind, ErrorBound bound) const override {
    const auto sizes = view(problem);
    return sizes && gemm::leaves_out(*sizes, kind, bound);
  }
  double largest_of_uniform(const Problem& problem) const override {
    // Floating inputs are within [-1, 1]; integers are compared bit for bit.
    const auto sizes = view(problem);
    const auto epilogue = epilogue_of(problem);
    if (!sizes || !epilogue) return 0;
    return epilogue->largest(std::abs(sizes->alpha) * static_cast<double>(sizes->k) +
                             std::abs(sizes->beta));
  }
  Status check_epilogue(std::string_view text) const override {
    ASSAY_TRY(const Epilogue epilogue, Epilogue::parse(text));
    if (epilogue.text() == text) return {};
    return fail(ErrorCode::invalid_input, "the epilogue '{}' is written {}", sanitize(text, 60),
                epilogue.text());
  }
  StepNames step_names() const override {
    return {Epilogue::step_names(), Epilogue::operand_names()};
  }
  Result<Problem> without_last_part(const Problem& problem) const override {
    return without_epilogue(problem);
  }
  Result<std::shared_ptr<const LastPart>> last_part(const Problem& problem) const override {
    return epilogue_alone(problem);
  }
  Renewal renewal(const Problem& problem, size_t operand, const InputSeeds& seeds) const override {
    return renewal_of(problem, operand, seeds);
  }
  // Of c alone kernels could keep a x b.
  size_t varied_operand(const Problem& problem) const override {
    const auto operands = problem.operands();
    for (size_t i = 0; i < 2 && i < operands.size(); ++i)
      if (varies(operands[i])) return i;
    return operands.size();
  }
  Result<std::unique_ptr<Instance>> make_instance(const Problem& problem, InputKind kind,
                                                  uint64_t seed) const override {
    return make_gemm_instance(problem, kind, seed);
  }
  Result<std::vector<Problem>> telling_problems() const override {
    return gemm::telling_problems();
  }
  std::span<const std::string_view> impostors() const override { return impostor_names(); }
  bool pretend(size_t impostor, const Instance& instance,
               std::span<std::byte> output) const override {
    return gemm::pretend(impostor, instance, output);
  }
  Result<Problem> fewer_outputs(const Problem& problem, double products) const override {
    return gemm::fewer_outputs(problem, products);
  }
  std::vector<Json> problems_of_model(const ModelSizes& model, int64_t m) const override {
    return gemm::problems_of_model(model, m);
  }
};

double number(const Problem& problem, std::string_view name, double otherwise) {
  const auto found = problem.attributes().find(name);
  if (found == problem.attributes().end()) return otherwise;
  const double* value = std::get_if<double>(&found->second);
  return value ? *value : otherwise;
}

}  // namespace

const Operation& operation() {
  static const Gemm gemm;
  return gemm;
}

Result<View> view(const Problem& problem) {
  if (problem.operation() != "gemm") {
    return fail(ErrorCode::invalid_input, "{}: its operation is {}, not gemm", problem.name(),
                problem.operation());
  }
  const Operand* a = problem.find_operand("a");
  const Operand* b = problem.find_operand("b");
  const Operand* out = problem.find_operand("out");
  const Operand* c = problem.find_operand("c");
  const auto found = problem.attributes().find("accumulate");
  const std::string* accumulate =
      found == problem.attributes().end() ? nullptr : std::get_if<std::string>(&found->second);
  const auto accumulate_type = accumulate ? find_dtype(*accumulate) : std::nullopt;
  for (const Operand* operand : {a, b, out}) {
    if (operand == nullptr || operand->sizes.size() != 3 || operand->strides.size() != 3)
      return fail(ErrorCode::internal, "{}: a gemm without a, b and out", problem.name());
  }
  if (!accumulate_type || (c != nullptr && c->strides.size() != 3))
    return fail(ErrorCode::internal, "{}: a gemm without its attributes", problem.name());
  View view{};
  view.l = problem.dimension("l");
  view.m = problem.dimension("m");
  view.n = problem.dimension("n");
  view.k = problem.dimension("k");
  view.out_columns = out->sizes[2];
  ASSAY_TRY(const Epilogue epilogue, epilogue_of(problem));
  for (const EpilogueStep& step : epilogue.steps()) {
    view.epilogue_addends += step.is_addend() ? 1 : 0;
    view.epilogue_factors += step.is_factor() ? 1 : 0;
  }
  view.a_l = a->strides[0], view.a_m = a->strides[1], view.a_k = a->strides[2];
  view.b_l = b->strides[0], view.b_k = b->strides[1], view.b_n = b->strides[2];
  view.out_l = out->strides[0], view.out_m = out->strides[1], view.out_n = out->strides[2];
  view.a = a->dtype;
  view.b = b->dtype;
  view.out = out->dtype;
  view.accumulate = *accumulate_type;
  view.alpha = number(problem, "alpha", 1);
  view.beta = number(problem, "beta", 0);
  view.has_c = c != nullptr;
  if (c != nullptr) view.c_l = c->strides[0], view.c_m = c->strides[1], view.c_n = c->strides[2];
  return view;
}

std::string layout_string(const Problem& problem, bool with_out) {
  std::string letters;
  for (std::string_view role : {"a", "b", "out"}) {
    if (role == "out" && !with_out) break;
    const Operand* operand = problem.find_operand(role);
    if (operand == nullptr || operand->strides.empty()) return "";
    letters += operand->strides.back() == 1 ? 't' : 'n';
  }
  return letters;
}

}  // namespace assay::gemm
