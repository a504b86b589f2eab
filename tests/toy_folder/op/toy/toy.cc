// Limits: larger[i] = max(x[i], limit), smaller[i] = min(x[i], limit), all of f32. An operation
// with two outputs and one attribute, and as little besides as there can be.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>

#include <fmt/format.h>

#include "assay/base/random.h"
#include "assay/base/text.h"
#include "assay/op/export_front.h"
#include "assay/op/field_reader.h"
#include "assay/op/operation.h"
#include "assay/op/outputs.h"
#include "assay/op/proof_words.h"

namespace assay::toy {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 28;
constexpr double kLargestLimit = 1e30;
enum Place : size_t { kX, kLarger, kSmaller };

std::span<const FieldRule> field_rules() {
  using Kind = FieldRule::Kind;
  static const std::vector<FieldRule> rules = {
      {"n", Kind::integer, true, 1, kMostElements, "elements of x and of both outputs"},
      {"dtype", Kind::dtype, false, 0, 0, "f32"},
      {"limit", Kind::number, false, 0, 0, "what larger and smaller are told apart by, default 0"},
      {"constant", Kind::text_list, false, 0, 0, "none"},
      {"name", Kind::text, false, 0, 0, "for people and files"},
  };
  return rules;
}

const OperationWords& operation_words() {
  static const OperationWords words = {
      .operands = {{.role = "x", .dimensions = {"n"}},
                   {.role = "larger", .dimensions = {"n"}, .output = true},
                   {.role = "smaller", .dimensions = {"n"}, .output = true}},
      .dimensions = {"n"},
      .scalars = {{"limit", std::nullopt}},
      .has_layouts = false,
  };
  return words;
}

Result<Problem> make_problem(const Json& fields) {
  const FieldReader reader("toy", field_rules(), fields);
  ASSAY_TRY(reader.check());
  int64_t n = 0;
  double limit = 0;
  std::string name;
  std::optional<DType> dtype;
  std::vector<std::string> constant;
  ASSAY_TRY(reader.integer("n", n));
  ASSAY_TRY(reader.number("limit", limit));
  ASSAY_TRY(reader.text("name", name));
  ASSAY_TRY(reader.dtype("dtype", dtype));
  ASSAY_TRY(reader.texts("constant", constant));
  if (dtype.value_or(DType::f32) != DType::f32)
    return fail(ErrorCode::unsupported, "dtype: {} has no limits: use f32", to_string(*dtype));
  if (!(std::abs(limit) <= kLargestLimit) ||
      static_cast<double>(static_cast<float>(limit)) != limit)
    return fail(ErrorCode::invalid_input, "limit: {} is no float of f32 up to {:g}", limit,
                kLargestLimit);
  if (!constant.empty())
    return fail(ErrorCode::invalid_input, "constant: x is another one at every launch");
  if (!name.empty() && !matches_name_rule(name))
    return fail(ErrorCode::invalid_input, "name: '{}' is no name", sanitize(name, 60));
  Problem::Parts parts;
  parts.operation = "toy";
  parts.name = name.empty() ? fmt::format("toy_n{}", n) : name;
  parts.dimensions = {{"n", n}};
  for (const char* role : {"x", "larger", "smaller"}) {
    Operand operand;
    operand.role = role;
    operand.sizes = {n};
    operand.strides = {1};
    operand.span_bytes = n * size_bytes(DType::f32);
    operand.access = parts.operands.empty() ? Access::read : Access::write;
    parts.operands.push_back(std::move(operand));
  }
  parts.attributes = {{"limit", limit}};
  parts.fields =
      std::make_shared<const Json>(Json{{"n", n}, {"limit", limit}, {"name", parts.name}});
  return Problem::from_parts(std::move(parts));
}

float limit_of(const Problem& problem) {
  return static_cast<float>(std::get<double>(problem.attributes().find("limit")->second));
}

Renewal renewal_of(const Problem& problem, size_t operand, const InputSeeds& seeds) {
  Renewal renewal;
  const int64_t n = operand == kX ? problem.dimension("n") : 0;
  renewal.key = seeds.launch;
  renewal.stream = 1;
  renewal.sizes = {n > 0 ? 1 : 0, n > 0 ? 1 : 0, n};
  renewal.strides = {n, n, 1};
  return renewal;
}

float element(std::span<const std::byte> bytes, size_t i) {
  float value = 0;
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
}

class ToyInstance final : public Instance {
 public:
  ToyInstance(Problem problem, InputKind kind, MemoryFile x)
      : problem_(std::move(problem)), kind_(kind), x_(std::move(x)) {}

  const Problem& problem() const override { return problem_; }
  InputKind kind() const override { return kind_; }
  std::span<const std::byte> input(size_t operand) const override {
    return operand == kX ? x_.bytes() : std::span<const std::byte>();
  }
  Result<UniqueFd> input_file(size_t operand) const override {
    if (operand == kX) return x_.file();
    return fail(ErrorCode::internal, "operand {} is no input", operand);
  }

  // Begins at another element.
  Result<std::unique_ptr<Instance>> derive(uint64_t seed) const override {
    ASSAY_TRY(MemoryFile turned, MemoryFile::create("assay-input", x_.bytes().size()));
    const auto from = x_.bytes();
    const size_t first = seed % (from.size() / sizeof(float)) * sizeof(float);
    std::ranges::rotate_copy(from, from.begin() + static_cast<std::ptrdiff_t>(first),
                             turned.writable_bytes().begin());
    ASSAY_TRY(turned.seal());
    return std::make_unique<ToyInstance>(problem_, kind_, std::move(turned));
  }

 private:
  Check do_check(std::span<const std::span<const std::byte>> outputs, const InputSeeds& seeds,
                 ErrorBound) const override {
    std::vector<std::byte> own(x_.bytes().begin(), x_.bytes().end());
    if (seeds.renewed()) renew(renewal_of(problem_, kX, seeds), own);
    const float limit = limit_of(problem_);
    const size_t n = own.size() / sizeof(float);
    Check check;
    check.method = "every element, exactly";
    check.elements = static_cast<int64_t>(2 * n);
    for (size_t o = 0; o < outputs.size(); ++o) {
      const std::string& role = problem_.operands()[kLarger + o].role;
      const size_t there = std::min(n, outputs[o].size() / sizeof(float));
      check.compared += static_cast<int64_t>(there);
      check.wrong += static_cast<int64_t>(n - there);
      for (size_t i = 0; i < there; ++i) {
        const float x = element(own, i), got = element(outputs[o], i);
        const float expected = o == 0 ? std::max(x, limit) : std::min(x, limit);
        if (got == expected) continue;
        if (check.wrong++ > 0) continue;
        check.operand = role;
        check.first_wrong = fmt::format("{}[{}] = {}, expected {}", role, i, got, expected);
      }
    }
    check.right = check.wrong == 0;
    check.max_error = check.right ? 0 : 2;
    return check;
  }

  Problem problem_;
  InputKind kind_;
  MemoryFile x_;
};

constexpr std::array<std::string_view, 3> kImpostors = {"zeros", "copies of x",
                                                        "exchanged outputs"};

constexpr const char* kExported = R"(
class Reference {
 public:
  static constexpr double kCost = 1;
  explicit Reference(const Buffers& set) : set_(set) {}
  Expected at(std::size_t operand, const std::int64_t* index) const {
    const long double x = element(kOperand[0].type, set_.operand[0], index[0]);
    return {operand == kLarger ? std::max(x, kLimit) : std::min(x, kLimit), 0, false};
  }

 private:
  const Buffers& set_;
};

}  // namespace problem
)";

class Toy final : public Operation, public ProofWords, public ExportFront {
 public:
  std::string_view name() const override { return "toy"; }
  const ProofWords* proof_words() const override { return this; }
  const ExportFront* export_front() const override { return this; }
  std::string formula(const Problem& problem) const override {
    return fmt::format("larger = max(x, {0:g}), smaller = min(x, {0:g})", limit_of(problem));
  }
  Result<std::vector<ReferenceFile>> reference(const Problem& problem,
                                               ErrorBound /*bound*/) const override {
    return std::vector<ReferenceFile>{
        {"reference.h",
         fmt::format(
             "#pragma once\n\nnamespace problem {{\n\n"
             "inline constexpr const char* kUnchecked = nullptr;\n"
             "constexpr std::size_t kLarger = {};\nconstexpr long double kLimit = {:a};\n{}",
             size_t{kLarger}, limit_of(problem), kExported)}};
  }
  std::span<const FieldRule> fields() const override { return field_rules(); }
  const OperationWords& words() const override { return operation_words(); }
  Result<Problem> problem(const Json& fields) const override { return make_problem(fields); }
  Work work(const Problem& problem) const override {
    const auto n = static_cast<double>(problem.dimension("n"));
    return {.flops = 2 * n, .bytes_read = 4 * n, .bytes_written = 8 * n};
  }
  std::vector<InputKind> useful_kinds(const Problem&, ErrorBound) const override {
    return {InputKind::uniform, InputKind::ones};
  }
  Renewal renewal(const Problem& problem, size_t operand, const InputSeeds& seeds) const override {
    return renewal_of(problem, operand, seeds);
  }
  size_t varied_operand(const Problem&) const override { return kX; }
  Result<std::unique_ptr<Instance>> make_instance(const Problem& problem, InputKind kind,
                                                  uint64_t seed) const override {
    const auto bytes = static_cast<size_t>(problem.operands()[kX].span_bytes);
    ASSAY_TRY(MemoryFile x, MemoryFile::create("assay-input", bytes));
    const uint64_t key = seed_from(fmt::format("{} {}", problem.signature(), seed));
    renew(renewal_of(problem, kX, {.set = key, .launch = key}), x.writable_bytes());
    if (kind == InputKind::ones)
      for (size_t i = 0; i < bytes / sizeof(float); ++i) {
        const float one = 1;
        std::memcpy(x.writable_bytes().data() + i * sizeof one, &one, sizeof one);
      }
    ASSAY_TRY(x.seal());
    return std::make_unique<ToyInstance>(problem, kind, std::move(x));
  }
  Result<std::vector<Problem>> telling_problems() const override {
    std::vector<Problem> problems;
    for (const int n : {1, 53, 1000}) {
      ASSAY_TRY(Problem made, make_problem({{"n", n}, {"limit", 0.25}}));
      problems.push_back(std::move(made));
    }
    return problems;
  }

  std::span<const std::string_view> impostors() const override { return kImpostors; }
  bool pretend(size_t impostor, const Instance& instance,
               std::span<std::byte> output) const override {
    const auto places = OutputPlaces::of(instance.problem()).places;
    const float limit = limit_of(instance.problem());
    for (size_t o = 0; o < places.size(); ++o)
      for (size_t i = 0; i < places[o].bytes / sizeof(float); ++i) {
        const float x = element(instance.input(kX), i);
        const float exchanged = o == 0 ? std::min(x, limit) : std::max(x, limit);
        const float value = impostor == 0 ? 0 : impostor == 1 ? x : exchanged;
        std::memcpy(output.data() + places[o].offset + i * sizeof value, &value, sizeof value);
      }
    return true;
  }

  std::span<const std::string_view> check_methods() const override {
    static constexpr std::string_view kMethods[] = {"every element, exactly"};
    return kMethods;
  }
  bool leaves_out(const Problem&, InputKind, ErrorBound) const override { return false; }
  double largest_of_uniform(const Problem& problem) const override {
    return std::max(1.0, std::abs(static_cast<double>(limit_of(problem))));
  }
};

}  // namespace

const Operation& operation() {
  static const Toy toy;
  return toy;
}

}  // namespace assay::toy
