// The provider against a cuBLASLt that runs on the host (testing/fake_cublas), whose algorithms
// have names there: plain, split, slow ...
#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "assay/op/gemm/gemm.h"
#include "providers/cublaslt/info.h"
#include "providers/cublaslt/space.h"
#include "testing/bound_kernel.h"
#include "testing/fake_gpu.h"
#include "testing/provider_conformance.h"

ASSAY_PROVIDER_CONFORMANCE(cublaslt, {.make = assay::cublaslt::make_provider,
                                      .settings = {{"library",
                                                    assay::testing::fake_library("fake_cublaslt")}},
                                      .rows_per_problem = 3,
                                      .rows_by_problem = true,
                                      .open_device = assay::testing::open_fake_gpu});

namespace assay::cublaslt {
namespace {

using testing::BoundKernel;
using ::testing::ElementsAre;
using testing::fake_library;
using testing::FakeControls;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Target kHopper = *Target::parse("sm_90a");
const gemm::Shape kShape{.m = 8, .n = 12, .k = 16};
constexpr const char* kPlain = "algo66_t20_s4_k1_r0_w0_c0_i0_x0";
constexpr const char* kSplit = "algo66_t20_s4_k3_r2_w1_c0_i0_x0";
constexpr const char* kSlow = "algo6_t15_s8_k1_r0_w0_c2_i0_x0";
constexpr const char* kVector = "algo71_t24_s4_k1_r0_w0_c0_i3_x5";

Problem problem_of(const gemm::Shape& shape) {
  auto made = gemm::problem(shape);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

class CublasLt : public ::testing::Test {
 protected:
  CublasLt() { catalog_.add(*provider_, settings_); }
  void TearDown() override {
    for (const char* word :
         {"version=130100", "attributes=9", "algorithms=plain,split,slow,refused,twin,vector"})
      tell_(word);
  }

  Found found(const Problem& problem) const {
    auto found = catalog_.get_kernels(problem, {.target = kHopper});
    EXPECT_TRUE(found) << found.error().message;
    return *found;
  }
  std::vector<std::string> names(const gemm::Shape& shape) const {
    std::vector<std::string> names;
    for (const Kernel& kernel : found(problem_of(shape)).kernels)
      names.push_back(kernel.metadata().name());
    return names;
  }
  KernelMetadata row(const std::string& name) const {
    for (const Kernel& kernel : found(problem_of(kShape)).kernels)
      if (kernel.metadata().name() == name) return kernel.metadata();
    ADD_FAILURE() << "no kernel " << name;
    return {};
  }
  // That nothing of the problem is listed, for one reason.
  std::string refusal(const Problem& problem, Reason reason) const {
    const Found all = found(problem);
    EXPECT_TRUE(all.kernels.empty());
    EXPECT_EQ(all.refusals.total(), 1);
    for (const auto& [code, count] : all.refusals)
      if (code == reason) return count.example;
    ADD_FAILURE() << all.refusals.to_json().dump();
    return {};
  }

  Result<BoundKernel> bind(const KernelMetadata& row, const Problem& problem) const {
    ASSAY_TRY(const Kernel kernel, catalog_.from_metadata(row));
    ASSAY_TRY(auto gpu, testing::open_fake_gpu());
    return BoundKernel::make(kernel, problem, 1, {}, std::move(gpu));
  }
  // Binds, launches and checks: how often the function ran.
  uint64_t launches(const std::string& function, const KernelMetadata& row,
                    const gemm::Shape& shape = kShape) const {
    const uint64_t before = calls_(function.c_str());
    auto bound = bind(row, problem_of(shape));
    EXPECT_TRUE(bound) << bound.error().message;
    if (!bound) return 0;
    const Status launched = bound->launch();
    EXPECT_TRUE(launched) << launched.error().message;
    EXPECT_TRUE(bound->wait());
    const Check check = bound->check();
    EXPECT_TRUE(check.right) << function << ": " << check.first_wrong;
    return calls_(function.c_str()) - before;
  }

  const ProviderSettings settings_ = {{"library", fake_library("fake_cublaslt")}};
  const std::unique_ptr<Provider> provider_ = make_provider();
  Catalog catalog_;
  const FakeControls controls_{"fake_cublaslt"};
  void (*const tell_)(const char*) = controls_.find<void(const char*)>("fake_cublas_tell");
  void (*const fail_)(const char*, int,
                      int) = controls_.find<void(const char*, int, int)>("fake_cublas_fail");
  uint64_t (*const calls_)(const char*) =
      controls_.find<uint64_t(const char*)>("fake_cublas_calls");
  uint64_t (*const objects_)() = controls_.find<uint64_t()>("fake_cublas_objects");
};

TEST_F(CublasLt, AMissingOrAnotherOrAnOldLibraryIsARefusalThatSaysWhichAndWhy) {
  for (const auto& [library, why] :
       {std::pair<std::string, std::string>{"/no/such/libcublasLt.so.13", "No such file"},
        {fake_library("fake_cublas"), "has no symbol 'cublasLtCreate'"},
        {fake_library("fake_cublaslt_old"), "has no symbol 'cublasLtGetStatusString'"}}) {
    const ProviderSettings settings = {{"library", library}};
    const Availability availability = provider_->availability(settings);
    EXPECT_FALSE(availability.available) << library;
    EXPECT_THAT(availability.reason, HasSubstr(library));
    EXPECT_THAT(availability.reason, HasSubstr(why));
    EXPECT_THAT(availability.reason, HasSubstr("install libcublas"));
    EXPECT_EQ(provider_->families(settings).error().code, ErrorCode::unsupported);
    Catalog catalog;
    catalog.add(*provider_, settings);
    EXPECT_THAT(catalog.missing().at("cublaslt"), HasSubstr(library));
  }
}

TEST_F(CublasLt, SaysWhatIsMappedAndItsVersion) {
  EXPECT_EQ(provider_->availability(settings_).version, "13.1.0");
  EXPECT_EQ(provider_->availability(settings_).path, fake_library("fake_cublaslt"));
  tell_("version=120803");
  EXPECT_EQ(provider_->availability(settings_).version, "12.8.3");
}

TEST_F(CublasLt, ListsTheHeuristicsAnswersOnceEachAndTheFirstAsTheDefault) {
  EXPECT_THAT(names(kShape), ElementsAre("default", kSplit, kSlow, kVector));
  EXPECT_TRUE(row("default").design.truth("default", false));
  EXPECT_FALSE(row(kSplit).design.truth("default", false));
  const auto everything = catalog_.get_kernels();
  ASSERT_TRUE(everything);
  ASSERT_EQ(everything->kernels.size(), 1u) << "without a problem";
  EXPECT_EQ(everything->kernels.front().metadata().id(), row("default").id());
}

TEST_F(CublasLt, HasEpiloguesOfItsOwn) {
  for (const char* epilogue :
       {"relu", "bias", "bias+gelu_tanh", "residual", "residual+bias+relu"}) {
    gemm::Shape shape = kShape;
    shape.epilogue = epilogue;
    EXPECT_EQ(launches("cublaslt_split", row(kSplit), shape), 1U) << epilogue;
  }
  // Others are a kernel behind the product.
  for (const char* epilogue : {"gelu", "relu+bias", "bias+clamp:0:1", "row_scale+silu+residual",
                               "swiglu", "bias+geglu_tanh_interleaved+residual"}) {
    gemm::Shape shape = kShape;
    shape.epilogue = epilogue;
    EXPECT_EQ(launches("cublaslt_split", row(kSplit), shape), 1U) << epilogue;
    EXPECT_EQ(launches("cublaslt_plain", row("default"), shape), 1U) << epilogue;
  }
  gemm::Shape shape = kShape;
  shape.epilogue = "bias";
  shape.epilogue_dtypes = {{"bias", DType::f16}};
  EXPECT_EQ(launches("cublaslt_split", row(kSplit), shape), 1U);
  shape.epilogue_dtypes.clear();
  shape.layout = "ttn";
  shape.epilogue = "silu";
  EXPECT_THAT(refusal(problem_of(shape), Reason::epilogue), HasSubstr("writes rows of out"));
}

TEST_F(CublasLt, AnAlgorithmIsItsAttributesAndNotItsPlaceInTheList) {
  const KernelMetadata split = row(kSplit), first = row("default");
  EXPECT_EQ(launches("cublaslt_plain", first), 1u);
  EXPECT_EQ(launches("cublaslt_split", split), 1u);
  tell_("algorithms=slow,vector,plain,split");
  EXPECT_THAT(names(kShape), ElementsAre("default", kVector, kPlain, kSplit));
  EXPECT_EQ(row(kSplit).id(), split.id());
  EXPECT_EQ(row("default").id(), first.id());
  EXPECT_EQ(launches("cublaslt_split", split), 1u);
  EXPECT_EQ(launches("cublaslt_slow", first), 1u) << "the heuristic's first is another one now";
  // As it comes from another process.
  const auto again = KernelMetadata::from_json(split.to_json());
  ASSERT_TRUE(again);
  EXPECT_EQ(launches("cublaslt_split", *again), 1u);
}

TEST_F(CublasLt, AnArtifactNamesTheLibraryAndTheAlgorithm) {
  const auto facts = [&](const KernelMetadata& row) {
    return catalog_.from_metadata(row)->compile(problem_of(kShape), kHopper, {})->facts;
  };
  EXPECT_EQ(facts(row("default"))["algorithm"], "the heuristic's first");
  const Json split = facts(row(kSplit));
  EXPECT_EQ(split["algorithm"]["split_k"], 3);
  EXPECT_EQ(split["algorithm"]["algo"], 66);
  EXPECT_EQ(split["path"], fake_library("fake_cublaslt"));
  EXPECT_EQ(split["version"], "13.1.0");
  EXPECT_EQ(split["sha256"].get<std::string>().size(), 64u);
}

TEST_F(CublasLt, AttributesThatAnOlderLibraryDoesNotKnowAreZero) {
  tell_("attributes=7");
  EXPECT_THAT(names(kShape),
              ElementsAre("default", kSplit, kSlow, "algo71_t24_s4_k1_r0_w0_c0_i0_x0"));
  EXPECT_EQ(launches("cublaslt_split", row(kSplit)), 1u);
}

TEST_F(CublasLt, AnAlgorithmThatTheLibraryDoesNotHaveIsRefusedWhereItIsBound) {
  const KernelMetadata vector = row(kVector);
  const gemm::Shape odd{.m = 8, .n = 12, .k = 15};
  const auto unsuitable = bind(vector, problem_of(odd));
  ASSERT_FALSE(unsuitable);
  EXPECT_EQ(unsuitable.error().code, ErrorCode::unsupported);
  EXPECT_THAT(unsuitable.error().message, HasSubstr("checking an algorithm"));
  KernelMetadata unknown = vector;
  unknown.design.set("algo", int64_t{99});
  EXPECT_THAT(bind(unknown, problem_of(kShape)).error().message, HasSubstr("making an algorithm"));
  // And one that could only be bound with more workspace than there is.
  tell_("algorithms=greedy,plain");
  EXPECT_THAT(names(kShape), ElementsAre("default"));
  EXPECT_EQ(launches("cublaslt_plain", row("default")), 1u);
  tell_("algorithms=slow,plain");
  KernelMetadata greedy = row(kPlain);
  greedy.design.set("algo", int64_t{72});
  greedy.design.set("tile", int64_t{24});
  EXPECT_THAT(bind(greedy, problem_of(kShape)).error().message, HasSubstr("67108864 bytes"));
}

// Thousands of them are open in one race, and the GPU is not endless.
TEST_F(CublasLt, AnAlgorithmAsksForNoMoreWorkspaceThanItWants) {
  const auto asks = [&](const KernelMetadata& row) {
    return catalog_.from_metadata(row)->workspace_bytes(problem_of(kShape), 1);
  };
  EXPECT_EQ(asks(row("default")), kWorkspaceBytes) << "it may be another one tomorrow";
  EXPECT_EQ(asks(row(kSlow)), 0u);
  EXPECT_GT(asks(row(kSplit)), 0u);
  EXPECT_LT(asks(row(kSplit)), 1u << 20);
}

class CublasLtSpace : public CublasLt {
 protected:
  ~CublasLtSpace() override { tell_("ids=71,66,72,6,75"); }

  Found in(const std::string& space, const Problem& problem = problem_of(kShape)) const {
    ProviderSettings settings = settings_;
    settings["space"] = space;
    Catalog catalog;
    catalog.add(*provider_, settings);
    auto found = catalog.get_kernels(problem, {.target = kHopper});
    EXPECT_TRUE(found) << found.error().message;
    return *found;
  }
  static std::map<std::string, std::string> ids_of(const Found& found) {
    std::map<std::string, std::string> ids;
    for (const Kernel& kernel : found.kernels)
      EXPECT_TRUE(ids.emplace(kernel.metadata().name(), kernel.metadata().id()).second)
          << kernel.metadata().name() << " is there twice";
    return ids;
  }
  static RefusalCount refused(const Found& found, Reason reason) {
    for (const auto& [code, count] : found.refusals)
      if (code == reason) return count;
    return {};
  }
};

// By the rules of testing/fake_cublas: 13 of 66, 2 of 6, 3 of 71, 1 of 75.
TEST_F(CublasLtSpace, AllIsWhatTheLibrarysCheckAcceptsOnceEachAndTheHeuristicsRowsAreTheSame) {
  const auto heuristic = ids_of(in("heuristic")), all = ids_of(in("all"));
  EXPECT_EQ(heuristic, ids_of(found(problem_of(kShape))));
  EXPECT_EQ(all.size(), 19u);
  EXPECT_FALSE(all.contains(kPlain)) << "it is the default";
  for (const auto& [name, id] : heuristic) EXPECT_EQ(all.at(name), id) << name;
  for (const char* name : {"algo66_t20_s4_k4_r2_w1_c0_i0_x0", "algo66_t24_s8_k2_r2_w0_c0_i0_x0",
                           "algo66_t24_s8_k1_r0_w1_c0_i0_x0", "algo6_t15_s8_k1_r0_w0_c0_i0_x0",
                           "algo71_t24_s4_k1_r0_w0_c0_i3_x0", "algo71_t24_s4_k1_r0_w0_c0_i3_x3",
                           "algo75_t0_s0_k1_r0_w0_c0_i0_x0"})
    EXPECT_TRUE(all.contains(name)) << name;
  EXPECT_FALSE(all.contains("algo66_t24_s8_k2_r2_w1_c0_i0_x0")) << "two options that do not go";
  EXPECT_EQ(ids_of(in("all")), all);
  // What the heuristic does not name any more keeps its id; its first is another one now.
  tell_("algorithms=vector,split");
  const auto others = ids_of(in("all"));
  EXPECT_EQ(others.size(), 19u);
  EXPECT_EQ(others.at(kSlow), heuristic.at(kSlow));
  EXPECT_TRUE(others.contains(kPlain) && !others.contains(kVector));
}

TEST_F(CublasLtSpace, WhatTheLibraryRefusesIsCountedWithItsReason) {
  const Found all = in("all");
  EXPECT_EQ(refused(all, Reason::constraint).count, 444);
  EXPECT_THAT(refused(all, Reason::constraint).example,
              HasSubstr("the functionality requested is not supported"));
  EXPECT_EQ(refused(all, Reason::workspace).count, 1);
  EXPECT_THAT(refused(all, Reason::workspace).example, HasSubstr("67108864 bytes"));
  EXPECT_EQ(all.refusals.total(), 445);
  // An address that one of them does not take; an id that cannot be made.
  const auto problem = gemm::operation().problem(
      {{"m", 8}, {"n", 12}, {"k", 16}, {"alignment", {{"b", 8}}}, {"dtype", "f32"}});
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_THAT(refused(in("all", *problem), Reason::alignment).example,
              HasSubstr("algorithm 71: it wants b at multiples of 16 bytes, and 8 are promised"));
  tell_("ids=75,99");
  EXPECT_THAT(refused(in("all"), Reason::constraint).example, HasSubstr("not supported"));
  EXPECT_EQ(refused(in("all"), Reason::constraint).count, 55);
}

TEST_F(CublasLtSpace, WhatTakesNoGroundWithoutAClusterIsFoundByItsClusters) {
  tell_("ids=76");
  std::vector<std::string> names;
  for (const auto& [name, id] : ids_of(in("all")))
    if (name.starts_with("algo76")) names.push_back(name);
  EXPECT_THAT(names,
              ElementsAre("algo76_t30_s35_k1_r0_w0_c0_i0_x2", "algo76_t30_s35_k1_r0_w0_c0_i0_x4",
                          "algo76_t30_s35_k2_r2_w0_c0_i0_x2", "algo76_t30_s35_k2_r2_w0_c0_i0_x4"));
}

TEST_F(CublasLtSpace, OfAPointThatTheHeuristicDoesNotNameALaunchIsRight) {
  const Found all = in("all");
  const auto found = std::ranges::find_if(all.kernels, [](const Kernel& kernel) {
    return kernel.metadata().name() == "algo66_t24_s8_k4_r2_w0_c0_i0_x0";
  });
  ASSERT_TRUE(found != all.kernels.end());
  EXPECT_EQ(launches("cublaslt_spacious", found->metadata()), 1u);
}

TEST_F(CublasLtSpace, SomeAreEvenlySpreadAndTheCountLeftOutIsSaid) {
  const Found some = in("all:5"), all = in("all");
  ASSERT_EQ(some.kernels.size(), 9u) << "four are the heuristic's";
  ASSERT_EQ(all.kernels.size(), 19u);
  EXPECT_EQ(refused(some, Reason::filter).count, 10);
  EXPECT_THAT(refused(some, Reason::filter).example, HasSubstr("5 of 15 further algorithms"));
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(some.kernels[4 + i].metadata().name(), all.kernels[4 + 3 * i].metadata().name());
  EXPECT_EQ(in("all:15").kernels.size(), 19u);
  EXPECT_EQ(refused(in("all:15"), Reason::filter).count, 0);
}

TEST_F(CublasLtSpace, WhereTheChecksComeToAnEndWhatIsLeftIsCounted) {
  auto api = Api::open(settings_);
  ASSERT_TRUE(api);
  auto gpu = testing::open_fake_gpu();
  ASSERT_TRUE(gpu);
  const auto matmul = Matmul::create(*api, problem_of(kShape));
  ASSERT_TRUE(matmul) << matmul.error().message;
  const auto whole = walk_space(**matmul, kMostChecks), few = walk_space(**matmul, 60);
  ASSERT_TRUE(whole && few);
  EXPECT_EQ(whole->accepted.size(), 19u);
  EXPECT_LE(few->checks, 60);
  EXPECT_LT(few->accepted.size(), 19u);
  for (const auto& values : few->accepted)
    EXPECT_EQ(std::ranges::count(whole->accepted, values), 1);
  const auto left = std::ranges::find(few->refusals, Reason::other,
                                      [](const auto& refused) { return refused.first; });
  ASSERT_TRUE(left != few->refusals.end());
  EXPECT_THAT(left->second.example, HasSubstr("no more than 60 checks"));
}

TEST_F(CublasLtSpace, TakesNothingElse) {
  for (const char* space : {"", "some", "all:", "all:0", "all:-1", "all:1x", "all:1000001",
                            "all:99999999999999999999", "ALL", "heuristic:3"}) {
    const ProviderSettings settings = {{"library", fake_library("fake_cublaslt")},
                                       {"space", space}};
    const Status taken = provider_->check(settings);
    ASSERT_FALSE(taken) << space;
    EXPECT_EQ(taken.error().code, ErrorCode::invalid_input);
    EXPECT_THAT(taken.error().message, HasSubstr("none of heuristic, all and all:N"));
    EXPECT_FALSE(provider_->families(settings)) << space;
  }
  EXPECT_TRUE(provider_->check({{"space", "all:1000000"}}));
}

TEST_F(CublasLt, AlgorithmsGetTheWorkspaceThatTheyAskFor) {
  for (const gemm::Shape& shape :
       {gemm::Shape{.m = 5, .n = 7, .k = 11}, gemm::Shape{.m = 5, .n = 7, .k = 11, .batch = 3}})
    for (const DType dtype : {DType::f16, DType::f32, DType::f64}) {
      gemm::Shape typed = shape;
      typed.dtype = dtype;
      EXPECT_EQ(launches("cublaslt_split", row(kSplit), typed), 1u);
    }
}

// The library's A is the problem's b, since the product is a transposed one.
TEST_F(CublasLt, AnAlgorithmIsOnlyListedWhereTheProblemsAddressesSuitIt) {
  tell_("algorithms=plain,vector,loads,stores");
  constexpr const char *kLoads = "algo73_t24_s4_k1_r0_w0_c0_i0_x0",
                       *kStores = "algo74_t24_s4_k1_r0_w0_c0_i0_x0";
  const std::map<std::string, std::vector<std::string>> listed = {
      {"a", {"default", kLoads, kStores}},
      {"b", {"default", kStores}},
      {"c", {"default", kLoads, kStores}},
      {"out", {"default", kLoads}}};
  for (const auto& [role, expected] : listed) {
    const Json fields = {{"m", 8},        {"n", 12},        {"k", 16},
                         {"beta", 1},     {"layout", "tn"}, {"alignment", {{role, 8}}},
                         {"dtype", "f32"}};
    const auto problem = gemm::operation().problem(fields);
    ASSERT_TRUE(problem) << problem.error().message;
    std::vector<std::string> names;
    for (const Kernel& kernel : found(*problem).kernels) {
      names.push_back(kernel.metadata().name());
      auto bound = bind(kernel.metadata(), *problem);
      ASSERT_TRUE(bound) << bound.error().message;
      EXPECT_TRUE(bound->launch()) << role << names.back();
      EXPECT_TRUE(bound->wait());
      EXPECT_TRUE(bound->check().right);
    }
    EXPECT_EQ(names, expected) << role;
  }
}

TEST_F(CublasLt, RefusesWhatTheCallCannotSay) {
  const auto with = [&](const auto& change) {
    gemm::Shape shape = kShape;
    change(shape);
    return problem_of(shape);
  };
  EXPECT_THAT(refusal(with([](auto& shape) { shape.a = DType::f16; }), Reason::dtype),
              HasSubstr("does not multiply these types"));
  EXPECT_THAT(refusal(with([](auto& shape) { shape.accumulate = DType::f64; }), Reason::dtype),
              HasSubstr("does not multiply these types"));
  EXPECT_THAT(refusal(with([](auto& shape) { shape.layout = "tnn"; }), Reason::layout),
              HasSubstr("row-major"));
  EXPECT_THAT(refusal(with([](auto& shape) {
                        shape.m = 1;
                        shape.layout = "tnn";
                        shape.ldout = 3;
                      }),
                      Reason::layout),
              HasSubstr("row-major"))
      << "a single row whose elements do not lie side by side";
  EXPECT_THAT(refusal(with([](auto& shape) {
                        shape.a = shape.b = DType::s8;
                        shape.out = DType::s32;
                        shape.beta = 2;
                      }),
                      Reason::dtype),
              HasSubstr("no addend"));
}

TEST_F(CublasLt, RefusesStridesWithoutLinesAndAnAddendThatLiesElsewhere) {
  std::vector<float> memory(4096);
  const auto view = [&](int64_t rows, int64_t columns, int64_t down, int64_t right) {
    return TensorView{.data = memory.data(),
                      .dtype = DType::f32,
                      .rank = 2,
                      .size = {rows, columns},
                      .stride = {down, right}};
  };
  const auto strided =
      gemm::problem({.a = view(6, 6, 24, 2), .b = view(6, 5, 5, 1), .out = view(6, 5, 5, 1)});
  ASSERT_TRUE(strided) << strided.error().message;
  EXPECT_THAT(refusal(*strided, Reason::stride), HasSubstr("of a lie side by side"));
  const auto elsewhere = gemm::problem({.a = view(6, 6, 6, 1),
                                        .b = view(6, 5, 5, 1),
                                        .out = view(6, 5, 5, 1),
                                        .c = view(6, 5, 9, 1),
                                        .beta = 1});
  ASSERT_TRUE(elsewhere) << elsewhere.error().message;
  EXPECT_THAT(refusal(*elsewhere, Reason::stride), HasSubstr("as out does"));
}

TEST_F(CublasLt, IsForGpusAlone) {
  const auto found = catalog_.get_kernels(problem_of(kShape), {.target = *Target::parse("x86_64")});
  ASSERT_TRUE(found);
  EXPECT_THAT(found->kernels, IsEmpty());
  EXPECT_THAT(found->refusals.to_json().dump(), HasSubstr("GPUs"));
}

TEST_F(CublasLt, BytesAreMultipliedInFours) {
  gemm::Shape shape{.m = 5, .n = 8, .k = 12, .alpha = 3};
  shape.a = shape.b = DType::s8;
  shape.out = DType::s32;
  EXPECT_THAT(names(shape), ElementsAre("default", kSplit, kSlow));
  EXPECT_EQ(launches("cublaslt_plain", row("default"), shape), 1u);
}

TEST_F(CublasLt, WhatTheHeuristicHasNoAnswerForIsRefusedAndNotListed) {
  gemm::Shape bytes{.m = 5, .n = 8, .k = 13};
  bytes.a = bytes.b = DType::s8;
  bytes.out = DType::s32;
  EXPECT_THAT(refusal(problem_of(bytes), Reason::other), HasSubstr("has no algorithm"));
  tell_("algorithms=refused");
  EXPECT_THAT(refusal(problem_of(kShape), Reason::other), HasSubstr("has no algorithm"));
}

TEST_F(CublasLt, AHandleThatCannotBeMadeIsARefusalAndIsTriedAgain) {
  fail_("cublasLtCreate", 3, 1);
  EXPECT_THAT(refusal(problem_of(kShape), Reason::other),
              HasSubstr("the resource allocation failed"));
  EXPECT_THAT(names(kShape), ElementsAre("default", kSplit, kSlow, kVector));
}

TEST_F(CublasLt, WhatFailsWhileItIsDescribedSaysWhereAndLeavesNothingBehind) {
  const KernelMetadata split = row(kSplit);
  const uint64_t before = objects_();
  EXPECT_EQ(launches("cublaslt_split", split, {.m = 5, .n = 7, .k = 11, .batch = 3}), 1u);
  for (const char* entry :
       {"cublasLtMatmulDescCreate", "cublasLtMatmulDescSetAttribute", "cublasLtMatrixLayoutCreate",
        "cublasLtMatrixLayoutSetAttribute", "cublasLtMatmulAlgoInit",
        "cublasLtMatmulAlgoConfigSetAttribute", "cublasLtMatmulAlgoCheck"}) {
    const Problem problem = problem_of({.m = 5, .n = 7, .k = 11, .batch = 3});
    // It is described where its workspace is asked for, twice, and then where it is bound.
    const uint64_t earlier = calls_(entry);
    ASSERT_TRUE(bind(split, problem)) << entry;
    const auto each = static_cast<int>((calls_(entry) - earlier) / 3);
    fail_(entry, 7, 2 * each + (entry == std::string("cublasLtMatmulDescSetAttribute") ? 2 : 1));
    const auto refused = bind(split, problem);
    ASSERT_FALSE(refused) << entry;
    EXPECT_THAT(refused.error().message, HasSubstr("an unsupported value")) << entry;
    EXPECT_TRUE(bind(split, problem)) << entry;
  }
  for (const char* entry :
       {"cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceSetAttribute",
        "cublasLtMatmulAlgoGetHeuristic"}) {
    fail_(entry, 3, 1);
    EXPECT_THAT(refusal(problem_of(kShape), Reason::other), HasSubstr("asking the heuristic"));
  }
  EXPECT_EQ(objects_(), before);
}

TEST_F(CublasLt, ACallThatFailsIsALaunchThatFails) {
  tell_("algorithms=failing");
  auto bound = bind(row("default"), problem_of(kShape));
  ASSERT_TRUE(bound) << bound.error().message;
  const Status launched = bound->launch();
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, ErrorCode::failed);
  EXPECT_THAT(launched.error().message, HasSubstr("13"));
}

TEST_F(CublasLt, LaunchesInTheStreamThatItIsGiven) {
  auto bound = bind(row("default"), problem_of(kShape));
  ASSERT_TRUE(bound) << bound.error().message;
  const auto& gpu = dynamic_cast<cuda::CudaDevice&>(bound->device());
  auto gate = cuda::Gate::create(gpu.driver());
  ASSERT_TRUE(gate);
  ASSERT_TRUE(gate->close(static_cast<cuda::abi::Stream>(bound->stream().native())));
  ASSERT_TRUE(bound->launch());
  EXPECT_FALSE(bound->check().right) << "it did not wait for what is ahead of it";
  gate->open();
  ASSERT_TRUE(bound->wait());
  EXPECT_TRUE(bound->check().right);
}

TEST_F(CublasLt, AWrongAlgorithmIsSeen) {
  tell_("algorithms=wrong");
  auto bound = bind(row("default"), problem_of(kShape));
  ASSERT_TRUE(bound) << bound.error().message;
  ASSERT_TRUE(bound->launch());
  EXPECT_FALSE(bound->check().right);
}

}  // namespace
}  // namespace assay::cublaslt
