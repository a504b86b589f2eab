#include "assay/kernel/kernel.h"

#include <array>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/testing/toy_family.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ToyFamily;

// Counts launches in the output operand: data is a, b, out, workspace, prepared.
int count_launch(const void*, void* const* data) {
  static_cast<float*>(data[2])[0] += 1;
  return 0;
}

class KernelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = cpu::open({.threads = 1});
    ASSERT_TRUE(opened) << opened.error().message;
    device_ = std::move(*opened);
    stream_ = std::move(*device_->make_stream());
    family_->bind = [](const Binding&, std::vector<Step>& steps) -> Status {
      steps.push_back(HostStep{&count_launch, nullptr});
      return {};
    };
  }

  Kernel kernel(KernelTraits traits = {.name = "toy"}) {
    if (!traits.rule) traits.rule = testing::shared(testing::gemm_rule());
    traits.provider = "toys";
    traits.family = "toy";
    return Kernel(family_, KernelMetadata(std::move(traits), {}));
  }

  Result<Plan> plan(const Kernel& made, std::span<std::byte> workspace = {},
                    Prepared* prepared = nullptr) {
    return made.plan({.arguments = arguments_,
                      .artifact = artifact_,
                      .device = *device_,
                      .workspace = workspace,
                      .threads = 1,
                      .prepared = prepared});
  }

  static Problem problem(std::vector<std::string> constant = {}) {
    return *gemm::problem(gemm::Shape{.m = 4, .n = 4, .k = 4, .constant = std::move(constant)});
  }

  std::shared_ptr<ToyFamily> family_ =
      std::make_shared<ToyFamily>("toy", std::vector<DesignGroup>());
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  Artifact artifact_ = Artifact::without_bytes({});
  alignas(64) std::array<float, 16> a_{}, b_{}, out_{}, other_{};
  Arguments arguments_{problem(), {a_.data(), b_.data(), out_.data()}};
};

TEST_F(KernelTest, SupportsAsksTheRuleFirstAndThenTheFamily) {
  int asked = 0;
  family_->supports = [&](const KernelMetadata&, const Problem&) {
    ++asked;
    Refusals refusals;
    refusals.add(Reason::size, "no");
    return refusals;
  };
  EXPECT_EQ(kernel().supports(problem(), device_->target()).front().reason, Reason::size);
  ProblemRule rule = testing::gemm_rule(DType::f64);
  const Refusals refusals =
      kernel({.name = "toy", .rule = testing::shared(rule)}).supports(problem(), device_->target());
  EXPECT_EQ(refusals.front().reason, Reason::dtype);
  EXPECT_EQ(asked, 1);
}

TEST_F(KernelTest, CompileSeesTheSizesThatItIsSpecialisedOnAndNoOthers) {
  std::vector<Json> keys;
  std::vector<int64_t> seen;
  family_->compile = [&](const MaskedProblem& masked) {
    keys.push_back(masked.key());
    seen = {masked.dimension("m"), masked.dimension("k"),
            masked.unmasked_types().operands()[0].sizes[2],
            masked.unmasked_types().operands()[0].span_bytes};
    return Result<Artifact>(Artifact::without_bytes({}));
  };
  const Kernel special = kernel({.name = "toy", .specialised_on = {"k"}});
  for (const auto& [m, k] : {std::pair{4, 4}, std::pair{5, 4}, std::pair{4, 6}}) {
    const auto shape = gemm::problem(gemm::Shape{.m = m, .n = 4, .k = k});
    ASSERT_TRUE(special.compile(*shape, device_->target(), {}));
    EXPECT_THAT(seen, ElementsAre(0, k, 0, 0));
  }
  EXPECT_EQ(keys[0], keys[1]);
  EXPECT_NE(keys[0], keys[2]);
}

TEST_F(KernelTest, TheKeyTellsTypesApart) {
  const auto key = [](const gemm::Shape& shape) {
    return canonical(MaskedProblem(*gemm::problem(shape), {}).key());
  };
  const std::string plain = key({.m = 4, .n = 4, .k = 4});
  EXPECT_EQ(plain, key({.name = "x", .role = "y", .m = 9, .n = 8, .k = 7, .weight = 2}));
  EXPECT_NE(plain, key({.m = 4, .n = 4, .k = 4, .dtype = DType::f64}));
  EXPECT_NE(plain, key({.m = 4, .n = 4, .k = 4, .layout = "tt"}));
  EXPECT_NE(plain, key({.m = 4, .n = 4, .k = 4, .constant = {"b"}}));
  EXPECT_NE(plain, key({.m = 4, .n = 4, .k = 4, .alpha = 2}));
}

TEST_F(KernelTest, LaunchesAgainAndAgainAndRebinds) {
  auto made = plan(kernel());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->steps().size(), 1u);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(made->launch(*stream_));
  EXPECT_EQ(out_[0], 3);
  const std::array<void*, 3> moved = {a_.data(), b_.data(), other_.data()};
  ASSERT_TRUE(made->rebind(moved));
  ASSERT_TRUE(made->launch(*stream_));
  EXPECT_EQ(out_[0], 3);
  EXPECT_EQ(other_[0], 1);
}

TEST_F(KernelTest, StepsGetOperandsThenWorkspaceThenPrepared) {
  family_->workspace = [](const Problem&, int) { return size_t{64}; };
  alignas(64) std::array<std::byte, 128> workspace;
  const auto made = plan(kernel(), workspace);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_THAT(made->data(),
              ElementsAre(a_.data(), b_.data(), out_.data(), workspace.data(), nullptr));
}

TEST_F(KernelTest, RunsStepsInOrderUntilOneFails) {
  static std::vector<int> order;
  order.clear();
  family_->bind = [](const Binding&, std::vector<Step>& steps) -> Status {
    for (int code : {0, 7, 0}) {
      steps.push_back(HostStep{[](const void* state, void* const*) {
                                 order.push_back(*static_cast<const int*>(state));
                                 return order.back();
                               },
                               std::make_shared<int>(code)});
    }
    return {};
  };
  auto made = plan(kernel());
  const Status launched = made->launch(*stream_);
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().code, ErrorCode::failed);
  EXPECT_THAT(launched.error().message, HasSubstr("7"));
  EXPECT_THAT(order, ElementsAre(0, 7));
}

TEST_F(KernelTest, AStepThatKnowsWhyItFailedIsAsked) {
  for (const bool knows : {true, false}) {
    family_->bind = [knows](const Binding&, std::vector<Step>& steps) -> Status {
      steps.push_back(HostStep{[](const void*, void* const*) { return 7; },
                               std::make_shared<bool>(knows),
                               [](const void* state) {
                                 const bool* const known = static_cast<const bool*>(state);
                                 return std::string(*known ? "the sky is falling" : "");
                               }});
      return {};
    };
    auto made = plan(kernel());
    const Status launched = made->launch(*stream_);
    ASSERT_FALSE(launched);
    EXPECT_EQ(launched.error().message, knows ? "the kernel reported code 7: the sky is falling"
                                              : "the kernel reported code 7");
  }
}

TEST_F(KernelTest, AnEmptyPlanAndAnUndeclaredDependencyAreRefused) {
  EXPECT_FALSE(Plan().launch(*stream_));
  auto made = plan(kernel());
  EXPECT_EQ(made->launch(*stream_, Dependency::programmatic).error().code, ErrorCode::unsupported);
  auto declared = plan(kernel({.name = "toy", .dependent_launch = true}));
  EXPECT_TRUE(declared->launch(*stream_, Dependency::programmatic));
}

TEST_F(KernelTest, RefusesPointersThatBreakThePromise) {
  arguments_.data[1] = nullptr;
  EXPECT_THAT(plan(kernel()).error().message, HasSubstr("operand b is null"));
  arguments_.data[1] = reinterpret_cast<char*>(b_.data()) + 4;
  EXPECT_THAT(plan(kernel()).error().message, HasSubstr("alignment"));
  arguments_.data = {a_.data(), b_.data()};
  EXPECT_THAT(plan(kernel()).error().message, HasSubstr("2 pointers given for the 3 operands"));
  arguments_.data = {a_.data(), b_.data(), out_.data()};
  auto made = plan(kernel());
  ASSERT_TRUE(made);
  EXPECT_FALSE(made->rebind(std::array<void*, 2>{a_.data(), b_.data()}));
  EXPECT_FALSE(made->rebind(std::array<void*, 3>{a_.data(), nullptr, other_.data()}));
  EXPECT_THAT(made->data()[2], out_.data()) << "a refused rebind changes nothing";
}

TEST_F(KernelTest, ChecksTheWorkspace) {
  family_->workspace = [](const Problem& asked, int threads) {
    return static_cast<size_t>(asked.dimension("m") * 16 * threads);
  };
  EXPECT_EQ(kernel().workspace_bytes(problem(), 2), 128u);
  alignas(64) std::array<std::byte, 72> memory;
  EXPECT_THAT(plan(kernel(), std::span(memory).first(63)).error().message,
              HasSubstr("needs a workspace of 64 bytes, and 63 were given"));
  EXPECT_THAT(plan(kernel(), std::span(memory).subspan(8)).error().message,
              HasSubstr("not aligned"));
  EXPECT_TRUE(plan(kernel(), std::span(memory).first(64)));
}

KernelTraits prepared_traits() {
  ProblemRule rule = testing::gemm_rule();
  rule.operands[1].prepared = true;
  return {.name = "packed", .rule = testing::shared(std::move(rule)), .prepares = true};
}

TEST_F(KernelTest, PreparesOnceAndKeepsTheOperandInItsPlace) {
  arguments_.problem = problem({"b"});
  b_[0] = 42;
  int prepared = 0;
  family_->prepare = [&](const Binding& binding, Prepared& memory) -> Status {
    ++prepared;
    ASSAY_TRY(auto packed, memory.allocate(100));
    reinterpret_cast<float*>(packed.data())[0] = static_cast<const float*>(binding.data[1])[0];
    return {};
  };
  size_t bound_bytes = 0;
  family_->bind = [&](const Binding& binding, std::vector<Step>& steps) -> Status {
    bound_bytes = binding.prepared.size();
    steps.push_back(HostStep{[](const void*, void* const* data) {
                               static_cast<float*>(data[2])[0] = static_cast<float*>(data[4])[0];
                               return 0;
                             },
                             nullptr});
    return {};
  };
  auto made = plan(kernel(prepared_traits()));
  ASSERT_TRUE(made) << made.error().message;
  b_[0] = 0;  // Packed already.
  ASSERT_TRUE(made->launch(*stream_));
  ASSERT_TRUE(made->launch(*stream_));
  EXPECT_EQ(out_[0], 42);
  EXPECT_EQ(prepared, 1);
  EXPECT_EQ(made->prepared_bytes(), 100u);
  EXPECT_EQ(bound_bytes, 100u);
  EXPECT_GE(made->prepare_seconds(), 0);
  EXPECT_THAT(
      made->rebind(std::array<void*, 3>{a_.data(), other_.data(), out_.data()}).error().message,
      HasSubstr("prepared"));
  EXPECT_TRUE(made->rebind(std::array<void*, 3>{other_.data(), b_.data(), out_.data()}));
}

TEST_F(KernelTest, PreparesIntoTheHarnessesMemory) {
  struct Given final : Prepared {
    Result<std::span<std::byte>> allocate(size_t bytes) override {
      if (bytes > memory.size()) return fail(ErrorCode::machine, "out of memory");
      return std::span<std::byte>(memory);
    }
    alignas(4096) std::array<std::byte, 4096> memory;
  } given;
  size_t wanted = 16;
  family_->prepare = [&](const Binding&, Prepared& memory) -> Status {
    ASSAY_TRY(memory.allocate(wanted));
    return {};
  };
  arguments_.problem = problem({"b"});
  const auto made = plan(kernel(prepared_traits()), {}, &given);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->data()[4], given.memory.data());
  EXPECT_EQ(made->prepared_bytes(), 16u);
  wanted = 5000;
  EXPECT_EQ(plan(kernel(prepared_traits()), {}, &given).error().code, ErrorCode::machine);
}

TEST_F(KernelTest, HooksThatThrowAreErrorsWithTheirNames) {
  family_->bind = [](const Binding&, std::vector<Step>&) -> Status {
    throw std::runtime_error("no tile");
  };
  EXPECT_THAT(plan(kernel()).error().message,
              HasSubstr("bind of family toy threw for toy: no tile"));
  family_->compile = [](const MaskedProblem&) -> Result<Artifact> { throw 3; };
  EXPECT_THAT(kernel().compile(problem(), device_->target(), {}).error().message,
              HasSubstr("compile of family toy threw"));
  family_->supports = [](const KernelMetadata&, const Problem&) -> Refusals {
    throw std::runtime_error("confused");
  };
  EXPECT_THAT(kernel().supports(problem(), device_->target()).front().sentence,
              HasSubstr("confused"));
}

TEST_F(KernelTest, AFamilyMustBindAFunction) {
  family_->bind = [](const Binding&, std::vector<Step>&) -> Status { return {}; };
  EXPECT_THAT(plan(kernel()).error().message, HasSubstr("to no function"));
  family_->bind = [](const Binding&, std::vector<Step>& steps) -> Status {
    steps.push_back(HostStep{});
    return {};
  };
  EXPECT_THAT(plan(kernel()).error().message, HasSubstr("to no function"));
}

TEST_F(KernelTest, RunDoesAllOfIt) {
  family_->workspace = [](const Problem&, int) { return size_t{1000}; };
  ASSERT_TRUE(kernel().run(arguments_, *device_, *stream_, {}));
  EXPECT_EQ(out_[0], 1);
  const Kernel wrong =
      kernel({.name = "double", .rule = testing::shared(testing::gemm_rule(DType::f64))});
  const Status ran = wrong.run(arguments_, *device_, *stream_, {});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, ErrorCode::unsupported);
  EXPECT_THAT(ran.error().message, HasSubstr("operand a is f32; this takes f64"));
}

// A provider that is new says where its compiler lies, and no record does.
TEST_F(KernelTest, ARecordHoldsDeclaredSettingsThatNameNoFile) {
  const ProviderInfo info{
      .name = "foo",
      .settings = {
          {"space", "all|few"}, {"rustc", "found|PATH"}, {"nvcc", "FILE"}, {"pool", "DIR"}}};
  EXPECT_TRUE(may_be_recorded(info, "space"));
  for (const char* name : {"rustc", "nvcc", "pool", "library", "cxx", "cache", "pythons", ""})
    EXPECT_FALSE(may_be_recorded(info, name)) << name;
}

TEST_F(KernelTest, AProviderTakesNoFilesUnlessItSaysSo) {
  class Plain final : public Provider {
   public:
    const ProviderInfo& info() const override { return info_; }

   private:
    Availability do_availability(const ProviderSettings&) const override { return {}; }
    Result<std::vector<std::shared_ptr<const Family>>> do_families(
        const ProviderSettings&) const override {
      return std::vector<std::shared_ptr<const Family>>();
    }
    ProviderInfo info_{.name = "plain"};
  };
  KernelEntry entry;
  entry.origin = "my.cc:1";
  EXPECT_THAT(Plain().bring(entry).error().message,
              HasSubstr("my.cc:1: provider plain takes no files"));
  EXPECT_TRUE(Plain().extensions().empty());
  entry.flags = {"-O3"};
  EXPECT_THAT(Plain().bring(entry).error().message,
              HasSubstr("my.cc:1: flags: nothing is compiled here; remove '-O3'"));
}

}  // namespace
}  // namespace assay
