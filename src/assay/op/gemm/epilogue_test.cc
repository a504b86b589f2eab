#include "assay/op/gemm/epilogue.h"

#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "assay/base/random.h"
#include "assay/op/calculator.h"
#include "assay/op/gemm/gemm.h"
#include "testing/instance.h"
#include "testing/naive_gemm.h"

namespace assay::gemm {
namespace {

using assay::testing::instance_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Order;
using testing::run;

Problem make(Shape shape) {
  auto made = problem(shape);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return *made;
}

std::string error_of(std::string_view text) {
  const auto parsed = Epilogue::parse(text);
  return parsed ? "" : parsed.error().message;
}

std::string text(const Check& check) {
  return fmt::format("{} [{}; {} of {} compared, {} wrong, max {}]", check.first_wrong,
                     check.method, check.compared, check.elements, check.wrong, check.max_error);
}

constexpr const char* kChains[] = {"bias",
                                   "row_bias+relu",
                                   "relu",
                                   "gelu",
                                   "gelu_tanh",
                                   "silu",
                                   "bias+gelu+residual",
                                   "scale+column_scale+row_scale",
                                   "bias+clamp:-0.75:3+residual",
                                   "column_scale+bias+silu+residual+relu",
                                   "swiglu",
                                   "bias+swiglu_interleaved+residual",
                                   "geglu+bias",
                                   "geglu_tanh_interleaved",
                                   "column_scale+geglu_interleaved+row_bias"};

// Odd sizes, strides and batches; n is even for gates.
std::vector<Problem> problems() {
  std::vector<Problem> made;
  for (const char* chain : kChains) {
    made.push_back(make({.m = 7, .n = 18, .k = 37, .layout = "tt", .epilogue = chain}));
    made.push_back(make({.m = 5, .n = 10, .k = 300, .dtype = DType::bf16, .epilogue = chain}));
    made.push_back(make({.m = 3,
                         .n = 8,
                         .k = 20,
                         .batch = 2,
                         .a = DType::f16,
                         .b = DType::f16,
                         .out = DType::f32,
                         .layout = "ntn",
                         .epilogue = chain,
                         .ldout = 9}));
    made.push_back(make({.m = 1, .n = 6, .k = 64, .dtype = DType::f64, .epilogue = chain}));
    made.push_back(make({.m = 4, .n = 12, .k = 64, .dtype = DType::f16, .epilogue = chain}));
  }
  for (const char* chain : {"bias", "row_bias+relu+residual", "clamp:-100:99"})
    made.push_back(
        make({.m = 6, .n = 10, .k = 40, .dtype = DType::s8, .out = DType::s32, .epilogue = chain}));
  made.push_back(make(
      {.m = 4, .n = 6, .k = 9, .layout = "tt", .alpha = 2, .beta = -1, .epilogue = "bias+gelu"}));
  return made;
}

TEST(EpilogueTest, IsReadAndWrittenInOneSpelling) {
  for (const char* chain : kChains) {
    const auto parsed = Epilogue::parse(chain);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->text(), chain);
    EXPECT_TRUE(operation().check_epilogue(chain));
  }
  EXPECT_EQ(Epilogue::parse("clamp:0.0:6.50")->text(), "clamp:0:6.5");
  EXPECT_TRUE(Epilogue::parse("")->empty());
  EXPECT_THAT(epilogue_steps("bias+clamp:0:6+residual"), ElementsAre("bias", "clamp", "residual"));
}

TEST(EpilogueTest, RefusesWhatHasNoReference) {
  EXPECT_THAT(error_of("rellu"), HasSubstr("did you mean 'relu'?"));
  EXPECT_THAT(error_of("softmax"), HasSubstr("steps that have one: bias, row_bias"));
  EXPECT_THAT(error_of("bais"), HasSubstr("; did you mean 'bias'? Steps that have one: bias, "));
  EXPECT_THAT(error_of("bias+"), HasSubstr("the epilogue step '' has no reference"));
  EXPECT_THAT(error_of("bias+relu+bias"), HasSubstr("has the step bias twice"));
  EXPECT_THAT(error_of("swiglu+geglu"), HasSubstr("has two gates"));
  EXPECT_THAT(error_of("clamp"), HasSubstr("is no clamp:LOW:HIGH"));
  EXPECT_THAT(error_of("clamp:6:0"), HasSubstr("with LOW below HIGH"));
  EXPECT_THAT(error_of("clamp:0:nan"), HasSubstr("is no clamp:LOW:HIGH"));
  EXPECT_THAT(error_of("relu:3"), HasSubstr("takes no numbers: write relu"));
  EXPECT_THAT(error_of("relu+relu+relu+relu+relu+relu+relu+relu+relu"),
              HasSubstr("has more than 8 steps"));
  const auto refused = [](Shape shape) {
    const auto made = problem(shape);
    return made ? "" : made.error().message;
  };
  EXPECT_THAT(refused({.m = 2, .n = 3, .k = 4, .epilogue = "swiglu"}), HasSubstr("n: 3 is odd"));
  EXPECT_THAT(refused({.m = 2, .n = 4, .k = 4, .beta = 1, .epilogue = "swiglu"}),
              HasSubstr("write residual"));
  EXPECT_THAT(
      refused({.m = 2, .n = 4, .k = 4, .dtype = DType::s8, .out = DType::s32, .epilogue = "gelu"}),
      HasSubstr("gelu makes no integers"));
  EXPECT_THAT(
      refused(
          {.m = 2, .n = 4, .k = 4, .epilogue = "relu", .epilogue_dtypes = {{"bias", DType::f32}}}),
      HasSubstr("bias: the epilogue has no step bias"));
}

TEST(EpilogueTest, BringsOperandsAndKeepsThemThroughFields) {
  const Problem made = make({.m = 4,
                             .n = 8,
                             .k = 16,
                             .dtype = DType::bf16,
                             .constant = {"b", "bias"},
                             .epilogue = "bias+swiglu+residual",
                             .epilogue_dtypes = {{"bias", DType::f32}}});
  ASSERT_EQ(made.operands().size(), 5U);
  EXPECT_THAT(made.operands()[3].sizes, ElementsAre(1, 1, 8));
  EXPECT_EQ(made.operands()[3].dtype, DType::f32);
  EXPECT_EQ(made.operands()[3].lifetime, Lifetime::constant);
  EXPECT_THAT(made.operands()[4].sizes, ElementsAre(1, 4, 4));
  EXPECT_THAT(made.find_operand("out")->sizes, ElementsAre(1, 4, 4));
  EXPECT_EQ(made.name(), "gemm_m4_n8_k16_bias_swiglu_residual");
  for (const Problem& each : problems()) {
    const auto again = operation().problem(each.to_json());
    ASSERT_TRUE(again) << each.name() << ": " << again.error().message;
    EXPECT_EQ(again->signature(), each.signature());
    EXPECT_EQ(again->key(), each.key());
  }
}

TEST(EpilogueTest, RightKernelsPassFusedOrNot) {
  for (const Problem& problem : problems()) {
    for (const InputKind kind : operation().useful_kinds(problem)) {
      const auto instance = instance_of(problem, kind, 3);
      ASSERT_TRUE(instance);
      const auto derived = *instance->derive(17);
      for (const Instance* each : {instance.get(), derived.get()}) {
        for (const bool unfused : {false, true}) {
          const Check check = each->check(run(*each, {.order = Order::lanes, .unfused = unfused}));
          EXPECT_TRUE(check.right)
              << problem.signature() << " " << to_string(kind) << ": " << text(check);
          EXPECT_EQ(check.compared, check.elements);
        }
      }
    }
  }
}

// A kernel that leaves out a step, or all of them, or does them for half of the columns, is wrong
// for inputs that say something of it.
TEST(EpilogueTest, StepsThatAreLeftOutAreFound) {
  for (const Problem& problem : problems()) {
    const auto steps = epilogue_of(problem)->steps().size();
    for (size_t kept = 0; kept < steps; ++kept) {
      bool found = false;
      for (const InputKind kind : operation().useful_kinds(problem)) {
        const auto instance = instance_of(problem, kind, 5);
        found = found || !instance->check(run(*instance, {.steps = kept})).right;
      }
      EXPECT_TRUE(found) << problem.signature() << ": " << kept << " of " << steps;
    }
    bool found = false;
    for (const InputKind kind : operation().useful_kinds(problem)) {
      const auto instance = instance_of(problem, kind, 5);
      const int64_t half = problem.find_operand("out")->sizes[2] / 2;
      found = found || !instance->check(run(*instance, {.columns_with_epilogue = half})).right;
    }
    EXPECT_TRUE(found) << problem.signature();
  }
}

// erf against tanh is 1.5e-4 of 1: seen in float32, while bfloat16 cannot hold it.
TEST(EpilogueTest, TheFormsOfGeluAreToldApart) {
  for (const char* asked : {"bias+gelu", "bias+gelu_tanh"}) {
    const Problem problem = make({.m = 8, .n = 64, .k = 4096, .epilogue = asked});
    const std::string other = asked == std::string("bias+gelu") ? "bias+gelu_tanh" : "bias+gelu";
    const Problem pretended = make({.m = 8, .n = 64, .k = 4096, .epilogue = other});
    bool found = false;
    for (const InputKind kind : {InputKind::zeros, InputKind::identity}) {
      const auto instance = instance_of(problem, kind, 5);
      EXPECT_TRUE(instance->check(run(*instance)).right);
      // The same inputs and the other function.
      const auto right = run(*instance);
      std::vector<std::byte> wrong = right;
      for (int64_t i = 0; i < 8; ++i)
        for (int64_t j = 0; j < 64; ++j) {
          const auto bias = instance->input(3);
          double x = testing::get(problem, "bias", bias, 0, 0, j);
          if (kind != InputKind::zeros) continue;
          const double tanh_form =
              x / 2 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
          const double erf_form = x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
          testing::put(problem, "out", wrong, 0, i, j, other == "bias+gelu" ? erf_form : tanh_form);
        }
      found = found || !instance->check(wrong).right;
    }
    EXPECT_TRUE(found) << asked;
  }
}

// One element, one step of its type: 1,000 places of exact inputs.
TEST(EpilogueTest, OneWrongElementIsFoundAnywhere) {
  for (const char* chain : {"bias+relu+residual", "bias+gelu", "swiglu"}) {
    const Problem problem = make({.m = 40, .n = 100, .k = 64, .epilogue = chain});
    const auto instance = instance_of(problem, InputKind::exact, 7);
    const auto right = run(*instance);
    ASSERT_TRUE(instance->check(right).right);
    const int64_t columns = problem.find_operand("out")->sizes[2];
    const CounterRandom random{9, 9};
    for (uint64_t trial = 0; trial < 1000; ++trial) {
      const auto i = static_cast<int64_t>(random.below(2 * trial, 40));
      const auto j =
          static_cast<int64_t>(random.below(2 * trial + 1, static_cast<uint64_t>(columns)));
      std::vector<std::byte> out = right;
      const double value = testing::get(problem, "out", out, 0, i, j);
      testing::put(problem, "out", out, 0, i, j, value + std::max(1e-4 * std::fabs(value), 1e-3));
      const Check check = instance->check(out);
      ASSERT_FALSE(check.right) << chain << " " << i << " " << j;
      EXPECT_EQ(check.wrong, 1);
    }
  }
}

// A NaN that comes to a step comes through it, unless it is compared with something.
TEST(EpilogueTest, DroppedNansAreFound) {
  for (const char* chain : {"bias", "bias+gelu+residual", "silu", "scale+gelu_tanh", "swiglu"}) {
    const Problem problem = make({.m = 12, .n = 40, .k = 64, .epilogue = chain});
    const auto instance = instance_of(problem, InputKind::non_finite, 7);
    const auto right = run(*instance);
    ASSERT_TRUE(instance->check(right).right) << chain << text(instance->check(right));
    std::vector<std::byte> out = right;
    int dropped = 0;
    const int64_t columns = problem.find_operand("out")->sizes[2];
    for (int64_t i = 0; i < 12; ++i)
      for (int64_t j = 0; j < columns; ++j)
        if (std::isnan(testing::get(problem, "out", out, 0, i, j))) {
          testing::put(problem, "out", out, 0, i, j, 0);
          ++dropped;
        }
    EXPECT_GT(dropped, 12) << chain;
    EXPECT_GE(instance->check(out).wrong, 12) << chain;
  }
}

TEST(EpilogueTest, LooksAtTimedLaunchesFindWhatIsLeftOut) {
  for (const Problem& problem : problems()) {
    const auto instance = instance_of(problem, InputKind::uniform, 11);
    const bool has_function = problem.name().find("elu") != std::string::npos;
    int found = 0;
    for (uint64_t launch = 1; launch <= 8; ++launch) {
      const InputSeeds seeds{.set = 77, .launch = launch};
      const Check check = instance->check(run(*instance, seeds), seeds);
      EXPECT_TRUE(check.right) << problem.signature() << ": " << text(check);
      EXPECT_GT(check.compared, 0);
      if (!instance->check(run(*instance, seeds, {.steps = 0}), seeds).right) ++found;
      EXPECT_FALSE(
          instance->check(run(*instance, {.set = 77, .launch = launch + 100}), seeds).right &&
          problem.dimension("m") > 1 && has_function)
          << problem.signature();
    }
    EXPECT_GT(found, 0) << problem.signature();
  }
}

// Behind a function nothing but a look at its own batch tells of a batch that was left out.
TEST(EpilogueTest, ALookMeetsMoreBatchesThanOne) {
  const Problem problem =
      make({.m = 3, .n = 8, .k = 16, .batch = 64, .layout = "tt", .epilogue = "bias+gelu"});
  const auto instance = instance_of(problem, InputKind::uniform, 11);
  for (uint64_t launch = 1; launch <= 4; ++launch) {
    const InputSeeds seeds{.set = 77, .launch = launch};
    std::vector<std::byte> out = run(*instance, seeds);
    ASSERT_TRUE(instance->check(out, seeds).right);
    const auto left = static_cast<int64_t>(13 * launch);
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 8; ++j) testing::put(problem, "out", out, left, i, j, 0);
    EXPECT_FALSE(instance->check(out, seeds).right) << left;
  }
}

// What a GPU does for the referee, on the host.
class HostCalculator final : public Calculator {
 public:
  struct Bytes final : Memory {
    const void* data() const override { return bytes.data(); }
    std::vector<std::byte> bytes;
  };
  Result<std::shared_ptr<const Memory>> keep(std::span<const std::byte> bytes) override {
    auto made = std::make_shared<Bytes>();
    made->bytes.assign(bytes.begin(), bytes.end());
    return made;
  }
  Status read(const void* memory, std::span<std::byte> to) override {
    if (!to.empty()) std::memcpy(to.data(), memory, to.size());
    return {};
  }
  double multiplications_of_a_look() const override { return look; }
  bool has_room() const override { return true; }
  Result<std::shared_ptr<const Memory>> renew(const Renewal& renewal, size_t bytes) override {
    auto made = std::make_shared<Bytes>();
    made->bytes.resize(bytes);
    assay::renew(renewal, made->bytes);
    return made;
  }
  Result<Product> multiply(const Matrix& a, const Matrix& b) override {
    std::vector<double> product, magnitude;
    const auto at = [](const Matrix& matrix, int64_t i, int64_t j) {
      return load_as_double(matrix.dtype, static_cast<const std::byte*>(matrix.data) +
                                              (i * matrix.row_stride + j * matrix.column_stride) *
                                                  size_bytes(matrix.dtype));
    };
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t j = 0; j < b.columns; ++j) {
        double sum = 0, size = 0;
        for (int64_t p = 0; p < a.columns; ++p) {
          sum += at(a, i, p) * at(b, p, j);
          size += std::fabs(at(a, i, p) * at(b, p, j));
        }
        product.push_back(sum);
        magnitude.push_back(size);
      }
    }
    return Product{*keep(std::as_bytes(std::span(product))),
                   *keep(std::as_bytes(std::span(magnitude))), a.rows, b.columns};
  }
  Result<Comparison> compare(const Matrix&, const Product&, const Matrix*, const Rule&) override {
    return fail(ErrorCode::internal, "not behind an epilogue");
  }

  double look = 1e9;
};

TEST(EpilogueTest, ACalculatorComesToTheSameVerdicts) {
  for (const Problem& problem : problems()) {
    HostCalculator calculator;
    const auto check_on = [&](const Instance& instance, const std::vector<std::byte>& out,
                              const InputSeeds& seeds) {
      const auto& calculated = dynamic_cast<const CalculatedInstance&>(instance);
      const auto check =
          calculated.check_on(calculator, out.data(), seeds, ErrorBound::elementwise);
      EXPECT_TRUE(check) << check.error().message;
      return check ? *check : Check{};
    };
    for (const InputKind kind : operation().useful_kinds(problem)) {
      const auto instance = instance_of(problem, kind, 3);
      const Check check = check_on(*instance, run(*instance), {});
      EXPECT_TRUE(check.right) << problem.signature() << " " << to_string(kind) << ": "
                               << text(check);
      EXPECT_EQ(check.compared, check.elements);
      const auto wrong = run(*instance, {.steps = 0});
      EXPECT_EQ(check_on(*instance, wrong, {}).right, instance->check(wrong).right)
          << problem.signature() << " " << to_string(kind);
    }
    // All of a timed launch's output, or some.
    const auto instance = instance_of(problem, InputKind::uniform, 11);
    for (const double look : {1e9, 600.0}) {
      calculator.look = look;
      int found = 0;
      for (uint64_t launch = 1; launch <= 6; ++launch) {
        const InputSeeds seeds{.set = 5, .launch = launch};
        const Check check = check_on(*instance, run(*instance, seeds), seeds);
        EXPECT_TRUE(check.right) << problem.signature() << ": " << text(check);
        EXPECT_GT(check.compared, 0);
        if (!check_on(*instance, run(*instance, seeds, {.steps = 0}), seeds).right) ++found;
      }
      EXPECT_GT(found, 0) << problem.signature() << " " << look;
    }
  }
}

TEST(EpilogueTest, ACalculatorFindsTheLastElementOfALargeOutput) {
  // Several strips of rows on up to 65 cores, and all columns of an output that lies by columns.
  for (const char* layout : {"ttt", "ttn"}) {
    const Problem problem =
        make({.m = 2100, .n = 16, .k = 1, .layout = layout, .epilogue = "bias+relu"});
    const auto instance = instance_of(problem, InputKind::exact);
    const auto& calculated = dynamic_cast<const CalculatedInstance&>(*instance);
    HostCalculator calculator;
    auto out = run(*instance);
    const auto check = [&] {
      const auto made = calculated.check_on(calculator, out.data(), {}, ErrorBound::elementwise);
      EXPECT_TRUE(made) << made.error().message;
      return made ? *made : Check{};
    };
    const Check right = check();
    EXPECT_TRUE(right.right) << text(right);
    EXPECT_EQ(right.compared, 2100 * 16);
    float last = 0;
    std::memcpy(&last, out.data() + out.size() - sizeof(last), sizeof(last));
    last += 1;
    std::memcpy(out.data() + out.size() - sizeof(last), &last, sizeof(last));
    const Check wrong = check();
    EXPECT_EQ(wrong.wrong, 1);
    EXPECT_THAT(wrong.first_wrong, HasSubstr("[0,2099,15]"));
  }
}

TEST(EpilogueTest, CountsItsWork) {
  const Work plain = operation().work(make({.m = 4, .n = 8, .k = 16}));
  const Work with =
      operation().work(make({.m = 4, .n = 8, .k = 16, .epilogue = "bias+relu+residual"}));
  EXPECT_EQ(with.flops, plain.flops + 3 * 4 * 8);
  EXPECT_EQ(with.bytes_read, plain.bytes_read + 4 * (8 + 4 * 8));
  const Work gated = operation().work(make({.m = 4, .n = 8, .k = 16, .epilogue = "swiglu"}));
  EXPECT_EQ(gated.bytes_written, plain.bytes_written / 2);
}

TEST(EpilogueTest, ImpostorsThatLeaveItOutAreFound) {
  const Problem problem = make({.m = 16, .n = 32, .k = 64, .epilogue = "bias+gelu+residual"});
  const auto names = operation().impostors();
  size_t pretended = 0;
  for (size_t impostor = 0; impostor < names.size(); ++impostor) {
    bool found = false;
    for (const InputKind kind : operation().useful_kinds(problem)) {
      const auto instance = instance_of(problem, kind, 2);
      std::vector<std::byte> out(static_cast<size_t>(problem.find_operand("out")->span_bytes));
      if (!operation().pretend(impostor, *instance, out)) continue;
      ++pretended;
      found = found || !instance->check(out).right;
    }
    EXPECT_TRUE(found) << names[impostor];
  }
  EXPECT_GT(pretended, 20U);
}

}  // namespace
}  // namespace assay::gemm
