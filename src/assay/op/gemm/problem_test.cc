#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "assay/op/gemm/gemm.h"

namespace assay::gemm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(const Result<Problem>& problem) {
  return problem ? "no error: " + problem->signature() : problem.error().message;
}

Shape small() {
  Shape shape;
  shape.m = 4, shape.n = 8, shape.k = 16;
  return shape;
}
template <class Change>
std::string refusal(Change change) {
  Shape shape = small();
  change(shape);
  return error_of(problem(shape));
}

std::vector<int64_t> strides(const Problem& problem, std::string_view role) {
  return problem.find_operand(role)->strides;
}

TEST(GemmProblemTest, NamesAreMadeFromSizes) {
  const auto plain =
      problem(Shape{.m = 256, .n = 1024, .k = 128, .dtype = DType::f64, .layout = "tt"});
  ASSERT_TRUE(plain) << error_of(plain);
  EXPECT_EQ(plain->name(), "gemm_m256_n1024_k128");
  EXPECT_EQ(plain->dimension("k"), 128);
  EXPECT_EQ(plain->dimension("q"), 0);
  const auto role =
      problem(Shape{.role = "decode mlp", .m = 4096, .n = 4096, .k = 8192, .batch = 2});
  ASSERT_TRUE(role);
  EXPECT_EQ(role->name(), "decode_mlp_l2_m4096_n4096_k8192");
  EXPECT_EQ(role->role(), "decode mlp");
}

TEST(GemmProblemTest, LayoutLettersBecomeStrides) {
  const auto tn = problem(small());
  ASSERT_TRUE(tn) << error_of(tn);
  EXPECT_EQ(strides(*tn, "a"), (std::vector<int64_t>{64, 16, 1}));
  EXPECT_EQ(strides(*tn, "b"), (std::vector<int64_t>{128, 1, 16}));  // Stored [n, k].
  EXPECT_EQ(strides(*tn, "out"), (std::vector<int64_t>{32, 8, 1}));
  EXPECT_EQ(tn->layout(), "tn");
  EXPECT_EQ(layout_string(*tn, true), "tnt");

  Shape shape = small();
  shape.layout = "ntn";
  shape.lda = 5, shape.ldb = 9, shape.ldout = 7, shape.batch = 3;
  const auto ntn = problem(shape);
  ASSERT_TRUE(ntn) << error_of(ntn);
  EXPECT_EQ(strides(*ntn, "a"), (std::vector<int64_t>{80, 1, 5}));
  EXPECT_EQ(strides(*ntn, "b"), (std::vector<int64_t>{144, 9, 1}));
  EXPECT_EQ(strides(*ntn, "out"), (std::vector<int64_t>{56, 1, 7}));
  EXPECT_EQ(layout_string(*ntn, true), "ntn");
}

TEST(GemmProblemTest, DefaultsOfTypes) {
  Shape shape = small();
  EXPECT_EQ(view(*problem(shape))->accumulate, DType::f32);
  shape.dtype = DType::bf16;
  EXPECT_EQ(view(*problem(shape))->accumulate, DType::f32);
  EXPECT_EQ(view(*problem(shape))->out, DType::bf16);
  shape.dtype = DType::f64;
  EXPECT_EQ(view(*problem(shape))->accumulate, DType::f64);
  shape.dtype = DType::s8;
  EXPECT_EQ(view(*problem(shape))->accumulate, DType::s32);
  EXPECT_EQ(view(*problem(shape))->out, DType::s32);
}

TEST(GemmProblemTest, WrongSizesAreNamed) {
  for (int64_t bad : {int64_t{0}, int64_t{-1}, int64_t{1} << 31,
                      std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    EXPECT_THAT(refusal([&](Shape& s) { s.m = bad; }), StartsWith("m: "));
    EXPECT_THAT(refusal([&](Shape& s) { s.n = bad; }), StartsWith("n: "));
    EXPECT_THAT(refusal([&](Shape& s) { s.k = bad; }), StartsWith("k: "));
    EXPECT_THAT(refusal([&](Shape& s) { s.batch = bad; }), StartsWith("batch: "));
  }
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  EXPECT_THAT(refusal([&](Shape& s) { s.m = s.k = kMost; }), HasSubstr("2^46"));
  EXPECT_THAT(refusal([&](Shape& s) { s.m = s.n = s.k = s.batch = kMost; }), HasSubstr("2^46"));
  EXPECT_THAT(refusal([&](Shape& s) { s.lda = std::numeric_limits<int64_t>::max(); }),
              StartsWith("lda: "));
  // Three operands that fit alone but not together.
  EXPECT_THAT(refusal([&](Shape& s) {
                s.m = s.n = s.k = int64_t{1} << 22;
                s.dtype = DType::f32;
              }),
              HasSubstr("together"));
}

TEST(GemmProblemTest, WrongLeadingDimensionsAndLayouts) {
  EXPECT_THAT(refusal([](Shape& s) { s.lda = 15; }),
              AllOf(StartsWith("lda: 15"), HasSubstr("k = 16")));
  EXPECT_THAT(refusal([](Shape& s) { s.ldb = 0; }), StartsWith("ldb: "));
  EXPECT_THAT(refusal([](Shape& s) { s.ldout = -8; }), StartsWith("ldout: "));
  EXPECT_THAT(refusal([](Shape& s) { s.layout = "xt"; }),
              AllOf(StartsWith("layout: "), HasSubstr("row-major")));
  EXPECT_THAT(refusal([](Shape& s) { s.layout = ""; }), StartsWith("layout: "));
  EXPECT_THAT(refusal([](Shape& s) { s.layout = "tnnt"; }), StartsWith("layout: "));
}

TEST(GemmProblemTest, WrongTypesAreRefusedWithReasons) {
  EXPECT_THAT(refusal([](Shape& s) { s.dtype = DType::tf32; }), HasSubstr("by name only"));
  EXPECT_THAT(refusal([](Shape& s) { s.b = DType::f8_e4m3; }), StartsWith("b: f8_e4m3"));
  EXPECT_THAT(refusal([](Shape& s) { s.a = DType::s8; }), StartsWith("b: f32 with a of s8"));
  EXPECT_THAT(refusal([](Shape& s) { s.a = s.b = DType::s32; }), StartsWith("a: s32"));
  EXPECT_THAT(refusal([](Shape& s) { s.accumulate = DType::f16; }),
              AllOf(StartsWith("accumulate: f16"), HasSubstr("use f32")));
  EXPECT_THAT(refusal([](Shape& s) {
                s.dtype = DType::bf16;
                s.accumulate = DType::f16;
              }),
              StartsWith("accumulate: f16"));
  EXPECT_THAT(refusal([](Shape& s) { s.out = DType::s32; }), StartsWith("out: s32"));
  EXPECT_THAT(refusal([](Shape& s) {
                s.dtype = DType::s8;
                s.out = DType::f32;
              }),
              StartsWith("out: f32"));
  EXPECT_THAT(refusal([](Shape& s) {
                s.dtype = DType::s8;
                s.accumulate = DType::f32;
              }),
              StartsWith("accumulate: f32"));
}

TEST(GemmProblemTest, WrongScalarsAndNames) {
  EXPECT_THAT(refusal([](Shape& s) { s.alpha = std::nan(""); }), StartsWith("alpha: "));
  EXPECT_THAT(refusal([](Shape& s) { s.beta = HUGE_VAL; }), StartsWith("beta: "));
  EXPECT_THAT(refusal([](Shape& s) {
                s.dtype = DType::s8;
                s.alpha = 0.5;
              }),
              StartsWith("alpha: "));
  EXPECT_THAT(refusal([](Shape& s) { s.weight = 0; }), StartsWith("weight: "));
  EXPECT_THAT(refusal([](Shape& s) { s.name = "a/b"; }), StartsWith("name: "));
  EXPECT_THAT(refusal([](Shape& s) { s.name = ".."; }), StartsWith("name: "));
  EXPECT_THAT(refusal([](Shape& s) { s.role = "two\nlines"; }), StartsWith("role: "));
  // Nothing could tell a kernel that leaves it out from one that computes it.
  for (const char* name : {"softmax", "none", "identity", "\x1b[2J"})
    EXPECT_THAT(refusal([&](Shape& s) { s.epilogue = name; }),
                AllOf(StartsWith("epilogue: the epilogue step '"),
                      HasSubstr("steps that have one: bias, row_bias, ")));
  EXPECT_THAT(refusal([](Shape& s) { s.constant = {"out"}; }),
              AllOf(StartsWith("constant: out"), HasSubstr("inputs")));
  EXPECT_THAT(refusal([](Shape& s) { s.constant = {"w"}; }), StartsWith("constant: 'w'"));
  EXPECT_THAT(refusal([](Shape& s) { s.constant = {"c"}; }), HasSubstr("beta is 0"));
  EXPECT_THAT(refusal([](Shape& s) { s.constant = {"b", "b"}; }), HasSubstr("twice"));
}

TEST(GemmProblemTest, KeysHoldWhatResultsAreMatchedBy) {
  Shape shape = small();
  shape.constant = {"b"};
  const Problem first = *problem(shape);
  EXPECT_TRUE(first.has_constant());
  EXPECT_EQ(first.find_operand("b")->lifetime, Lifetime::constant);
  shape.role = "decode";
  shape.name = first.name();
  shape.weight = 32;
  const Problem same = *problem(shape);
  EXPECT_EQ(same.key(), first.key());
  EXPECT_EQ(same.signature(), first.signature());
  shape.constant = {};
  EXPECT_NE(problem(shape)->key(), first.key());
  EXPECT_NE(problem(shape)->signature(), first.signature());
  shape.constant = {"b"};
  shape.layout = "tt";
  EXPECT_NE(problem(shape)->key(), first.key());
  shape.layout = "tn";
  shape.name = "other";
  EXPECT_NE(problem(shape)->key(), first.key());
  EXPECT_EQ(problem(shape)->signature(), first.signature());
  shape.alpha = 2;
  EXPECT_NE(problem(shape)->signature(), first.signature());
}

void expect_round_trip(const Problem& problem) {
  const Json json = problem.to_json();
  EXPECT_EQ(json.at("operation"), "gemm");
  const auto again = operation().problem(*parse_json(canonical(json), "test"));
  ASSERT_TRUE(again) << error_of(again) << "\n" << canonical(json);
  EXPECT_EQ(again->signature(), problem.signature());
  EXPECT_EQ(again->key(), problem.key());
  EXPECT_EQ(again->name(), problem.name());
  EXPECT_EQ(again->role(), problem.role());
  EXPECT_EQ(again->weight(), problem.weight());
  EXPECT_EQ(again->to_json(), json);
}

TEST(GemmProblemTest, JsonMakesTheSameProblem) {
  expect_round_trip(*problem(small()));
  Shape shape = small();
  shape.role = "kv_proj";
  shape.batch = 5;
  shape.a = DType::f16, shape.b = DType::bf16, shape.out = DType::f64;
  shape.layout = "ntn";
  shape.constant = {"b", "c"};
  shape.alpha = 0.1, shape.beta = -3;
  shape.weight = 32.5;
  shape.lda = 9, shape.ldb = 10, shape.ldout = 11;
  expect_round_trip(*problem(shape));
  shape = small();
  shape.m = 1, shape.layout = "nnn";
  expect_round_trip(*problem(shape));
}

TEST(GemmProblemTest, JsonErrorsNameTheField) {
  const auto error = [](const char* text) {
    return error_of(operation().problem(*parse_json(text, "test")));
  };
  EXPECT_THAT(error(R"([1])"), HasSubstr("object"));
  EXPECT_THAT(error(R"({"m": 4, "n": 4})"), StartsWith("k: missing"));
  EXPECT_THAT(error(R"({"m": 4, "n": 4, "k": "x"})"), StartsWith("k: \"x\""));
  EXPECT_THAT(error(R"({"m": 4, "n": 4, "k": 1.5})"), StartsWith("k: 1.5"));
  EXPECT_THAT(error(R"({"m": 4, "n": 4, "k": 18446744073709551615})"), StartsWith("k: "));
  EXPECT_THAT(error(R"({"m": 4, "n": 4, "k": 4, "layuot": "tn"})"),
              AllOf(StartsWith("layuot: "), HasSubstr("'layout'")));
  EXPECT_THAT(error(R"({"m": 4, "n": 4, "k": 4, "dtype": "f23"})"),
              AllOf(StartsWith("dtype: "), HasSubstr("'f32'")));
  EXPECT_THAT(error(R"({"m": 4, "n": 4, "k": 4, "constant": "b"})"), StartsWith("constant: "));
  EXPECT_THAT(error(R"({"m": 4, "n": 4, "k": 4, "alpha": "1"})"), StartsWith("alpha: "));
  EXPECT_THAT(error(R"({"m": 4, "n": 4, "k": 4, "operation": "conv"})"), StartsWith("operation: "));
  EXPECT_THAT(error(R"({"m": 4, "n": 4, "k": 4, "strides": {"a": [1, 2]}})"),
              StartsWith("strides: "));
  EXPECT_THAT(error(R"({"m": 4, "n": 4, "k": 4, "strides": {"a": [16, 0, 1]}})"),
              StartsWith("a: "));
  EXPECT_THAT(error(R"({"m": 4, "n": 4, "k": 4, "alignment": {"a": 3}})"), StartsWith("a: "));
}

TEST(GemmProblemTest, OutTakesTheTypeOfTheInputs) {
  const auto made =
      operation().problem(*parse_json(R"({"m":4,"n":4,"k":4,"a":"f16","b":"f16"})", "test"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->find_operand("out")->dtype, DType::f16);
}

TEST(GemmProblemTest, FieldsCoverEveryFieldOfAShape) {
  std::vector<std::string> names;
  for (const FieldRule& rule : operation().fields()) {
    names.push_back(rule.name);
    EXPECT_FALSE(rule.help.empty()) << rule.name;
  }
  EXPECT_THAT(names,
              ::testing::UnorderedElementsAre(
                  "m", "n", "k", "batch", "dtype", "a", "b", "out", "accumulate", "layout",
                  "constant", "alpha", "beta", "epilogue", "bias", "row_bias", "residual", "scale",
                  "column_scale", "row_scale", "lda", "ldb", "ldout", "name", "role", "weight"));
}

// Arguments over real memory.
struct Tensors {
  alignas(64) float a[2048], b[2048], out[2048], c[2048];
  Arguments arguments;
  Tensors() {
    arguments.a = *dense_view(a, DType::f32, std::vector<int64_t>{2, 4, 16});
    arguments.b = *dense_view(b, DType::f32, std::vector<int64_t>{2, 16, 8});
    arguments.out = *dense_view(out, DType::f32, std::vector<int64_t>{2, 4, 8});
  }
};

TEST(GemmArgumentsTest, MakeTheProblemThatAShapeMakes) {
  Tensors tensors;
  const auto made = problem(tensors.arguments);
  ASSERT_TRUE(made) << error_of(made);
  Shape shape = small();
  shape.batch = 2;
  shape.layout = "tt";
  EXPECT_EQ(made->signature(), problem(shape)->signature());
  EXPECT_EQ(made->key(), problem(shape)->key());
  expect_round_trip(*made);
}

TEST(GemmArgumentsTest, AnyStridesAndAlignmentsAreKept) {
  Tensors tensors;
  tensors.arguments.a.stride = {1, 6, 30};
  tensors.arguments.b.data = tensors.b + 1;
  tensors.arguments.out.stride = {500, 3, 40};
  const auto made = problem(tensors.arguments);
  ASSERT_TRUE(made) << error_of(made);
  EXPECT_EQ(strides(*made, "a"), (std::vector<int64_t>{1, 6, 30}));
  EXPECT_EQ(made->find_operand("b")->alignment, 4);
  EXPECT_EQ(made->find_operand("a")->alignment, 64);
  EXPECT_EQ(made->layout(), "ntn");
  expect_round_trip(*made);
}

TEST(GemmArgumentsTest, RankTwoIsOneBatchAndUnitStridesDoNotMatter) {
  Tensors tensors;
  Arguments& arguments = tensors.arguments;
  arguments.a = *dense_view(tensors.a, DType::f32, std::vector<int64_t>{1, 16});
  arguments.b = *dense_view(tensors.b, DType::f32, std::vector<int64_t>{16, 8});
  arguments.out = *dense_view(tensors.out, DType::f32, std::vector<int64_t>{1, 8});
  arguments.a.stride[0] = -77;  // Of one element: meaningless.
  const auto made = problem(arguments);
  ASSERT_TRUE(made) << error_of(made);
  EXPECT_EQ(made->dimension("l"), 1);
  EXPECT_EQ(made->signature(),
            problem(Shape{.m = 1, .n = 8, .k = 16, .layout = "tt"})->signature());
}

TEST(GemmArgumentsTest, MistakesAreNamed) {
  const auto error = [](auto change) {
    Tensors tensors;
    change(tensors.arguments, tensors);
    return error_of(problem(tensors.arguments));
  };
  EXPECT_THAT(error([](Arguments& x, Tensors&) { x.a.rank = 4; }), StartsWith("a: rank 4"));
  EXPECT_THAT(error([](Arguments& x, Tensors&) { x.b.size[1] = 15; }),
              AllOf(StartsWith("b: "), HasSubstr("k = 16")));
  EXPECT_THAT(error([](Arguments& x, Tensors&) { x.b.size[0] = 1; }), HasSubstr("l = 2"));
  EXPECT_THAT(error([](Arguments& x, Tensors&) { x.epilogue = "rellu"; }),
              StartsWith("epilogue: the epilogue step 'rellu' has no reference"));
  EXPECT_THAT(error([](Arguments& x, Tensors&) { x.epilogue = "bias"; }),
              StartsWith("bias: the epilogue bias needs an operand bias"));
  EXPECT_THAT(error([](Arguments& x, Tensors&) {
                x.epilogue = "bias+relu";
                x.epilogue_operands["bias"] = x.out;
              }),
              StartsWith("bias: it must have rank 1 and 8 elements"));
  EXPECT_THAT(error([](Arguments& x, Tensors&) {
                x.epilogue = "residual";
                x.epilogue_operands["residual"] = x.out;
                x.epilogue_operands["residual"].size[2] = 7;
              }),
              StartsWith("residual: out has n = 8 but residual has 7"));
  EXPECT_THAT(error([](Arguments& x, Tensors&) { x.epilogue_operands["bias"] = x.out; }),
              StartsWith("bias: the epilogue has no step"));
  EXPECT_THAT(error([](Arguments& x, Tensors&) { x.out.size[1] = 5; }), HasSubstr("m = 4"));
  EXPECT_THAT(error([](Arguments& x, Tensors&) { x.out.size[2] = 9; }), HasSubstr("n = 8"));
  EXPECT_THAT(error([](Arguments& x, Tensors&) { x.a.size[0] = 0; }), StartsWith("a: size 0"));
  EXPECT_THAT(error([](Arguments& x, Tensors&) { x.a.stride[1] = 0; }), StartsWith("a: stride 0"));
  EXPECT_THAT(error([](Arguments& x, Tensors&) { x.out.stride[2] = -1; }),
              StartsWith("out: stride -1"));
  EXPECT_THAT(error([](Arguments& x, Tensors&) { x.out.stride[0] = 16; }),
              AllOf(StartsWith("out: "), HasSubstr("overlap"), HasSubstr("at least 32")));
  EXPECT_THAT(error([](Arguments& x, Tensors&) { x.a.stride[0] = int64_t{1} << 62; }),
              HasSubstr("2^46"));
  EXPECT_THAT(error([](Arguments& x, Tensors&) { x.beta = 1; }), StartsWith("c: beta is 1"));
  EXPECT_THAT(error([](Arguments& x, Tensors& t) {
                x.beta = 1;
                x.c = *dense_view(t.c, DType::f64, std::vector<int64_t>{2, 4, 8});
              }),
              StartsWith("c: dtype f64"));
  EXPECT_THAT(error([](Arguments& x, Tensors& t) {
                x.beta = 1;
                x.c = *dense_view(t.c, DType::f32, std::vector<int64_t>{2, 8, 4});
              }),
              StartsWith("c: sizes"));
}

TEST(GemmArgumentsTest, CHasStridesOfItsOwn) {
  Tensors tensors;
  tensors.arguments.beta = 0.5;
  tensors.arguments.c = *dense_view(tensors.c, DType::f32, std::vector<int64_t>{2, 4, 8});
  tensors.arguments.c->stride = {64, 1, 8};
  const auto made = problem(tensors.arguments);
  ASSERT_TRUE(made) << error_of(made);
  const View v = *view(*made);
  EXPECT_TRUE(v.has_c);
  EXPECT_EQ(v.c_m, 1);
  EXPECT_EQ(v.c_n, 8);
  expect_round_trip(*made);
}

TEST(GemmWorkTest, CountsProductsOnceAndBytesOnce) {
  const Work plain =
      operation().work(*problem(Shape{.m = 2, .n = 3, .k = 5, .dtype = DType::f16, .lda = 100}));
  EXPECT_EQ(plain.flops, 2 * 2 * 3 * 5);
  EXPECT_EQ(plain.bytes_read, 2 * (2 * 5 + 5 * 3));
  EXPECT_EQ(plain.bytes_written, 2 * 2 * 3);
  const Work full =
      operation().work(*problem(Shape{.m = 2, .n = 3, .k = 5, .batch = 4, .alpha = 2, .beta = 1}));
  EXPECT_EQ(full.flops, 4 * (60 + 6 + 12));
  EXPECT_EQ(full.bytes_read, 4 * 4 * (10 + 15 + 6));
}

TEST(OperationTest, WordsAreThoseOfItsProblems) {
  for (const Operation* operation : built_in_operations()) {
    const OperationWords& words = operation->words();
    const auto problems = operation->telling_problems();
    ASSERT_TRUE(problems) << problems.error().message;
    for (const Problem& problem : *problems) {
      for (const auto& [name, size] : problem.dimensions())
        EXPECT_THAT(words.dimensions, ::testing::Contains(name));
      for (const Operand& operand : problem.operands()) {
        const OperationWords::Operand* word = words.find_operand(operand.role);
        ASSERT_NE(word, nullptr) << operand.role;
        EXPECT_EQ(word->output, operand.access != Access::read) << operand.role;
        if (word->of_step) continue;  // Its sizes are the step's affair.
        ASSERT_EQ(word->dimensions.size(), operand.sizes.size());
        for (size_t i = 0; i < operand.sizes.size(); ++i)
          // A gate makes one column of the output from two.
          EXPECT_THAT(operand.sizes[i],
                      ::testing::AnyOf(problem.dimension(word->dimensions[i]),
                                       word->output ? problem.dimension(word->dimensions[i]) / 2
                                                    : problem.dimension(word->dimensions[i])))
              << operand.role;
      }
      for (const OperationWords::Operand& word : words.operands)
        EXPECT_TRUE(word.optional || problem.find_operand(word.role) != nullptr) << word.role;
    }
    for (const std::string& weight : words.weights)
      EXPECT_NE(words.find_operand(weight), nullptr) << weight;
  }
}

TEST(OperationTest, GemmIsFoundByName) {
  const auto found = find_operation("gemm");
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)->name(), "gemm");
  const auto missing = find_operation("gem");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, AllOf(HasSubstr("'gem'"), HasSubstr("Known: gemm")));
}

TEST(OperationTest, KindsHaveNames) {
  for (InputKind kind : all_input_kinds()) EXPECT_EQ(find_input_kind(to_string(kind)), kind);
  EXPECT_FALSE(find_input_kind("unknown"));
}

}  // namespace
}  // namespace assay::gemm
