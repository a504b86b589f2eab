#include "assay/kernel/problem_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "assay/base/random.h"
#include "assay/kernel/testing/toy_family.h"
#include "assay/op/testing/with_epilogue.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

Problem make(const gemm::Shape& shape) {
  auto problem = gemm::problem(shape);
  EXPECT_TRUE(problem) << problem.error().message;
  return *problem;
}

std::vector<std::pair<Reason, std::string>> reasons(const ProblemRule& rule, const Problem* problem,
                                                    const Target* target = nullptr) {
  std::vector<std::pair<Reason, std::string>> list;
  for (const Refusal& refusal : rule.match(problem, target)) {
    list.emplace_back(refusal.reason, refusal.sentence);
  }
  return list;
}

std::vector<std::pair<Reason, std::string>> reasons(const ProblemRule& rule,
                                                    const Problem& problem) {
  return reasons(rule, &problem);
}

TEST(ProblemRule, TakesWhatFitsAndAnythingWhenNothingIsAsked) {
  const Problem problem = make({.m = 64, .n = 96, .k = 128});
  EXPECT_THAT(reasons(testing::gemm_rule(), problem), IsEmpty());
  EXPECT_THAT(reasons(testing::gemm_rule(DType::f64), nullptr), IsEmpty());
}

TEST(ProblemRule, NamesTheSizeThatDoesNotDivide) {
  ProblemRule rule = testing::gemm_rule();
  rule.operands[0].divisibility = 8;
  EXPECT_THAT(reasons(rule, make({.m = 64, .n = 96, .k = 100})),
              ElementsAre(Pair(Reason::divisibility, "k=100 is not a multiple of 8 (operand a)")));
  EXPECT_THAT(reasons(rule, make({.m = 64, .n = 96, .k = 104})), IsEmpty());
}

TEST(ProblemRule, DividesTheContiguousDimension) {
  ProblemRule rule = testing::gemm_rule();
  rule.operands[1].divisibility = 8;
  // b is (k, n): n is contiguous row-major, k column-major.
  EXPECT_THAT(reasons(rule, make({.m = 5, .n = 100, .k = 64, .layout = "tt"})),
              ElementsAre(Pair(Reason::divisibility, HasSubstr("n=100"))));
  EXPECT_THAT(reasons(rule, make({.m = 5, .n = 100, .k = 64, .layout = "tn"})), IsEmpty());
}

TEST(ProblemRule, GivesEveryReason) {
  ProblemRule rule = testing::gemm_rule(DType::bf16);
  rule.accumulate = {DType::f64};
  rule.batch = false;
  rule.operands[1].prepared = true;
  const auto all =
      reasons(rule, testing::with_epilogue(
                        make({.m = 8, .n = 8, .k = 8, .batch = 3, .alpha = 2, .beta = 1}), "relu"));
  std::vector<Reason> codes;
  for (const auto& [reason, sentence] : all) codes.push_back(reason);
  EXPECT_THAT(codes, ::testing::UnorderedElementsAre(
                         Reason::dtype, Reason::dtype, Reason::dtype, Reason::not_constant,
                         Reason::accumulate, Reason::epilogue, Reason::batch, Reason::scalars,
                         Reason::scalars, Reason::scalars));
}

TEST(ProblemRule, SentencesSayWhatIsAndWhatIsTaken) {
  ProblemRule rule = testing::gemm_rule();
  rule.operands[0].dtypes = {DType::f16, DType::bf16};
  EXPECT_THAT(reasons(rule, make({.m = 8, .n = 8, .k = 8})),
              ElementsAre(Pair(Reason::dtype, "operand a is f32; this takes f16 or bf16")));
  rule = testing::gemm_rule();
  rule.operands[1].major = Major::row;
  EXPECT_THAT(reasons(rule, make({.m = 8, .n = 9, .k = 10, .layout = "tn"})),
              ElementsAre(Pair(Reason::layout, "operand b is column-major; this takes row-major")));
  EXPECT_THAT(
      reasons(testing::gemm_rule(), testing::with_epilogue(make({.m = 8, .n = 8, .k = 8}), "gelu")),
      ElementsAre(Pair(Reason::epilogue, "this has no epilogue gelu")));
  rule = testing::gemm_rule();
  rule.operation = "attention";
  EXPECT_THAT(reasons(rule, make({.m = 8, .n = 8, .k = 8})),
              ElementsAre(Pair(Reason::operation, "computes attention, not gemm")));
}

TEST(ProblemRule, TakesEpiloguesAndScalarsThatItDeclares) {
  ProblemRule rule = testing::gemm_rule();
  rule.epilogues = {"gelu"};
  rule.scalars = true;
  rule.operands.push_back({.role = "c", .dtypes = {DType::f32}});
  EXPECT_THAT(reasons(rule, testing::with_epilogue(
                                make({.m = 8, .n = 8, .k = 8, .alpha = 3, .beta = 0.5}), "gelu")),
              IsEmpty());
}

TEST(ProblemRule, TakesTheEpiloguesThatItNamesAlone) {
  const Problem none = make({.m = 8, .n = 8, .k = 8});
  const Problem fused = make({.m = 8, .n = 8, .k = 8, .epilogue = "bias+relu"});
  ProblemRule rule = testing::gemm_rule();
  EXPECT_THAT(reasons(rule, fused),
              ElementsAre(Pair(Reason::epilogue, "this has no epilogue bias+relu")));
  rule.epilogues = {"bias+relu"};
  rule.operands.push_back({.role = "bias", .dtypes = {DType::f32}});
  EXPECT_THAT(reasons(rule, fused), IsEmpty());
  EXPECT_THAT(reasons(rule, none),
              ElementsAre(Pair(Reason::epilogue, "this always has the epilogue bias+relu")));
  rule.epilogues.push_back("none");
  EXPECT_THAT(reasons(rule, none), IsEmpty());
  rule = testing::gemm_rule();
  const std::vector<std::string_view> steps = {"bias", "relu", "clamp"}, operands = {"bias"};
  rule.take_steps(steps, operands, {DType::f32});
  EXPECT_THAT(reasons(rule, none), IsEmpty());
  EXPECT_THAT(reasons(rule, fused), IsEmpty());
  EXPECT_TRUE(rule.takes_epilogue("clamp:0:6+bias"));
  EXPECT_FALSE(rule.takes_epilogue("bias+gelu"));
  const auto again = ProblemRule::from_json(rule.to_json());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, rule);
}

TEST(ProblemRule, ComparesTargets) {
  ProblemRule rule = testing::gemm_rule();
  rule.targets = {*Target::parse("x86_64+avx2+fma")};
  const Target new_cpu = *Target::parse("x86_64+avx2+avx512f+fma");
  const Target old_cpu = *Target::parse("x86_64+avx2");
  const Target other = *Target::parse("aarch64+asimd");
  EXPECT_THAT(reasons(rule, nullptr, &new_cpu), IsEmpty());
  EXPECT_THAT(reasons(rule, nullptr, &old_cpu),
              ElementsAre(Pair(Reason::target, "needs fma, which the target lacks")));
  EXPECT_THAT(reasons(rule, nullptr, &other),
              ElementsAre(Pair(Reason::target, "needs x86_64+avx2+fma; the target is aarch64")));
}

Problem with_operand(Operand operand) {
  Problem::Parts parts;
  parts.operation = "gemm";
  parts.name = "made";
  parts.dimensions = {{"m", 6}, {"k", 10}};
  parts.operands.push_back(std::move(operand));
  return Problem::from_parts(std::move(parts));
}

TEST(ProblemRule, ChecksAlignmentOfTheFirstElementAndOfStrides) {
  const ProblemRule rule = {
      .operands = {{.role = "a", .dtypes = {DType::f32}, .major = Major::row, .alignment = 16}}};
  Operand a = {.role = "a", .dtype = DType::f32, .sizes = {1, 6, 10}, .strides = {72, 12, 1}};
  a.alignment = 64;
  EXPECT_THAT(reasons(rule, with_operand(a)), IsEmpty());
  a.strides = {60, 10, 1};
  EXPECT_THAT(reasons(rule, with_operand(a)),
              ElementsAre(Pair(Reason::alignment, HasSubstr("stride of 10 elements of f32"))));
  a.strides = {72, 12, 1};
  a.alignment = 8;
  EXPECT_THAT(
      reasons(rule, with_operand(a)),
      ElementsAre(Pair(Reason::alignment, "operand a promises 8-byte alignment; this needs 16")));
}

TEST(ProblemRule, RefusesRowsThatOverlapOrAreScattered) {
  const ProblemRule rule = {
      .operands = {{.role = "a", .dtypes = {DType::f32}, .major = Major::row}}};
  Operand a = {.role = "a", .dtype = DType::f32, .sizes = {1, 6, 10}, .strides = {60, 20, 2}};
  EXPECT_THAT(reasons(rule, with_operand(a)), ElementsAre(Pair(Reason::stride, HasSubstr("2"))));
  a.strides = {60, 3, 1};
  EXPECT_THAT(reasons(rule, with_operand(a)), ElementsAre(Pair(Reason::stride, HasSubstr("3"))));
  a.sizes = {1, 1, 10};  // A single row overlaps nothing.
  EXPECT_THAT(reasons(rule, with_operand(a)), IsEmpty());
}

// The rule's answer against the same question asked in the plainest way, over random problems.
TEST(ProblemRule, AgreesWithAPlainReadingOfItself) {
  const CounterRandom random{7, 1};
  uint64_t at = 0;
  const auto pick = [&](uint64_t bound) { return random.below(at++, bound); };
  constexpr DType kTypes[] = {DType::f32, DType::f64, DType::bf16};
  int taken = 0;
  for (int round = 0; round < 3000; ++round) {
    gemm::Shape shape{.m = static_cast<int64_t>(1 + pick(40)),
                      .n = static_cast<int64_t>(1 + pick(40)),
                      .k = static_cast<int64_t>(1 + pick(40)),
                      .batch = static_cast<int64_t>(1 + pick(2)),
                      .dtype = kTypes[pick(3)]};
    const bool a_rows = pick(2) == 0, b_rows = pick(2) == 0, constant = pick(2) == 0;
    shape.layout = std::string(a_rows ? "t" : "n") + (b_rows ? "t" : "n");
    if (constant) shape.constant = {"b"};
    if (pick(4) == 0) shape.alpha = 2;
    const Problem problem = make(shape);

    ProblemRule rule = testing::gemm_rule(kTypes[pick(2)]);
    rule.operands[0].major = a_rows ? Major::row : Major::column;
    const int64_t divisibility = int64_t{1} << pick(3);
    rule.operands[0].divisibility = divisibility;
    rule.operands[1].prepared = pick(2) == 0;
    rule.batch = pick(2) == 0;
    rule.scalars = pick(2) == 0;
    const bool fits = rule.operands[0].dtypes[0] == shape.dtype &&
                      (a_rows ? shape.k : shape.m) % divisibility == 0 &&
                      (!rule.operands[1].prepared || constant) &&
                      (rule.batch || shape.batch == 1) && (rule.scalars || shape.alpha == 1);
    EXPECT_EQ(rule.match(&problem, nullptr).empty(), fits)
        << canonical(rule.to_json()) << " on " << problem.signature();
    taken += fits;

    auto again = ProblemRule::from_json(rule.to_json());
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, rule);
  }
  EXPECT_GT(taken, 50);
}

TEST(ProblemRule, HostileJsonIsAnErrorThatNamesTheField) {
  const auto error = [](std::string_view text) {
    auto rule = ProblemRule::from_json(Json::parse(text));
    return rule ? std::string("accepted") : rule.error().message;
  };
  EXPECT_THAT(error("[]"), HasSubstr("must be an object"));
  EXPECT_THAT(error(R"({"operands": []})"), HasSubstr("operation"));
  EXPECT_THAT(error(R"({"operation": "gemm", "operands": [{"role": "a", "dtypes": ["f31"]}]})"),
              HasSubstr("operands[0].dtypes[0]"));
  EXPECT_THAT(error(R"({"operation": "gemm", "operands": [{"role": "a", "dtypes": [],
                        "divisibility": 0}]})"),
              HasSubstr("operands[0].divisibility"));
  EXPECT_THAT(error(R"({"operation": "gemm", "operands": [{"role": "a", "dtypes": [],
                        "major": "diagonal"}]})"),
              HasSubstr("must be any, row or column"));
  EXPECT_THAT(error(R"({"operation": "gemm", "operands": [{"role": "a", "dtypes": []},
                        {"role": "a", "dtypes": []}]})"),
              HasSubstr("operands[1]"));
  EXPECT_THAT(error(R"({"operation": "gemm", "operands": [], "targets": ["x86_64++"]})"),
              HasSubstr("targets[0]"));
  EXPECT_THAT(error(R"({"operation": "gemm", "operands": [], "epilogues": ["softmax"]})"),
              HasSubstr("epilogues[0]: the epilogue step 'softmax' has no reference"));
}

}  // namespace
}  // namespace assay
