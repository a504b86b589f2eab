#include "assay/input/suite.h"

#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/op/operation.h"

namespace assay::input {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> names(const Suite& suite) {
  std::vector<std::string> list;
  for (const Problem& problem : suite.problems) list.push_back(problem.name());
  return list;
}

Suite parsed(std::string_view text) {
  auto suite = parse_suite(text, "s.yaml");
  if (!suite) throw std::runtime_error(suite.error().message);
  return *suite;
}

// One shape with the given fields, in line 4.
std::string with_shape(std::string_view shape) {
  return fmt::format("suite: s\ndefaults: {{dtype: f32}}\nshapes:\n  - {{{}}}\n", shape);
}

TEST(Suite, DefaultsNamesAndOverrides) {
  const Suite suite = parsed(R"(
suite: mine
defaults: {a: f16, b: f16, out: f16, accumulate: f32, layout: tn, constant: [b]}
shapes:
  - {name: decode_mlp_m4_n64_k32, m: 4, n: 64, k: 32, role: decode, weight: 3}
  - {name: attention_m8_n8_k8, constant: [], layout: tt, batch: 2}
  - {name: wide, m: 2, n: 2, k: 2, dtype: bf16}
)");
  EXPECT_EQ(suite.name, "mine");
  ASSERT_THAT(names(suite), ElementsAre("decode_mlp_m4_n64_k32", "attention_m8_n8_k8", "wide"));
  const Problem& decode = suite.problems[0];
  EXPECT_EQ(decode.role(), "decode");
  EXPECT_EQ(decode.weight(), 3);
  EXPECT_EQ(decode.find_operand("a")->dtype, DType::f16);
  EXPECT_EQ(decode.find_operand("b")->lifetime, Lifetime::constant);
  const Problem& attention = suite.problems[1];
  EXPECT_EQ(attention.dimension("m"), 8);  // From the name alone.
  EXPECT_EQ(attention.dimension("l"), 2);
  EXPECT_FALSE(attention.has_constant());
  EXPECT_EQ(attention.layout().substr(0, 2), "tt");
  // A shape's dtype speaks of every operand, so it beats types of operands among the defaults.
  EXPECT_EQ(suite.problems[2].find_operand("out")->dtype, DType::bf16);
}

TEST(Suite, RoundTripsThroughProblemJson) {
  for (const EmbeddedSuite& embedded : embedded_suites()) {
    const auto suite = find_suite(embedded.name);
    ASSERT_TRUE(suite) << suite.error().message;
    EXPECT_EQ(suite->name, embedded.name);
    for (const Problem& problem : suite->problems) {
      const auto again = (*find_operation(problem.operation()))->problem(problem.to_json());
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(again->key(), problem.key());
      EXPECT_EQ(again->signature(), problem.signature());
      EXPECT_EQ(again->to_json(), problem.to_json());
    }
  }
}

TEST(Suite, FiveShapesOfTheTransformer) {
  const auto suite = find_suite("transformer");
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_THAT(names(*suite),
              ElementsAre("prefill_mlp_gather_m8192_n16384_k4096",
                          "prefill_mlp_expand_m16384_n16384_k8192", "decode_mlp_m4096_n4096_k8192",
                          "kv_proj_m4096_n4096_k4096", "attention_qk_m8192_n4096_k4096"));
  EXPECT_TRUE(suite->problems[0].has_constant());
  EXPECT_FALSE(suite->problems[4].has_constant());
}

TEST(Suite, TheDefaultOnACpuHasTwelveVariedProblems) {
  const auto suite = find_suite("transformer_cpu");
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->problems.size(), 12u);
  std::set<std::string> roles;
  std::set<std::string> layouts;
  std::set<DType> dtypes;
  std::set<bool> constants;
  for (const Problem& problem : suite->problems) {
    roles.insert(problem.role());
    layouts.insert(problem.layout().substr(0, 2));
    dtypes.insert(problem.find_operand("a")->dtype);
    constants.insert(problem.has_constant());
    if (problem.role() == "decode") {
      EXPECT_LE(problem.dimension("m"), 16);
    } else if (problem.role() == "prefill") {
      EXPECT_GE(problem.dimension("m"), 128);
    }
    // Every launch is long enough to time and short enough to repeat; see the file's head.
    const Work work = (*find_operation("gemm"))->work(problem);
    const double flops = problem.find_operand("a")->dtype == DType::bf16 ? 200e9 : 100e9;
    const double seconds = std::max(work.flops / flops, work.bytes() / 25e9);
    EXPECT_GT(seconds, 0.3e-3) << problem.name();
    EXPECT_LT(seconds, 6e-3) << problem.name();
  }
  EXPECT_THAT(roles, ElementsAre("attention", "decode", "kv_proj", "odd", "prefill"));
  EXPECT_THAT(layouts, ElementsAre("tn", "tt"));
  EXPECT_EQ(dtypes.size(), 2u);
  EXPECT_EQ(constants.size(), 2u);
}

TEST(Suite, NothingInOddIsAMultipleOfEight) {
  const auto suite = find_suite("odd");
  ASSERT_TRUE(suite) << suite.error().message;
  for (const Problem& problem : suite->problems) {
    for (const char* size : {"m", "n", "k"}) EXPECT_NE(problem.dimension(size) % 8, 0);
  }
}

TEST(Suite, DecodeCoversEveryBatchOfEveryProjection) {
  const auto suite = find_suite("decode");
  ASSERT_TRUE(suite) << suite.error().message;
  std::set<std::pair<int64_t, int64_t>> projections;
  for (const Problem& problem : suite->problems) {
    projections.emplace(problem.dimension("n"), problem.dimension("k"));
  }
  EXPECT_EQ(suite->problems.size(), 36u);
  EXPECT_THAT(projections, ElementsAre(std::pair(4096, 4096), std::pair(4096, 14336),
                                       std::pair(6144, 4096), std::pair(28672, 4096)));
}

struct Malformed {
  std::string shape, part;
};

TEST(Suite, EveryFieldOfAShapeIsChecked) {
  const std::string sizes = "name: x, m: 4, n: 4, k: 4, ";
  const Malformed cases[] = {
      {"name: x, n: 4, k: 4", "has no field 'm', which is needed"},
      {"name: x, m: , n: 4, k: 4", "m: has no value"},
      {"name: x, m: four, n: 4, k: 4", "m: 'four' is not what belongs here; write an integer"},
      {"name: x, m: 4.0, n: 4, k: 4", "m: '4.0'"},
      {"name: x, m: '4', n: 4, k: 4", "m: '4' stands in quotes"},
      {"name: x, m: -4, n: 4, k: 4", "m: -4 is out of range; write an integer from 1"},
      {"name: x, m: 0, n: 4, k: 4", "m: 0 is out of range"},
      {"name: x, m: 99999999999999999999, n: 4, k: 4", "m: '99999999999999999999' does not fit"},
      {"name: x, m: 1e400, n: 4, k: 4", "m: '1e400'"},
      {"name: x, m: [4], n: 4, k: 4", "m: is a list"},
      {"name: x, m: {a: 4}, n: 4, k: 4", "m: is a map"},
      {"name: x, m: 4, n: 4, k: 4, m: 5", "the field 'm' is given twice"},
      {sizes + "batch: 0", "batch: 0 is out of range"},
      {sizes + "batch: true", "batch: 'true'"},
      {sizes + "weight: 0", "weight: 0 calls make no sense; write a number above 0"},
      {sizes + "weight: -1", "weight: -1 calls"},
      {sizes + "weight: 1e400", "weight: '1e400' does not fit"},
      {sizes + "weight: .nan", "weight: '.nan'"},
      {sizes + "weight: many", "weight: 'many'"},
      {sizes + "a: f33", "a: "},
      {sizes + "a: 32", "a: '32' is a number, not text"},
      {sizes + "out: [f32]", "out: is a list"},
      {sizes + "dtype: float99", "dtype: "},
      {sizes + "accumulate: foo", "accumulate: "},
      {sizes + "layout: xy", "layout"},
      {sizes + "layout: 3", "layout: '3' is a number"},
      {sizes + "constant: {b: 1}", "constant: is a map; write a list of texts"},
      {sizes + "constant: [4]", "constant[0]: '4' is a number"},
      {sizes + "constant: [zz]", "constant"},
      {sizes + "role: 3", "role: '3' is a number"},
      {sizes + "role: [a]", "role: is a list"},
      {sizes + "epilogue: 7", "epilogue: '7' is a number"},
      {sizes + "epilogue: softmax", "epilogue: the epilogue step 'softmax' has no reference"},
      {sizes + "layuot: tn", "there is no field 'layuot'; did you mean 'layout'?"},
      {sizes + "\"\\e[2J\": tn", "there is no field"},
      {"name: 'a b', m: 4, n: 4, k: 4", "name: 'a b' cannot be a name; use letters"},
      {"name: '', m: 4, n: 4, k: 4", "name: '' cannot be a name"},
      {"name: ../x, m: 4, n: 4, k: 4", "name: '../x' cannot be a name"},
      {"name: 7, m: 4, n: 4, k: 4", "name: '7' is a number"},
      {"name: x_m8, m: 4, n: 4, k: 4", "name: name says m = 8, but the field m is 4; change one"},
      {"name: x_m0_n4_k4", "name: name says m = 0, which is out of range"},
      {"name: x, m: 2147483647, n: 2147483647, k: 2147483647", "shapes[0]"},
  };
  for (const Malformed& test : cases) {
    const auto suite = parse_suite(with_shape(test.shape), "s.yaml");
    ASSERT_FALSE(suite) << test.shape;
    EXPECT_EQ(suite.error().code, ErrorCode::invalid_input) << suite.error().message;
    EXPECT_THAT(suite.error().message, AllOf(StartsWith("s.yaml:4:"), HasSubstr(test.part)))
        << test.shape;
  }
}

TEST(Suite, ATypeThatCannotHoldTheSumsIsAMistakeOfTheFile) {
  const auto suite =
      parse_suite(with_shape("name: x, m: 4, n: 4, k: 4, dtype: f32, accumulate: s8"), "s.yaml");
  ASSERT_FALSE(suite);
  EXPECT_EQ(suite.error().code, ErrorCode::invalid_input);
  EXPECT_THAT(suite.error().message, HasSubstr("accumulate: s8 does not hold every value of an"));
}

TEST(Suite, TypesKnownByNameOnlyAreUnsupported) {
  const auto suite = parse_suite(with_shape("name: x, m: 4, n: 4, k: 4, dtype: u8"), "s.yaml");
  ASSERT_FALSE(suite);
  EXPECT_EQ(suite.error().code, ErrorCode::unsupported);
  EXPECT_THAT(suite.error().message, StartsWith("s.yaml:4:40: shapes[0].dtype: a: u8"));
}

TEST(Suite, TheRestOfTheFileIsChecked) {
  struct Case {
    std::string text, place, part;
  };
  const std::string shapes = "shapes: [{name: x, m: 1, n: 1, k: 1}]\n";
  const Case cases[] = {
      {"- 1\n", "s.yaml:1:1: ", "a suite is a map"},
      {"just text\n", "s.yaml:1:1: ", "a suite is a map"},
      {shapes, "s.yaml:1:1: ", "has no field 'suite'"},
      {"suite: s\n", "s.yaml:1:1: ", "has no field 'shapes'"},
      {"suite: [s]\n" + shapes, "s.yaml:1:8: ", "suite: is a list"},
      {"suite: a/b\n" + shapes, "s.yaml:1:8: ", "cannot be a name"},
      {"suite: s\nshapes: []\n", "s.yaml:2:9: ", "is empty"},
      {"suite: s\nshapes: {a: 1}\n", "s.yaml:2:9: ", "is a map; write a list"},
      {"suite: s\nshapes: [4]\n", "s.yaml:2:10: ", "write a map"},
      {"suite: s\nshape: []\n", "s.yaml:2:1: ", "did you mean 'shapes'?"},
      {"suite: s\noperation: gemn\n" + shapes, "s.yaml:2:12: operation: ", "gemm"},
      {"suite: s\ndefaults: 3\n" + shapes, "s.yaml:2:11: ", "write a map"},
      {"suite: s\ndefaults: {m: x}\n" + shapes, "s.yaml:2:15: ", "defaults.m: 'x'"},
      {"suite: s\ndefaults: {nam: x}\n" + shapes, "s.yaml:2:12: ", "did you mean 'name'?"},
      {"suite: s\ndefaults: {name: x}\n" + shapes, "s.yaml:2:18: ", "a name of its own"},
      {"suite: s\ndefaults: {layout: zz}\n" + shapes, "s.yaml:2:", "line 3"},
      {"suite: s\nshapes:\n  - {name: x, m: 1, n: 1, k: 1}\n  - {name: x, m: 2, n: 2, k: 2}\n",
       "s.yaml:4:5: ", "'x' is given twice, first in line 3"},
  };
  for (const Case& test : cases) {
    const auto suite = parse_suite(test.text, "s.yaml");
    ASSERT_FALSE(suite) << test.text;
    EXPECT_THAT(suite.error().message, StartsWith(test.place)) << test.text;
    EXPECT_THAT(suite.error().message, HasSubstr(test.part)) << test.text;
  }
}

TEST(Suite, IsFoundByNameOrFile) {
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder);
  const std::string file = folder->file("mine.yaml");
  ASSERT_TRUE(write_file_atomic(file, "suite: mine\nshapes: [{name: x, m: 1, n: 1, k: 1}]\n"));
  const auto mine = find_suite(file);
  ASSERT_TRUE(mine) << mine.error().message;
  EXPECT_EQ(mine->origin, file);
  EXPECT_EQ(find_suite("decode")->origin, "embedded suite decode");
  std::vector<std::string> known;
  for (const EmbeddedSuite& suite : embedded_suites()) known.emplace_back(suite.name);
  const auto wrong = find_suite("transfomer");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message,
              AllOf(HasSubstr("neither a suite nor a file"), HasSubstr("mean 'transformer'?"),
                    HasSubstr(join(known, ", "))));
  EXPECT_THAT(find_suite("absent.yaml").error().message, HasSubstr("absent.yaml"));
  EXPECT_FALSE(find_suite(folder->path() + "/"));
}

TEST(Suite, SelectsByName) {
  const Suite suite = parsed(
      "suite: s\nshapes:\n  - {name: x, m: 1, n: 1, k: 1}\n  - {name: yy, m: 1, n: 1, k: 1}\n"
      "  - {name: zzz, m: 1, n: 1, k: 1}\n");
  const auto pick = [&](std::vector<std::string> wanted) { return select(suite, wanted); };
  EXPECT_EQ(pick({})->problems.size(), 3u);
  EXPECT_THAT(names(*pick({"zzz", "x", "x"})), ElementsAre("x", "zzz"));
  EXPECT_THAT(pick({"x", "zzzz"}).error().message,
              AllOf(HasSubstr("no shape 'zzzz'"), HasSubstr("'zzz'?"), HasSubstr("x, yy, zzz")));
}

}  // namespace
}  // namespace assay::input
