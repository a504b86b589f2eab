#include "testing/provider_conformance.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/catalog.h"
#include "assay/verify/conformance.h"

namespace assay::testing {

void ProviderConformance::SetUp() {
  auto device = GetParam().open_device ? GetParam().open_device() : cpu::open({.threads = 1});
  ASSERT_TRUE(device) << device.error().message;
  device_ = std::move(*device);
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

TEST_P(AssayProviderConformance, SaysWhoItIs) {
  EXPECT_EQ(provider_->info().name, GetParam().name);
  EXPECT_NE(provider_->info().summary, "");
  EXPECT_NE(provider_->info().licence, "");
}

// What `checks` takes of conformance.h, on every problem; the families that computed something.
std::set<std::string> conform(const Catalog& catalog, Device& device,
                              const ConformanceSubject& asked,
                              const std::function<bool(const verify::ConformanceCheck&)>& checks) {
  std::set<std::string> ran, families;
  auto folder = TemporaryDirectory::create("/tmp", "assay-conformance-");
  const auto problems = verify::conformance_problems();
  EXPECT_TRUE(folder && problems);
  if (!folder || !problems) return families;
  const ArtifactCache cache(folder->path(), Log{});
  const CompileContext context{.cache = &cache, .run_guest = &run_here};
  const verify::ConformanceSubject subject{catalog, device, context, asked.rows_per_problem,
                                           asked.rows_by_problem};
  for (const verify::ConformanceCheck& check : verify::conformance_checks()) {
    if (!checks(check)) continue;
    for (const Problem& problem : *problems) {
      const auto result = check.run(subject, &problem);
      for (const std::string& fault : result.faults)
        ADD_FAILURE() << check.name << (check.per_problem ? " on " + problem.name() : "") << ": "
                      << fault;
      ran.insert(result.ran.begin(), result.ran.end());
      if (!check.per_problem) break;
    }
  }
  const auto all = catalog.get_kernels();
  for (size_t i = 0; all && i < all->kernels.size() && !ran.empty(); ++i)
    if (const KernelMetadata& row = all->kernels[i].metadata(); ran.contains(row.id()))
      families.insert(row.family());
  return families;
}

bool launches(const verify::ConformanceCheck& check) { return check.name == "computes"; }

Catalog catalog_of(const Provider& provider,
                   const std::vector<std::shared_ptr<const Family>>& families) {
  Catalog catalog;
  for (const auto& family : families)
    catalog.add(provider.info().name, provider.info().role, family);
  return catalog;
}

TEST_P(AssayProviderConformance, ListsAndRefusesAsAnyProviderMust) {
  conform(catalog_of(*provider_, families_), *device_, GetParam(),
          [](const auto& check) { return !launches(check); });
}

// The families that have nothing but this machine's processor against them on some problem.
std::set<std::string> wanting_another_processor(const Catalog& catalog, const Target& here) {
  std::set<std::string> families;
  const auto problems = verify::conformance_problems();
  const auto all = catalog.get_kernels();
  EXPECT_TRUE(problems && all);
  if (!problems || !all) return families;
  for (const Kernel& kernel : all->kernels)
    for (const Problem& problem : *problems)
      if (const Refusals refusals = kernel.supports(problem, here);
          !refusals.empty() && std::ranges::all_of(refusals, [](const Refusal& refusal) {
            return refusal.reason == Reason::target;
          }))
        families.insert(kernel.metadata().family());
  return families;
}

TEST_P(AssayProviderConformance, ComputesWhatItSupports) {
  const Catalog catalog = catalog_of(*provider_, families_);
  const auto ran = conform(catalog, *device_, GetParam(), launches);
  // A family that no problem of the list reaches was not tested at all; but one that is made for
  // processors unlike this one cannot be.
  std::set<std::string> unreached;
  for (const auto& family : families_)
    if (!ran.contains(std::string(family->name()))) unreached.emplace(family->name());
  if (!unreached.empty())
    for (const std::string& family : wanting_another_processor(catalog, device_->target()))
      unreached.erase(family);
  EXPECT_THAT(unreached, ::testing::IsEmpty());
}

}  // namespace
