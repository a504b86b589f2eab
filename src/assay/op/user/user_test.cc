#include "assay/op/user/user.h"

#include <array>
#include <cmath>
#include <cstring>
#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/operation_name.h"
#include "assay/op/proof_seeds.h"
#include "assay/op/user/reference.h"

namespace assay::user {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kSoftmax = R"(
#include <algorithm>
#include <cmath>
#include <cstdint>
void softmax(const double* x, double* out, int64_t m, int64_t n, double scale) {
  for (int64_t i = 0; i < m; ++i, x += n, out += n) {
    const double largest = *std::max_element(x, x + n);
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += std::exp(scale * (x[j] - largest));
    for (int64_t j = 0; j < n; ++j) out[j] = std::exp(scale * (x[j] - largest)) / sum;
  }
}
)";

Definition softmax(const std::string& text = kSoftmax) {
  Definition made;
  made.name = "softmax";
  made.dimensions = {"m", "n"};
  made.operands = {{"x", {"m", "n"}, {DType::f32, DType::bf16}, false},
                   {"out", {"m", "n"}, {DType::f32, DType::bf16}, true}};
  made.scalars = {{"scale", 1.0}};
  made.flops = "4 * m * n";
  made.tolerances = {{"f32", {1e-5, 1e-9}}, {"bf16", {8e-3, 1e-6}}};
  made.inputs = {known_inputs().begin(), known_inputs().end()};
  made.reference = {Language::cpp, "softmax.cc", "softmax", text, ""};
  return made;
}

// A definition whose reference is one line for each element of out.
Definition by_element(const std::string& body) {
  return softmax(
      "#include <cmath>\n#include <cstdint>\n#include <cstdlib>\n#include <stdexcept>\n"
      "#include <unistd.h>\n"
      "void softmax(const double* x, double* out, int64_t m, int64_t n, double) {\n"
      "  for (int64_t i = 0; i < m * n; ++i) { " +
      body + " }\n}\n");
}

const Operation& operation_of(const Definition& definition) {
  const auto made = define(definition);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return **made;
}

Problem problem_of(const Operation& operation, Json fields = Json::object()) {
  if (!fields.contains("m")) fields["m"] = 5;
  if (!fields.contains("n")) fields["n"] = 37;
  auto made = operation.problem(fields);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return *made;
}

std::string error_of(const Definition& definition, InputKind kind = InputKind::uniform) {
  const Operation& operation = operation_of(definition);
  const auto made = operation.make_instance(problem_of(operation), kind, 1);
  return made ? "none" : made.error().message;
}

// A right kernel in f32.
std::vector<float> right_output(const Instance& instance) {
  const int64_t m = instance.problem().dimension("m"), n = instance.problem().dimension("n");
  std::vector<float> x(static_cast<size_t>(m * n)), out(x.size());
  std::memcpy(x.data(), instance.input(0).data(), x.size() * sizeof(float));
  for (int64_t i = 0; i < m; ++i) {
    const float* row = x.data() + i * n;
    float largest = row[0], sum = 0;
    for (int64_t j = 0; j < n; ++j) largest = std::max(largest, row[j]);
    for (int64_t j = 0; j < n; ++j) sum += std::exp(row[j] - largest);
    for (int64_t j = 0; j < n; ++j)
      out[static_cast<size_t>(i * n + j)] = std::exp(row[j] - largest) / sum;
  }
  return out;
}

Check check(const Instance& instance, const std::vector<float>& out, const InputSeeds& seeds = {}) {
  return instance.check(std::as_bytes(std::span(out)), seeds);
}

TEST(UserDefinition, IsMadeOfItsNameAgain) {
  const std::string id = id_of(softmax());
  EXPECT_EQ(short_operation_name(id), "softmax");
  EXPECT_TRUE(is_defined_by_user(id));
  EXPECT_THAT(std::string(operation_title(id)), ::testing::MatchesRegex("user:softmax@[0-9a-f]+"));
  const auto again = parse_id(std::string_view(id).substr(5));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, softmax());
  const auto found = find_operation(id);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ((*found)->name(), id);
  EXPECT_EQ(*find_operation(operation_title(id)), *found);
}

TEST(UserDefinition, OfOtherContentHasAnotherName) {
  Definition other = softmax();
  other.tolerances["f32"].absolute = 2e-9;
  EXPECT_NE(operation_title(id_of(other)), operation_title(id_of(softmax())));
  const Problem one = problem_of(operation_of(softmax())), two = problem_of(operation_of(other));
  EXPECT_NE(one.key(), two.key());
  EXPECT_NE(one.signature(), two.signature());
}

TEST(UserDefinition, WhoseNameIsOfAnotherIsRefused) {
  const std::string id = id_of(softmax());
  std::string forged = id;
  forged.replace(forged.find("1e-05"), 5, "1e-02");
  for (const std::string& text :
       {forged, id + " ", id.substr(0, id.size() - 1), std::string("user:softmax@0 {}"),
        std::string("user:"), std::string("user: "), std::string("user:softmax"),
        std::string("user:softmax@0 [") + std::string(1000, '[')})
    EXPECT_FALSE(find_operation(text)) << text.substr(0, 60);
}

TEST(UserDefinition, SaysWhatIsWrong) {
  struct Wrong {
    std::function<void(Definition&)> change;
    const char* says;
  };
  const Wrong all[] = {
      {[](Definition& d) { d.name = "a b"; }, "operation: 'a b'"},
      {[](Definition& d) { d.dimensions = {}; }, "dimensions: has 0"},
      {[](Definition& d) { d.dimensions[0] = "l"; }, "dimensions: 'l' means something else"},
      {[](Definition& d) { d.dimensions[1] = "m"; }, "dimensions: 'm' is named twice"},
      {[](Definition& d) { d.operands[0].role = "m"; }, "operands: 'm' is named twice"},
      {[](Definition& d) { d.operands[0].role = "dtype"; }, "operands: 'dtype' means something"},
      {[](Definition& d) { d.operands[0].role = "x y"; }, "operands: 'x y' cannot be a name"},
      {[](Definition& d) { d.operands[0].dimensions = {"k"}; }, "there is no dimension 'k'"},
      {[](Definition& d) {
         d.operands[0].dimensions = {"n", "n"};
       },
       "has 'n' twice"},
      {[](Definition& d) { d.operands[0].dimensions = {}; }, "x has 0 dimensions"},
      {[](Definition& d) { d.operands[0].dtypes = {}; }, "x: has no type"},
      {[](Definition& d) { d.operands[0].dtypes = {DType::u8}; }, "u8 is not supported"},
      {[](Definition& d) { d.operands[1].output = false; }, "operands: 0 are outputs"},
      {[](Definition& d) { d.operands.erase(d.operands.begin()); }, "nothing is read"},
      {[](Definition& d) { d.flops = "4 * k"; }, "flops: there is no dimension 'k'"},
      {[](Definition& d) { d.flops = "4 *"; }, "flops: "},
      {[](Definition& d) { d.tolerances = {}; }, "tolerance: missing"},
      {[](Definition& d) { d.tolerances["f32"].relative = 1; }, "takes zeros for right"},
      {[](Definition& d) { d.tolerances["f32"].absolute = NAN; }, "tolerance: nan"},
      {[](Definition& d) { d.tolerances.erase("bf16"); }, "says nothing of out in bf16"},
      {[](Definition& d) { d.tolerances["f64"] = {}; }, "'f64' is no type of out"},
      {[](Definition& d) { d.inputs = {InputKind::ones}; }, "inputs: uniform is missing"},
      {[](Definition& d) { d.inputs.push_back(InputKind::identity); }, "identity cannot be"},
      {[](Definition& d) { d.reference.function = "a-b"; }, "reference: 'a-b' cannot be"},
      {[](Definition& d) { d.reference.text.clear(); }, "holds 0 bytes"},
      {[](Definition& d) { d.reference.file = "a\"b"; }, "cannot be a file's name"},
      {[](Definition& d) { d.reference.program = "/bin/sh"; }, "python: '/bin/sh'"},
  };
  for (const Wrong& wrong : all) {
    Definition definition = softmax();
    wrong.change(definition);
    const Status status = user::check(definition);
    ASSERT_FALSE(status) << wrong.says;
    EXPECT_THAT(status.error().message, HasSubstr(wrong.says));
    EXPECT_FALSE(define(definition));
  }
}

TEST(UserProblem, IsMadeOfItsFieldsAgain) {
  const Operation& operation = operation_of(softmax());
  const Problem problem =
      problem_of(operation, {{"dtype", "bf16"}, {"scale", 0.5}, {"weight", 3}, {"role", "decode"}});
  const auto again = operation.problem(problem.to_json());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->signature(), problem.signature());
  EXPECT_EQ(again->key(), problem.key());
  EXPECT_EQ(problem.name(), "softmax_m5_n37");
  EXPECT_EQ(operation.work(problem).flops, 4.0 * 5 * 37);
  EXPECT_EQ(operation.work(problem).bytes(), 2.0 * 2 * 5 * 37);
}

TEST(UserProblem, SaysWhatIsWrong) {
  const Operation& operation = operation_of(softmax());
  const std::pair<Json, const char*> all[] = {
      {{{"m", 4}}, "n: missing"},
      {{{"m", 4}, {"n", 0}}, "n: 0 is out of range"},
      {{{"m", 4}, {"n", 4}, {"k", 4}}, "user:softmax@"},
      {{{"m", 4}, {"n", 4}, {"dtype", "f16"}}, "f16"},
      {{{"m", 4}, {"n", 4}, {"x", "f16"}}, "x: f16 is not what x may be: f32, bf16"},
      {{{"m", 2147483647}, {"n", 2147483647}}, "more than 2^33 elements"},
      {{{"m", 4}, {"n", 4}, {"constant", {"x"}}}, "every input is"},
      {{{"m", 4}, {"n", 4}, {"constant", {"out"}}}, "'out' is no input"},
      {{{"m", 4}, {"n", 4}, {"weight", -1}}, "weight: -1"},
      {{{"m", 4}, {"n", 4}, {"name", "a b"}}, "name: 'a b'"},
  };
  for (const auto& [fields, says] : all) {
    const auto made = operation.problem(fields);
    ASSERT_FALSE(made) << canonical(fields);
    EXPECT_THAT(made.error().message, AllOf(HasSubstr(says), Not(HasSubstr("{\"dim"))));
  }
  EXPECT_FALSE(find_operation("user").value()->problem({{"m", 4}}));
}

TEST(UserInstance, TakesWhatIsRightOfEachKind) {
  const Operation& operation = operation_of(softmax());
  const Problem problem = problem_of(operation);
  for (const InputKind kind : known_inputs()) {
    const auto made = operation.make_instance(problem, kind, 7);
    ASSERT_TRUE(made) << made.error().message;
    const Check right = check(**made, right_output(**made));
    EXPECT_TRUE(right.right) << to_string(kind) << ": " << right.first_wrong;
    EXPECT_EQ(right.compared, 5 * 37);
    const auto derived = (*made)->derive(8);
    ASSERT_TRUE(derived) << derived.error().message;
    EXPECT_TRUE(check(**derived, right_output(**derived)).right) << to_string(kind);
  }
}

TEST(UserInstance, SeesOneElementOrOneRowThatIsWrong) {
  const Operation& operation = operation_of(softmax());
  const Problem problem = problem_of(operation);
  const auto made = operation.make_instance(problem, InputKind::uniform, 7);
  ASSERT_TRUE(made) << made.error().message;
  for (const size_t element : {size_t{0}, size_t{100}, size_t{5 * 37 - 1}}) {
    std::vector<float> out = right_output(**made);
    out[element] *= 1.0001F;
    const Check wrong = check(**made, out);
    EXPECT_EQ(wrong.wrong, 1);
    EXPECT_THAT(wrong.first_wrong,
                HasSubstr(fmt::format("out[{},{}] = ", element / 37, element % 37)));
  }
  std::vector<float> skipped = right_output(**made);
  std::fill(skipped.end() - 37, skipped.end(), 0.0F);
  EXPECT_EQ(check(**made, skipped).wrong, 37);
  std::vector<float> nan = right_output(**made);
  nan[3] = NAN;
  EXPECT_THAT(check(**made, nan).first_wrong, HasSubstr("out[0,3] = nan"));
  nan.pop_back();
  EXPECT_THAT(check(**made, nan).first_wrong, HasSubstr("bytes instead of"));
}

TEST(UserInstance, OfTimedLaunchesIsMadeAgainFromTheirSeeds) {
  const Operation& operation = operation_of(softmax());
  const Problem problem = problem_of(operation);
  const auto made = operation.make_instance(problem, InputKind::uniform, 7);
  ASSERT_TRUE(made) << made.error().message;
  const InputSeeds seeds{.set = 3, .launch = 4};
  std::vector<float> x(5 * 37);
  renew(operation.renewal(problem, 0, seeds), std::as_writable_bytes(std::span(x)));
  EXPECT_FALSE(check(**made, right_output(**made), seeds).right) << "an output of other inputs";
  std::vector<float> out(x.size());
  for (size_t i = 0; i < 5; ++i) {
    const float* row = x.data() + i * 37;
    const float largest = *std::max_element(row, row + 37);
    float sum = 0;
    for (size_t j = 0; j < 37; ++j) sum += std::exp(row[j] - largest);
    for (size_t j = 0; j < 37; ++j) out[i * 37 + j] = std::exp(row[j] - largest) / sum;
  }
  const Check right = check(**made, out, seeds);
  EXPECT_TRUE(right.right) << right.first_wrong;
}

// Who knows that it is timed may not take numbers to be small; and a definition may leave out what
// its kernels need not bear.
TEST(UserInstance, SomeTimedLaunchesHaveNeedles) {
  constexpr int kLaunches = 200;
  const auto count_with_needles = [](const Definition& definition) {
    const Operation& operation = operation_of(definition);
    const Problem problem = problem_of(operation);
    int found = 0;
    for (uint64_t launch = 1; launch <= kLaunches; ++launch) {
      std::vector<float> x(5 * 37);
      renew(operation.renewal(problem, 0, {.set = 3, .launch = launch}),
            std::as_writable_bytes(std::span(x)));
      const auto is_needle = [](float value) { return std::fabs(value) >= 8; };
      found += std::ranges::any_of(x, is_needle) ? 1 : 0;
      for (const float value : x)
        EXPECT_TRUE(std::fabs(value) < 1 || (is_needle(value) && std::fabs(value) <= 256)) << value;
      for (size_t i = 0; i < 5; ++i)
        EXPECT_LE(std::count_if(x.data() + i * 37, x.data() + (i + 1) * 37, is_needle), 1);
    }
    return found;
  };
  const int found = count_with_needles(softmax());
  EXPECT_GT(found, kLaunches / 4);
  EXPECT_LT(found, kLaunches * 3 / 4);
  Definition without = softmax();
  std::erase(without.inputs, InputKind::needle);
  EXPECT_EQ(count_with_needles(without), 0);
}

TEST(UserInstance, KeepsInfinitiesAndWhatIsNoNumberAsTheReferenceHasThem) {
  Definition definition =
      by_element("out[i] = x[i] == 0 ? 0.0 / x[i] : x[i] == 1 ? 1 / (x[i] - 1) : std::exp(x[i]);");
  const Operation& operation = operation_of(definition);
  const Problem problem = problem_of(operation);
  const auto zeros = operation.make_instance(problem, InputKind::zeros, 7);
  const auto ones = operation.make_instance(problem, InputKind::ones, 7);
  ASSERT_TRUE(zeros && ones);
  const std::vector<float> nan(5 * 37, NAN), infinity(5 * 37, INFINITY), zero(5 * 37);
  EXPECT_TRUE(check(**zeros, nan).right);
  EXPECT_FALSE(check(**zeros, infinity).right);
  EXPECT_FALSE(check(**zeros, zero).right);
  EXPECT_TRUE(check(**ones, infinity).right);
  EXPECT_FALSE(check(**ones, nan).right);
  EXPECT_FALSE(check(**ones, zero).right);
}

TEST(UserAudit, RefusesAToleranceThatTellsNothing) {
  Definition loose = softmax();
  loose.tolerances["f32"] = {0, 0.1};  // Outputs are about 1/37.
  // One tolerance is advised that refuses all of them.
  EXPECT_THAT(
      error_of(loose),
      AllOf(HasSubstr("tolerance: zeros everywhere, the output of other inputs, "),
            HasSubstr("the output rounded to bf16 would pass for right"), HasSubstr("absolute: ")));
  const std::string said = error_of(loose);
  const double advised = std::stod(said.substr(said.find("absolute: ") + 10));
  EXPECT_GT(advised, 0);
  loose.tolerances["f32"] = {0, advised};
  EXPECT_EQ(error_of(loose), "none");
  loose.tolerances["f32"] = {0, 0.012};  // Zeros are off by more, other inputs' outputs are not.
  EXPECT_THAT(error_of(loose), HasSubstr("would pass for right"));
  loose.tolerances["f32"] = {0.01, 0};
  EXPECT_THAT(error_of(loose), HasSubstr("the output rounded to bf16 would pass for right"));
  Definition tight = softmax();
  tight.tolerances["f32"] = {1e-9, 0};
  EXPECT_THAT(error_of(tight), HasSubstr("the reference itself, rounded to f32, is wrong by it"));
}

TEST(UserAudit, RefusesAnOperationWhoseOutputTellsNothing) {
  EXPECT_THAT(error_of(by_element("out[i] = 1;")),
              HasSubstr("the output of other inputs would pass"));
  EXPECT_THAT(error_of(by_element("out[i] = 0;")),
              HasSubstr("tolerance: zeros everywhere, the output of other inputs would pass"));
  EXPECT_THAT(error_of(by_element("out[i] = std::log(x[i]);")),
              HasSubstr("reference: it gives nan"));
  // What is a copy by what it is may be one.
  Definition copy = by_element("out[i] = x[i];");
  EXPECT_EQ(error_of(copy), "none");
}

TEST(UserReference, ThatFailsIsSaid) {
  EXPECT_THAT(error_of(by_element("if (i == 3) std::abort();")), HasSubstr("SIGABRT"));
  EXPECT_THAT(error_of(by_element("if (i == 3) throw std::runtime_error(\"no way\");")),
              HasSubstr("fails: no way"));
  EXPECT_THAT(error_of(by_element("if (i != 3) out[i] = x[i];")),
              HasSubstr("does not write element 3 of its output"));
  EXPECT_THAT(error_of(by_element("out[i + 1] = out[0] = x[i];")),
              HasSubstr("writes behind its output of 185 elements"));
  EXPECT_THAT(error_of(by_element("out[i] = x[i]; if (i == 0) out[-1] = 1;")),
              HasSubstr("reference: softmax.cc:6: softmax writes ahead of its output of 185 "));
  EXPECT_THAT(error_of(by_element("_exit(0);")), HasSubstr("exited with code 0"));
  EXPECT_THAT(error_of(softmax("void other() {}")), HasSubstr("does not compile: "));
  EXPECT_THAT(error_of(softmax("void softmax(float* x) {}")),
              AllOf(HasSubstr("does not compile: "),
                    HasSubstr("void softmax(const double* x, double* out, int64_t m, int64_t n, "
                              "double scale)")));
  EXPECT_THAT(error_of(softmax("int x = ;")), HasSubstr("softmax.cc:1: "));
}

TEST(UserReference, ThatSaysSomethingElseTheNextTimeIsRefused) {
  EXPECT_THAT(error_of(by_element("static int runs = 0; runs += i == 0; out[i] = x[i] + runs;")),
              AllOf(HasSubstr("reference: softmax.cc:6: softmax does not repeat itself"),
                    HasSubstr("out[0,0] = ")));
  // The last bits of a float64 are no difference.
  EXPECT_EQ(error_of(by_element("static int runs = 0; runs += i == 0; "
                                "out[i] = x[i] * (1 + 1e-15 * runs);")),
            "none");
}

// A kernel is not to blame for it, later on.
TEST(UserReference, ThatChangesItsMindIsNamedInThePlaceOfTheKernel) {
  const Operation& operation =
      operation_of(by_element("static int runs = 0; runs += i == 0; out[i] = x[i] + (runs > 3);"));
  const auto made = operation.make_instance(problem_of(operation), InputKind::uniform, 1);
  ASSERT_TRUE(made) << made.error().message;
  std::vector<float> out(5 * 37);
  std::memcpy(out.data(), (*made)->input(0).data(), out.size() * sizeof(float));
  EXPECT_TRUE(check(**made, out).right);
  const InputSeeds seeds{.set = 3, .launch = 4};
  renew(operation.renewal((*made)->problem(), 0, seeds), std::as_writable_bytes(std::span(out)));
  const Check blamed = check(**made, out, seeds);
  EXPECT_FALSE(blamed.right);
  EXPECT_THAT(blamed.first_wrong, HasSubstr("softmax does not repeat itself"));
}

TEST(UserReference, ThatHangsIsEndedAndRunsAgain) {
  const Definition definition = by_element("if (x[0] == 0) pause(); out[i] = x[i];");
  const Problem problem = problem_of(operation_of(definition));
  const auto reference = Reference::start(definition, problem, 1);
  ASSERT_TRUE(reference) << reference.error().message;
  std::vector<std::vector<double>> inputs = {std::vector<double>(5 * 37), {}};
  const auto hung = (*reference)->run(inputs);
  ASSERT_FALSE(hung);
  EXPECT_THAT(hung.error().message, HasSubstr("did not end within 1 s"));
  inputs[0].assign(5 * 37, 2.5);
  const auto again = (*reference)->run(inputs);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, inputs[0]);
}

// What is held against a kernel later on is what it was proven against, whatever it includes.
TEST(UserReference, IsCompiledOnceForAllOfARun) {
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder) << folder.error().message;
  const std::string header = folder->file("value.h");
  ASSERT_TRUE(write_file_atomic(header, "constexpr double kFactor = 2;\n"));
  const Operation& operation = operation_of(softmax(
      fmt::format("#include \"{}\"\n#include <cstdint>\n"
                  "void softmax(const double* x, double* out, int64_t m, int64_t n, double) {{\n"
                  "  for (int64_t i = 0; i < m * n; ++i) out[i] = kFactor * x[i];\n}}\n",
                  header)));
  const auto is_right = [&](int64_t m) {
    const auto made =
        operation.make_instance(problem_of(operation, {{"m", m}}), InputKind::uniform, 1);
    if (!made) return made.error().message;
    std::vector<float> out(static_cast<size_t>(m) * 37);
    std::memcpy(out.data(), (*made)->input(0).data(), out.size() * sizeof(float));
    for (float& value : out) value *= 2;
    return check(**made, out).right ? std::string("right") : std::string("wrong");
  };
  EXPECT_EQ(is_right(5), "right");
  ASSERT_TRUE(write_file_atomic(header, "#error gone\n"));
  EXPECT_EQ(is_right(5), "right");
  EXPECT_THAT(is_right(6), HasSubstr("does not compile"));
}

// Where Python or numpy are missing, that is what is said.
TEST(UserReference, InPythonIsRunOrSaysWhatItNeeds) {
  Definition definition = softmax(
      "import numpy\n"
      "def softmax(x, scale):\n"
      "    e = numpy.exp(scale * (x - x.max(axis=1, keepdims=True)))\n"
      "    return e / e.sum(axis=1, keepdims=True)\n");
  definition.reference.language = Language::python;
  definition.reference.file = "softmax.py";
  const std::string said = error_of(definition);
  if (said == "none") {
    definition.reference.text = "def softmax(x):\n    return x[0]\n";
    EXPECT_THAT(error_of(definition), HasSubstr("returns an array of shape (37,)"));
    definition.reference.text = "def softmax(x):\n    return 1 / 0\n";
    EXPECT_THAT(error_of(definition), HasSubstr("ZeroDivisionError"));
    definition.reference.text = "def other(x):\n    return x\n";
    EXPECT_THAT(error_of(definition), HasSubstr("defines no function softmax"));
    definition.reference.text = "def softmax(x:\n";
    EXPECT_THAT(error_of(definition), HasSubstr("SyntaxError"));
  } else {
    EXPECT_THAT(said, ::testing::AnyOf(HasSubstr("needs numpy"), HasSubstr("does not start")));
  }
  definition.reference.program = "/nowhere/python3";
  EXPECT_THAT(error_of(definition),
              AllOf(HasSubstr("needs Python"), HasSubstr("/nowhere/python3 does not start")));
}

// A long launch has a few dozen looks in all: if a slow reference said of one in twenty, a kernel
// that does nothing while it is timed would often be in none of them.
TEST(UserInstance, OfASlowReferenceManyLaunchesAreCompared) {
  const Definition slow = by_element("usleep(200000); out[i] = std::sqrt(std::fabs(x[i]));");
  const Operation& operation = operation_of(slow);
  const auto made =
      operation.make_instance(problem_of(operation, {{"m", 1}, {"n", 2}}), InputKind::uniform, 1);
  ASSERT_TRUE(made) << made.error().message;
  const std::vector<float> left_out(2, 7);
  int wrong = 0;
  for (uint64_t launch = 1; launch <= 24; ++launch)
    if (!check(**made, left_out, {.set = 3, .launch = launch}).right) ++wrong;
  EXPECT_GE(wrong, 3);
}

// Whoever takes a row for small by its first elements, and leaves out its largest one.
TEST(UserInstance, ANeedleIsInEveryLine) {
  const Operation& operation = operation_of(softmax());
  const auto made =
      operation.make_instance(problem_of(operation, {{"m", 7}, {"n", 200}}), InputKind::needle, 1);
  ASSERT_TRUE(made) << made.error().message;
  const std::vector<float> right = right_output(**made);
  EXPECT_TRUE(check(**made, right).right) << check(**made, right).first_wrong;
  std::vector<float> x(right.size());
  std::memcpy(x.data(), (*made)->input(0).data(), x.size() * sizeof(float));
  for (size_t row = 0; row < 7; ++row) {
    const auto of_row = std::span(x).subspan(row * 200, 200);
    EXPECT_EQ(std::ranges::count_if(of_row, [](float value) { return std::fabs(value) > 1; }), 1);
  }
}

// What a proof has of needles: its instances, of seeds as the referee gives them, and what each of
// the kernels comes to on all of them.
using Kernel = std::vector<float> (*)(const Instance&);
template <size_t Count>
std::array<std::vector<Check>, Count> needle_checks(const Problem& problem, uint64_t seed,
                                                    const Kernel (&kernels)[Count]) {
  const Operation& operation = **find_operation(problem.operation());
  const auto kinds = operation.useful_kinds(problem);
  std::array<std::vector<Check>, Count> checks;
  // Its reference is started once for all.
  const auto first = operation.make_instance(problem, InputKind::zeros, 1);
  for (int64_t i = 0; i < std::ranges::count(kinds, InputKind::needle); ++i) {
    const auto made =
        operation.make_instance(problem, InputKind::needle, seed_of_one(seed << 8, i));
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    if (!made) continue;
    for (size_t kernel = 0; kernel < Count; ++kernel)
      checks[kernel].push_back(check(**made, kernels[kernel](**made)));
  }
  return checks;
}

std::vector<float> summed_in_double(const Instance& instance) {
  std::vector<float> out = right_output(instance);
  const auto n = static_cast<size_t>(instance.problem().dimension("n"));
  std::vector<float> x(out.size());
  std::memcpy(x.data(), instance.input(0).data(), x.size() * sizeof(float));
  for (size_t first = 0; first < x.size(); first += n) {
    const auto row = std::span(x).subspan(first, n);
    const float largest = *std::ranges::max_element(row);
    double sum = 0;
    for (const float value : row) sum += std::exp(value - largest);
    for (size_t j = 0; j < n; ++j)
      out[first + j] = std::exp(row[j] - largest) / static_cast<float>(sum);
  }
  return out;
}

// A softmax that adds a thousand terms in f32 errs by twice its tolerance if the first term is so
// large that each other one is about half of its rounding. Elsewhere its errors are a tenth of
// that. Sixty-four needles found it in 3 proofs of 40.
TEST(UserInstance, WhoErrsTooMuchForSomeNeedlesIsWrongWhateverTheSeed) {
  const Operation& operation = operation_of(softmax());
  const Problem problem = problem_of(operation, {{"m", 64}, {"n", 1000}});
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const auto [of_floats, of_doubles] =
        needle_checks(problem, seed, {right_output, summed_in_double});
    EXPECT_FALSE(of_floats.empty());
    EXPECT_FALSE(std::ranges::all_of(of_floats, &Check::right)) << "seed " << seed;
    for (const Check& one : of_doubles)
      EXPECT_TRUE(one.right) << "seed " << seed << ": " << one.first_wrong;
    const auto uniform = operation.make_instance(problem, InputKind::uniform, seed);
    ASSERT_TRUE(uniform);
    EXPECT_TRUE(check(**uniform, right_output(**uniform)).right) << "the needles alone show it";
  }
}

TEST(UserInstance, AProofHasNeedlesEnoughAndNoMoreInputsThanAMessageTakes) {
  const Operation& operation = operation_of(softmax());
  const auto needles = [&](int64_t m, int64_t n) {
    const auto kinds = operation.useful_kinds(problem_of(operation, {{"m", m}, {"n", n}}));
    EXPECT_LE(kinds.size(), 60u);
    return std::ranges::count(kinds, InputKind::needle);
  };
  EXPECT_EQ(needles(64, 1000), 16);
  EXPECT_EQ(needles(64, 4096), 4) << "of 2^21 elements in all";
  EXPECT_EQ(needles(1, 1000), 55);
  EXPECT_EQ(needles(2000, 100), 1);
  Definition without = softmax();
  std::erase(without.inputs, InputKind::needle);
  EXPECT_EQ(operation_of(without).useful_kinds(problem_of(operation_of(without))), without.inputs);
}

}  // namespace
}  // namespace assay::user
