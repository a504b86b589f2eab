#include "assay/input/shape_flag.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::input {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<Problem> parsed(std::string_view text) {
  auto problems = parse_shape_flag(text);
  if (!problems) throw std::runtime_error(problems.error().message);
  return *problems;
}

std::vector<int64_t> sizes(std::string_view text, std::string_view dimension) {
  std::vector<int64_t> list;
  for (const Problem& problem : parsed(text)) list.push_back(problem.dimension(dimension));
  return list;
}

std::string error_of(std::string_view text) {
  const auto problems = parse_shape_flag(text);
  return problems ? "no error" : problems.error().message;
}

TEST(ShapeFlag, OneShapeWithItsDefaults) {
  const auto problems = parsed("m=64,n=4096,k=14336,dtype=bf16");
  ASSERT_EQ(problems.size(), 1u);
  const Problem& problem = problems[0];
  EXPECT_EQ(problem.name(), "gemm_m64_n4096_k14336_bf16");
  EXPECT_EQ(problem.find_operand("a")->dtype, DType::bf16);
  EXPECT_EQ(problem.find_operand("out")->dtype, DType::bf16);
  EXPECT_EQ(problem.find_operand("b")->lifetime, Lifetime::constant);
  EXPECT_EQ(problem.find_operand("a")->lifetime, Lifetime::per_call);
  EXPECT_EQ(problem.layout().substr(0, 2), "tn");
  EXPECT_EQ(problem.attributes().find("accumulate")->second, Value(std::string("f32")));
}

TEST(ShapeFlag, AnOperationMayBeNamed) {
  const auto named = parsed("m=1|2,operation=gemm,n=8,k=8");
  const auto plain = parsed("m=1|2,n=8,k=8");
  ASSERT_EQ(named.size(), 2u);
  for (size_t i = 0; i < named.size(); ++i) EXPECT_EQ(named[i].to_json(), plain[i].to_json());
  EXPECT_THAT(error_of("m=1,operation=gemn,n=8,k=8"),
              AllOf(StartsWith("--shape: column 15: "), HasSubstr("there is no operation 'gemn'"),
                    HasSubstr("did you mean 'gemm'?")));
}

TEST(ShapeFlag, ListsAndRanges) {
  EXPECT_THAT(sizes("m=1|2|16,n=8,k=8", "m"), ElementsAre(1, 2, 16));
  EXPECT_THAT(sizes("m=1:256:*4,n=8,k=8", "m"), ElementsAre(1, 4, 16, 64, 256));
  EXPECT_THAT(sizes("m=1:9:2,n=8,k=8", "m"), ElementsAre(1, 3, 5, 7, 9));
  EXPECT_THAT(sizes("m=2:10:+4,n=8,k=8", "m"), ElementsAre(2, 6, 10));
  EXPECT_THAT(sizes("m=3:5,n=8,k=8", "m"), ElementsAre(3, 4, 5));
  EXPECT_THAT(sizes("m=1|4:5|100:100,n=8,k=8", "m"), ElementsAre(1, 4, 5, 100));
  EXPECT_THAT(sizes(" m = 1 | 2 , n = 8 , k = 8 ", "m"), ElementsAre(1, 2));
  // A factor that would run past 64 bits ends the range.
  EXPECT_THAT(sizes("m=1:2:*9223372036854775807,n=8,k=8", "m"), ElementsAre(1));
}

TEST(ShapeFlag, CombinationsHaveNamesOfTheirOwn) {
  const auto problems =
      parsed("role=decode,m=1|2,n=8,k=8,dtype=f32|bf16,constant=b|none,layout=tn|tt");
  ASSERT_EQ(problems.size(), 16u);
  std::set<std::string> names;
  for (const Problem& problem : problems) names.insert(problem.name());
  EXPECT_EQ(names.size(), 16u);
  EXPECT_EQ(problems[0].name(), "decode_m1_n8_k8_f32_tn_constant-b");
  EXPECT_EQ(problems[15].name(), "decode_m2_n8_k8_bf16_tt_constant-none");
  EXPECT_FALSE(problems[15].has_constant());
  EXPECT_EQ(parsed("name=x,m=1,n=2,k=3")[0].name(), "x");
  EXPECT_EQ(parsed("name=x_m1_n2_k3")[0].dimension("k"), 3);
}

TEST(ShapeFlag, TheOrderOfItsPairsIsNoPartOfAName) {
  const auto one = parse_shape_flag("m=4,n=5,k=6,dtype=f32,layout=tt");
  const auto other = parse_shape_flag("layout=tt,k=6,dtype=f32,n=5,m=4");
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->front().name(), "gemm_m4_n5_k6_f32_tt");
  EXPECT_EQ(other->front().name(), one->front().name());
}

TEST(ShapeFlag, ErrorsSayTheColumn) {
  struct Case {
    std::string text, place, part;
  };
  const Case cases[] = {
      {"", "--shape: column 1: ", "is empty"},
      {"m=4,,n=8,k=8", "--shape: column 5: ", "a field is missing"},
      {"m=4,n=8,k=8,", "--shape: column 13: ", "a field is missing"},
      {"m=4,n8,k=8", "--shape: column 5: ", "has no '='"},
      {"m=4,n=8,l=8,q=1", "--shape: column 9: ", "there is no field 'l'"},
      {"m=4,n=8,k=8,dtpye=f32", "--shape: column 13: ", "did you mean 'dtype'?"},
      {"m=4,n=8,k=8,m=5", "--shape: column 13: ", "given twice"},
      {"m=,n=8,k=8", "--shape: column 3: ", "is not an integer"},
      {"m=4x,n=8,k=8", "--shape: column 3: ", "'4x' is not an integer"},
      {"m=1||2,n=8,k=8", "--shape: column 5: ", "is not an integer"},
      {"m=0,n=8,k=8", "--shape: column 3: ", "out of range"},
      {"m=-1,n=8,k=8", "--shape: column 3: ", "out of range"},
      {"m=4,n=99999999999999999999,k=8", "--shape: column 7: ", "64 bits"},
      {"m=8:4,n=8,k=8", "--shape: column 3: ", "write the smaller first"},
      {"m=1:8:*1,n=8,k=8", "--shape: column 8: ", "out of range"},
      {"m=1:8:0,n=8,k=8", "--shape: column 7: ", "out of range"},
      {"m=1:8:2:3,n=8,k=8", "--shape: column 3: ", "FIRST:LAST"},
      {"m=1|1,n=8,k=8", "--shape: column 3: ", "m = 1 is given twice"},
      {"m=1:400|2,n=1:400,k=1:400", "--shape: column 3: ", "given twice"},
      {"m=1:400,n=1:400,k=8", "--shape: column 9: ", "more than 100000 problems"},
      {"m=1:1000000,n=8,k=8", "--shape: column 3: ", "more than 100000 problems"},
      {"m=4,n=8,k=8,dtype=f33", "--shape: column 19: ", "f3"},
      {"m=4,n=8,k=8,dtype=", "--shape: column 19: ", "dtype has no value"},
      {"m=4,n=8,k=8,weight=0", "--shape: column 20: ", "above 0"},
      {"m=4,n=8,k=8,weight=1e400", "--shape: column 20: ", "does not fit"},
      {"m=4,n=8,k=8,weight=nan", "--shape: column 20: ", "is not a number"},
      {"m=4,n=8,k=8,constant=b+", "--shape: column 24: ", "missing beside '+'"},
      {"m=4,n=8,k=8,name=a b", "--shape: column 18: ", "cannot be a name"},
      {"m=4,n=8,k=8,name=x_m5", "--shape: column 13: ", "name says m = 5"},
      {"m=4,n=8", "--shape: column 1: ", "k is missing"},
      {"m=4,n=8,k=8,layout=qq", "--shape: column 13: ", "layout"},
  };
  for (const Case& test : cases) {
    EXPECT_THAT(error_of(test.text), AllOf(StartsWith(test.place), HasSubstr(test.part)))
        << test.text;
  }
}

TEST(ShapeFlag, SizesAlone) {
  EXPECT_THAT(*parse_size_list("16", "--batch"), ElementsAre(16));
  EXPECT_THAT(*parse_size_list("1, 8,64", "--batch"), ElementsAre(1, 8, 64));
  EXPECT_THAT(*parse_size_list("1:16:*2|100", "--batch"), ElementsAre(1, 2, 4, 8, 16, 100));
  const auto error = [](std::string_view text) {
    const auto sizes = parse_size_list(text, "--batch");
    return sizes ? std::string("no error") : sizes.error().message;
  };
  EXPECT_THAT(error(""), HasSubstr("--batch: column 1: a size is missing"));
  EXPECT_THAT(error("1,,2"), HasSubstr("--batch: column 3: a size is missing"));
  EXPECT_THAT(error("1,x"), HasSubstr("--batch: column 3: 'x' is not an integer"));
  EXPECT_THAT(error("0"), HasSubstr("0 is out of range"));
  EXPECT_THAT(error("1:9999999999"), HasSubstr("out of range"));
  EXPECT_THAT(error("1:2000000"), HasSubstr("more than 100000 problems"));
  EXPECT_THAT(error("4,1:8"), HasSubstr("4 is given twice"));
}

TEST(ShapeFlag, SeveralFlagsMakeOneSuite) {
  const std::vector<std::string> flags = {"m=1|2,n=8,k=8", "m=1,n=8,k=8,dtype=bf16"};
  const auto suite = parse_shape_flags(flags);
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->problems.size(), 3u);
  const std::vector<std::string> same = {"m=1|2,n=8,k=8", "m=2,n=8,k=8"};
  EXPECT_THAT(parse_shape_flags(same).error().message,
              HasSubstr("gemm_m2_n8_k8 is asked for twice"));
}

TEST(ShapeFlags, SayHowFieldsOfOneShapeAreJoined) {
  const std::vector<std::string> apart = {"m=4", "n=8", "k=16"};
  EXPECT_THAT(parse_shape_flags(apart).error().message,
              HasSubstr("fields of one shape are joined by commas: m=4,n=8,k=16"));
  for (const char* flag : {"m=4 n=8 k=16", "m=4;n=8;k=16"})
    EXPECT_THAT(parse_shape_flags(std::vector<std::string>{flag}).error().message,
                HasSubstr("column 3: fields are separated by commas"));
  EXPECT_THAT(parse_shape_flags(std::vector<std::string>{"m=4", "n=8"}).error().message,
              AllOf(HasSubstr("is missing"), Not(HasSubstr("joined"))));
}

}  // namespace
}  // namespace assay::input
