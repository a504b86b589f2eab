#include "testing/provider_conformance.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <unistd.h>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/catalog.h"
#include "assay/op/operation.h"
#include "testing/gemm_problems.h"

namespace assay::testing {
namespace {

constexpr size_t kZone = 256;              // Bytes around a buffer that nobody may write.
constexpr auto kFiller = std::byte{0xff};  // NaN in every floating type.

// A buffer between two zones, at the promised alignment.
class Guarded {
 public:
  Guarded(size_t bytes, size_t alignment) : bytes_(bytes) {
    const size_t before = (std::max(kZone, alignment) + alignment - 1) / alignment * alignment;
    memory_.assign(before + bytes + kZone + alignment, kFiller);
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    begin_ = (address + before + alignment - 1) / alignment * alignment - address;
  }
  std::byte* data() { return memory_.data() + begin_; }
  std::span<std::byte> bytes() { return {data(), bytes_}; }
  bool zones_intact() const {
    const auto untouched = [](std::byte byte) { return byte == kFiller; };
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return std::all_of(memory_.begin(), begin, untouched) &&
           std::all_of(begin + static_cast<std::ptrdiff_t>(bytes_), memory_.end(), untouched);
  }

 private:
  std::vector<std::byte> memory_;
  size_t bytes_ = 0, begin_ = 0;
};

std::vector<KernelMetadata> rows_of(const Catalog& catalog) {
  std::vector<KernelMetadata> rows;
  auto found = catalog.get_kernels();
  EXPECT_TRUE(found) << found.error().message;
  if (found)
    for (const Kernel& kernel : found->kernels) rows.push_back(kernel.metadata());
  return rows;
}

// Operands of an instance in memory of their own, as a worker has them.
class Operands {
 public:
  explicit Operands(const Problem& problem) : arguments_{problem, {}} {
    for (const Operand& operand : problem.operands()) {
      buffers_.emplace_back(static_cast<size_t>(operand.span_bytes),
                            static_cast<size_t>(std::max<int64_t>(operand.alignment, 1)));
      arguments_.data.push_back(buffers_.back().data());
      if (operand.access != Access::read) output_ = buffers_.size() - 1;
    }
  }

  void fill(const Instance& instance) {
    const auto operands = arguments_.problem.operands();
    for (size_t i = 0; i < operands.size(); ++i) {
      const auto bytes = buffers_[i].bytes();
      if (operands[i].access == Access::write)
        std::fill(bytes.begin(), bytes.end(), kFiller);
      else
        std::memcpy(bytes.data(), instance.input(i).data(), bytes.size());
    }
  }

  std::string damage(const Instance& instance) {
    const auto operands = arguments_.problem.operands();
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!buffers_[i].zones_intact()) return "wrote outside operand " + operands[i].role;
      const auto bytes = buffers_[i].bytes();
      if (operands[i].access == Access::read &&
          std::memcmp(bytes.data(), instance.input(i).data(), bytes.size()) != 0)
        return "changed operand " + operands[i].role;
    }
    return {};
  }

  const Arguments& arguments() const { return arguments_; }
  std::span<std::byte> output() { return buffers_[output_].bytes(); }

 private:
  Arguments arguments_;
  std::vector<Guarded> buffers_;
  size_t output_ = 0;
};

// Runs a kernel on every kind of input that says something about the problem.
class Runner {
 public:
  Runner(Device& device, const CompileContext& context) : device_(device), context_(context) {}

  void load(const Problem& problem) {
    instances_.clear();
    const auto operation = find_operation(problem.operation());
    ASSERT_TRUE(operation) << operation.error().message;
    for (const InputKind kind : (*operation)->useful_kinds(problem)) {
      auto instance = (*operation)->make_instance(problem, kind, 7);
      ASSERT_TRUE(instance) << problem.name() << ": " << instance.error().message;
      instances_.push_back(std::move(*instance));
    }
  }

  void run(const Kernel& kernel, const Problem& problem, int threads) {
    const auto artifact = kernel.compile(problem, device_.target(), context_);
    ASSERT_TRUE(artifact) << artifact.error().message;
    // A workspace holds garbage when a kernel first sees it.
    Guarded workspace(kernel.workspace_bytes(problem, threads), 64);
    auto stream = device_.make_stream();
    ASSERT_TRUE(stream) << stream.error().message;
    for (const auto& instance : instances_) {
      Operands operands(problem);
      operands.fill(*instance);
      auto plan = kernel.plan({.arguments = operands.arguments(),
                               .artifact = *artifact,
                               .device = device_,
                               .workspace = workspace.bytes(),
                               .threads = threads});
      ASSERT_TRUE(plan) << plan.error().message;
      EXPECT_EQ(plan->prepared_bytes() > 0, kernel.metadata().prepares());
      // Twice, from a dirty output: a plan is launched again and again.
      for (int launch = 0; launch < 2; ++launch) {
        const auto launched = plan->launch(**stream);
        ASSERT_TRUE(launched) << launched.error().message;
        const Check check = instance->check(operands.output());
        ASSERT_TRUE(check.right) << to_string(instance->kind()) << " input, launch " << launch
                                 << ": " << check.first_wrong << ", " << check.wrong << " of "
                                 << check.compared << " wrong, largest error " << check.max_error
                                 << " of the budget (" << check.method << ")";
        ASSERT_EQ(operands.damage(*instance), "") << to_string(instance->kind());
        ASSERT_TRUE(workspace.zones_intact()) << "wrote outside its workspace";
      }
    }
  }

 private:
  Device& device_;
  const CompileContext& context_;
  std::vector<std::unique_ptr<Instance>> instances_;
};

}  // namespace

void ProviderConformance::SetUp() {
  provider_ = GetParam().make();
  ASSERT_NE(provider_, nullptr);
  const Availability availability = provider_->availability(GetParam().settings);
  if (!availability.available) {
    EXPECT_NE(availability.reason, "");
    GTEST_SKIP() << availability.reason;
  }
  auto families = provider_->families(GetParam().settings);
  ASSERT_TRUE(families) << families.error().message;
  families_ = std::move(*families);
  if (GetParam().bring)
    for (auto& family : GetParam().bring(*provider_)) families_.push_back(std::move(family));
  ASSERT_FALSE(families_.empty());
}

std::vector<ConformanceSubject> conformance_subject(ConformanceSubject subject, std::string name) {
  subject.name = std::move(name);
  return {std::move(subject)};
}

}  // namespace assay::testing

namespace {

using namespace assay;           // NOLINT: the body of a test.
using namespace assay::testing;  // NOLINT

Catalog catalog_of(const Provider& provider,
                   const std::vector<std::shared_ptr<const Family>>& families) {
  Catalog catalog;
  for (const auto& family : families)
    catalog.add(provider.info().name, provider.info().role, family);
  return catalog;
}

TEST_P(AssayProviderConformance, SaysWhoItIs) {
  EXPECT_EQ(provider_->info().name, GetParam().name);
  EXPECT_NE(provider_->info().summary, "");
  EXPECT_NE(provider_->info().licence, "");
  std::set<std::string_view> names;
  for (const auto& family : families_)
    EXPECT_TRUE(names.insert(family->name()).second) << family->name() << " twice";
}

TEST_P(AssayProviderConformance, RowsHaveNamesAndIdsOfTheirOwnAndSurviveJson) {
  const Catalog catalog = catalog_of(*provider_, families_);
  const std::vector<KernelMetadata> rows = rows_of(catalog);
  ASSERT_FALSE(rows.empty());
  std::map<std::string, std::string> ids;
  std::set<std::string> names;
  for (const KernelMetadata& row : rows) {
    const auto [other, fresh] = ids.emplace(row.id(), row.name());
    EXPECT_TRUE(fresh) << row.name() << " has the id of " << other->second;
    // Rows of different rules (dtypes, say) may share a name; a problem sees only one of them.
    EXPECT_TRUE(
        names.insert(row.family() + " " + row.name() + " " + row.rule().to_json().dump()).second)
        << row.name() << " twice";
    EXPECT_EQ(row.name().find_first_of("{} \n"), std::string::npos) << row.name();
    const auto again = KernelMetadata::from_json(row.to_json());
    ASSERT_TRUE(again) << row.name() << ": " << again.error().message;
    EXPECT_EQ(again->id(), row.id());
    EXPECT_EQ(again->to_json(), row.to_json());
  }
  const auto found = catalog.find(rows.front().id());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->metadata().name(), rows.front().name());
}

TEST_P(AssayProviderConformance, EnumeratesTheSameRowsTwiceAndOnlyFewerForAProblem) {
  const Catalog catalog = catalog_of(*provider_, families_);
  std::vector<std::string> first;
  for (const KernelMetadata& row : rows_of(catalog)) first.push_back(row.id());
  std::vector<std::string> second;
  for (const KernelMetadata& row : rows_of(catalog)) second.push_back(row.id());
  EXPECT_EQ(first, second);
  const std::set<std::string> all(first.begin(), first.end());
  for (const Problem& problem : gemm_problems()) {
    const auto found = catalog.get_kernels(problem);
    ASSERT_TRUE(found) << found.error().message;
    std::set<std::string> names;
    for (const Kernel& kernel : found->kernels) {
      EXPECT_TRUE(all.contains(kernel.metadata().id())) << kernel.metadata().name();
      EXPECT_TRUE(names.insert(kernel.metadata().family() + "/" + kernel.metadata().name()).second)
          << problem.name() << ": " << kernel.metadata().name() << " twice";
    }
    EXPECT_EQ(static_cast<int64_t>(found->kernels.size()) + found->refusals.total(),
              static_cast<int64_t>(all.size()))
        << problem.name() << ": rows vanished without a refusal";
  }
}

TEST_P(AssayProviderConformance, EveryRefusalIsASentence) {
  const Catalog catalog = catalog_of(*provider_, families_);
  const std::vector<KernelMetadata> rows = rows_of(catalog);
  auto device = cpu::open({.threads = 1});
  ASSERT_TRUE(device) << device.error().message;
  for (const Problem& problem : gemm_problems()) {
    for (const KernelMetadata& row : rows) {
      const auto kernel = catalog.from_metadata(row);
      ASSERT_TRUE(kernel) << kernel.error().message;
      for (const Refusal& refusal : kernel->supports(problem, (*device)->target()))
        EXPECT_GE(refusal.sentence.size(), 10u) << row.name() << " on " << problem.name();
      Target other;
      other.arch = "no_such_arch";
      const Refusals elsewhere = kernel->supports(problem, other);
      EXPECT_FALSE(elsewhere.empty() && !row.rule().targets.empty())
          << row.name() << " claims to run on a foreign target";
    }
  }
}

TEST_P(AssayProviderConformance, ComputesWhatItSupports) {
  const Catalog catalog = catalog_of(*provider_, families_);
  auto folder = TemporaryDirectory::create("/tmp", "assay-conformance-");
  ASSERT_TRUE(folder) << folder.error().message;
  const ArtifactCache cache(folder->path(), Log{});
  const CompileContext context{.cache = &cache};
  auto device = cpu::open({.threads = 1});
  ASSERT_TRUE(device) << device.error().message;
  Runner runner(**device, context);
  std::set<std::string> ran;
  int pairs = 0;
  for (const Problem& problem : gemm_problems()) {
    const auto found = catalog.get_kernels(problem, {.target = (*device)->target()});
    ASSERT_TRUE(found) << found.error().message;
    if (found->kernels.empty()) continue;
    runner.load(problem);
    const size_t count = found->kernels.size();
    const size_t wanted =
        GetParam().rows_per_problem == 0 ? count : std::min(count, GetParam().rows_per_problem);
    for (size_t i = 0; i < wanted; ++i) {
      const Kernel& kernel = found->kernels[i * count / wanted];
      for (const int threads : {1, 2}) {
        SCOPED_TRACE(
            fmt::format("{} on {}, {} threads", kernel.metadata().name(), problem.name(), threads));
        runner.run(kernel, problem, threads);
        if (HasFatalFailure()) break;
      }
      ++pairs;
      ran.insert(kernel.metadata().family());
    }
  }
  RecordProperty("kernels_times_problems", pairs);
  // A family that no problem of the list reaches was not tested at all.
  for (const auto& family : families_)
    EXPECT_TRUE(ran.contains(std::string(family->name()))) << family->name() << " never ran";
}

TEST_P(AssayProviderConformance, TakesNewPointersForTheSameProblem) {
  const Catalog catalog = catalog_of(*provider_, families_);
  auto folder = TemporaryDirectory::create("/tmp", "assay-conformance-");
  ASSERT_TRUE(folder) << folder.error().message;
  const ArtifactCache cache(folder->path(), Log{});
  const CompileContext context{.cache = &cache};
  auto device = cpu::open({.threads = 1});
  ASSERT_TRUE(device) << device.error().message;
  auto stream = (*device)->make_stream();
  ASSERT_TRUE(stream);
  bool any = false;
  for (const Problem& problem : gemm_problems()) {
    if (problem.name() != "odd_tt_f32_f32" && problem.name() != "row_tt_f32_f32") continue;
    const auto found = catalog.get_kernels(problem, {.target = (*device)->target()});
    ASSERT_TRUE(found) << found.error().message;
    const auto operation = find_operation(problem.operation());
    ASSERT_TRUE(operation);
    for (const Kernel& kernel : found->kernels) {
      if (kernel.metadata().prepares()) continue;
      SCOPED_TRACE(kernel.metadata().name() + " on " + problem.name());
      const auto one = (*operation)->make_instance(problem, InputKind::uniform, 1);
      const auto two = (*operation)->make_instance(problem, InputKind::uniform, 2);
      ASSERT_TRUE(one && two);
      Operands first(problem), second(problem);
      first.fill(**one);
      second.fill(**two);
      const auto artifact = kernel.compile(problem, (*device)->target(), context);
      ASSERT_TRUE(artifact) << artifact.error().message;
      Guarded workspace(kernel.workspace_bytes(problem, 1), 64);
      auto plan = kernel.plan({.arguments = first.arguments(),
                               .artifact = *artifact,
                               .device = **device,
                               .workspace = workspace.bytes()});
      ASSERT_TRUE(plan) << plan.error().message;
      ASSERT_TRUE(plan->launch(**stream));
      ASSERT_TRUE(plan->rebind(second.arguments().data));
      ASSERT_TRUE(plan->launch(**stream));
      EXPECT_TRUE((*one)->check(first.output()).right);
      EXPECT_TRUE((*two)->check(second.output()).right);
      any = true;
    }
  }
  if (!any) GTEST_SKIP() << "no kernel takes f32";
}

}  // namespace
