#include <atomic>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/dynamic_library.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/input/manifest.h"
#include "assay/op/gemm/gemm.h"
#include "providers/plugin/info.h"
#include "testing/bound_kernel.h"
#include "testing/build_plugin.h"
#include "testing/provider_conformance.h"

namespace assay::plugin {
namespace {

using testing::BoundKernel;
using testing::build_plugin;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string source(const std::string& name) {
  const char* root = std::getenv("ASSAY_SOURCE_DIR");
  return fmt::format("{}/tests/plugins/{}", root == nullptr ? "." : root, name);
}

LaunchForms itself() {
  return [](const KernelEntry&) { return LaunchForm::itself; };
}

Result<std::shared_ptr<const Family>> bring_file(const std::string& file) {
  ASSAY_TRY(const auto entries, input::read_kernels(file, itself()));
  return make_provider()->bring(entries.front());
}

class Plugin : public ::testing::Test {
 protected:
  Plugin() : folder_(TemporaryDirectory::create("/tmp", "assay-plugin-").value()) {}

  std::string build(const std::string& name, const std::vector<std::string>& macros = {}) {
    const auto built = build_plugin(source(name), folder_.path(), macros);
    EXPECT_TRUE(built) << built.error().message;
    return built.value_or("");
  }

  // The error of bringing hostile.c with one fault, without the path before it.
  std::string error_of(const std::string& fault) {
    const std::string file = build("hostile.c", {fault});
    const auto family = bring_file(file);
    if (family) return "no error";
    EXPECT_EQ(family.error().code, ErrorCode::invalid_input);
    const std::string& message = family.error().message;
    return message.starts_with(file + ": ") ? message.substr(file.size() + 2)
                                            : "no path: " + message;
  }

  static Catalog catalog_of(std::shared_ptr<const Family> family) {
    Catalog catalog;
    catalog.add("plugin", ProviderRole::user, std::move(family));
    return catalog;
  }

  TemporaryDirectory folder_;
};

TEST_F(Plugin, WhatIsWrongWithADescriptorIsASentence) {
  const std::pair<const char*, const char*> cases[] = {
      {"CASE_NO_ENTRY", "has no function assay_plugin_v1"},
      {"CASE_NEWER_ENTRY", "speaks version 2 of the plug-in ABI, and this assay speaks version 1"},
      {"CASE_OTHER_VERSION",
       "was written for version 7 of the plug-in ABI, and this assay speaks "
       "version 1"},
      {"CASE_SMALL_PLUGIN", "its AssayPlugin has 16 bytes, and that of version 1 has"},
      {"CASE_SMALL_KERNEL", "kernels[0]: its AssayKernel has 24 bytes, and that of version 1 has"},
      {"CASE_NULL_KERNELS", "says that it has 1 kernels, and kernels is null"},
      {"CASE_NULL_KERNEL", "kernels[0] is null"},
      {"CASE_NULL_METADATA", "kernels[0].metadata is null"},
      {"CASE_NULL_BIND", "kernels[0] (kernel): bind is null"},
      {"CASE_NULL_NAME", "name is null"},
      {"CASE_ENDLESS_NAME", "name has no end within 4096 bytes"},
      {"CASE_NO_KERNELS", "offers no kernel"},
      {"CASE_TOO_MANY_KERNELS", "says that it has 4000000000 kernels; at most 4096"},
      {"CASE_SAME_NAME_TWICE", "two kernels are called 'kernel'"},
      {"CASE_BAD_JSON", "kernels[0].metadata:1:"},
      {"CASE_NOT_AN_OBJECT", "kernels[0].metadata:1:1: a kernel is a map"},
      {"CASE_NO_NAME", "kernels[0].metadata:1:1: has no field 'name'"},
      {"CASE_UNKNOWN_FIELD",
       "kernels[0].metadata:1:20: there is no field 'dtyp'; did you mean 'dtype'?"},
      {"CASE_PREPARE_WITHOUT_HOOK", "its metadata has prepare, and the hook is null"},
      {"CASE_FAILS", "assay_plugin_v1 returned 3: no licence on \\x1b[31mthis machine"},
  };
  for (const auto& [fault, part] : cases) EXPECT_THAT(error_of(fault), HasSubstr(part)) << fault;
}

TEST_F(Plugin, WhatIsNoPluginIsASentence) {
  ASSERT_TRUE(write_file_atomic(folder_.file("text.so"), "not an object\n"));
  EXPECT_THAT(bring_file(folder_.file("text.so")).error().message, HasSubstr("text.so"));
  EXPECT_THAT(bring_file(folder_.file("absent.so")).error().message, HasSubstr("there is no file"));
}

TEST_F(Plugin, OneOfItsKernelsCanBeNamed) {
  const std::string file = build("good.c");
  const auto names = [&](const std::string& what) {
    std::vector<std::string> list;
    const auto family = bring_file(what);
    if (!family) return std::vector<std::string>{family.error().message};
    const auto found = catalog_of(*family).get_kernels();
    for (const Kernel& kernel : found->kernels) list.push_back(kernel.metadata().name());
    return list;
  };
  EXPECT_THAT(names(file), ElementsAre("strided_unroll1_fast0", "strided_unroll2_fast0", "packed"));
  EXPECT_THAT(names(file + "::packed"), ElementsAre("packed"));
  EXPECT_THAT(names(file + "::paked"),
              ElementsAre(HasSubstr("there is no kernel 'paked'; did you mean 'packed'?")));
}

TEST_F(Plugin, ItsOwnRefusalsCarryTheirReason) {
  const auto family = bring_file(build("good.c"));
  ASSERT_TRUE(family) << family.error().message;
  const auto problem =
      gemm::problem({.m = 2, .n = 3, .k = 2001, .layout = "tn", .constant = {"b"}});
  const auto found = catalog_of(*family).get_kernels(
      *problem, {.target = cpu::host_target(), .filter = "kernel == 'packed'"});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->kernels.empty());
  bool told = false;
  for (const auto& [reason, refusal] : found->refusals)
    told |= reason == Reason::size && refusal.example.starts_with("k is beyond 2000");
  EXPECT_TRUE(told) << found->refusals.to_json().dump();
}

TEST_F(Plugin, StatesAreReleasedWithTheirPlans) {
  const std::string file = build("good.c");
  const auto family = bring_file(file);
  ASSERT_TRUE(family) << family.error().message;
  const auto library = DynamicLibrary::open(file, {.deep_bind = false, .no_load = true});
  ASSERT_TRUE(library) << library.error().message;
  int (*released)() = nullptr;
  ASSERT_TRUE(library->load("good_released", released));
  const auto problem = gemm::problem({.m = 4, .n = 5, .k = 6, .layout = "tn", .constant = {"b"}});
  const auto kernel = testing::find_kernel({*family}, *problem, "good/packed");
  ASSERT_TRUE(kernel) << kernel.error().message;
  {
    auto bound = BoundKernel::make(*kernel, *problem);
    ASSERT_TRUE(bound) << bound.error().message;
    ASSERT_TRUE(bound->launch());
    EXPECT_TRUE(bound->check().right);
    EXPECT_EQ(released(), 0);
  }
  EXPECT_EQ(released(), 1);
}

TEST_F(Plugin, StepsThatNobodyCanLaunchAreErrors) {
  const std::pair<const char*, const char*> cases[] = {
      {"CASE_DEVICE_STEP", "bind of kernel added a step for a device; this version launches host"},
      {"CASE_SMALL_STEP", "added a step of 8 bytes"},
      {"CASE_NULL_FUNCTION", "added a step without a function"},
      {"CASE_NO_STEP", "to no function"},
      {"CASE_BIND_FAILS", "bind of kernel returned 7: the sky is falling"}};
  const auto problem = gemm::problem({.m = 4, .n = 5, .k = 6, .layout = "tt"});
  for (const auto& [fault, part] : cases) {
    const auto family = bring_file(build("hostile.c", {fault}));
    ASSERT_TRUE(family) << family.error().message;
    const auto found = catalog_of(*family).get_kernels(*problem);
    ASSERT_EQ(found->kernels.size(), 1u);
    const auto bound = BoundKernel::make(found->kernels.front(), *problem);
    ASSERT_FALSE(bound) << fault;
    EXPECT_THAT(bound.error().message, HasSubstr(part));
  }
}

TEST_F(Plugin, TheArtifactIsTheFilesContent) {
  const auto problem = gemm::problem({.m = 4, .n = 5, .k = 6, .layout = "tt"});
  const auto artifact_of = [&](const std::string& file) -> Result<Artifact> {
    ASSAY_TRY(const auto family, bring_file(file));
    const auto found = catalog_of(family).get_kernels(*problem);
    return found->kernels.front().compile(*problem, cpu::host_target(), {});
  };
  const std::string first = build("hostile.c", {"CASE_RIGHT"});
  const std::string second = build("hostile.c", {"CASE_WRONG"});
  const std::string copy = folder_.file("copy.so");
  std::filesystem::copy_file(first, copy);
  const auto one = artifact_of(first), two = artifact_of(second), same = artifact_of(copy);
  ASSERT_TRUE(one && two && same);
  EXPECT_EQ(one->hash, same->hash);
  EXPECT_NE(one->hash, two->hash);
  EXPECT_EQ(one->facts["sha256"], *sha256_of_file(first));

  // A plan wants the artifact of what is loaded.
  const auto family = bring_file(first);
  const auto found = catalog_of(*family).get_kernels(*problem);
  auto device = cpu::open({.threads = 1});
  alignas(64) std::array<float, 64> a{}, b{}, out{};
  const Arguments arguments{*problem, {a.data(), b.data(), out.data()}};
  const Kernel& kernel = found->kernels.front();
  EXPECT_TRUE(kernel.plan({.arguments = arguments, .artifact = *one, .device = **device}));
  const auto other = kernel.plan({.arguments = arguments, .artifact = *two, .device = **device});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("the file has changed in between"));
}

// The loader would go on with the old code under the new file's hash.
TEST_F(Plugin, AFileThatChangedIsNotLoadedAgainIntoTheSameProcess) {
  const std::string file = build("hostile.c", {"CASE_RIGHT"});
  ASSERT_TRUE(bring_file(file));
  std::filesystem::rename(build("hostile.c", {"CASE_WRONG"}), file);
  const auto again = bring_file(file);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message,
              HasSubstr("the file has changed since this process loaded it"));
}

// Whoever takes another file's place just while the loader looks, and gives it back, is not taken
// for it: what runs is what was hashed, or nothing.
TEST_F(Plugin, WhatIsMappedIsWhatWasHashed) {
  const std::string right = build("hostile.c", {"CASE_RIGHT"}),
                    wrong = build("hostile.c", {"CASE_WRONG"});
  const std::string hash_of_right = sha256_of_file(right).value_or("none");
  const auto problem = gemm::problem({.m = 4, .n = 5, .k = 6, .layout = "tt"});
  int loaded = 0;
  for (int i = 0; i < 60; ++i) {
    const std::string path = folder_.file(fmt::format("mine{}.so", i));
    const std::string aside = folder_.file(fmt::format("aside{}.so", i));
    std::filesystem::copy_file(right, path);
    std::filesystem::copy_file(wrong, aside);
    std::atomic<bool> stop = false;
    std::thread swaps([&] {
      while (!stop) ::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, aside.c_str(), RENAME_EXCHANGE);
    });
    const auto family = bring_file(path);
    stop = true;
    swaps.join();
    if (!family) continue;
    ++loaded;
    const Kernel kernel = catalog_of(*family).get_kernels(*problem)->kernels.front();
    const auto artifact = kernel.compile(*problem, cpu::host_target(), {});
    auto bound = BoundKernel::make(kernel, *problem);
    ASSERT_TRUE(artifact && bound);
    ASSERT_TRUE(bound->launch());
    EXPECT_EQ(artifact->facts.at("sha256") == hash_of_right, bound->check().right);
  }
  std::printf("%d of 60 were loaded\n", loaded);
}

// Such as by `cp new.so mine.so`: what is mapped changes with the file.
TEST_F(Plugin, AFileThatIsWrittenToWhileItIsMappedIsNotRunAnyMore) {
  const std::string file = build("hostile.c", {"CASE_RIGHT"});
  std::filesystem::last_write_time(
      file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const auto family = bring_file(file);
  ASSERT_TRUE(family) << family.error().message;
  const auto problem = gemm::problem({.m = 4, .n = 5, .k = 6, .layout = "tt"});
  const Kernel kernel = catalog_of(*family).get_kernels(*problem)->kernels.front();
  EXPECT_TRUE(BoundKernel::make(kernel, *problem));
  // Read, and written again as it is: no harm.
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now());
  EXPECT_TRUE(BoundKernel::make(kernel, *problem));
  std::ofstream(file, std::ios::app) << "more";
  std::filesystem::last_write_time(
      file, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  const auto bound = BoundKernel::make(kernel, *problem);
  ASSERT_FALSE(bound);
  EXPECT_THAT(bound.error().message, HasSubstr("the file has changed in between"));
}

TEST_F(Plugin, AManifestNamesAPluginAndNoMore) {
  build("good.c");
  const auto read = [&](const std::string& fields) {
    return input::parse_manifest("- {source: good.so, " + fields + "}\n", folder_.file("m.yaml"),
                                 itself());
  };
  const auto entries = read("name: mine, provider: plugin, entry: packed");
  ASSERT_TRUE(entries) << entries.error().message;
  const auto family = make_provider()->bring(entries->front());
  ASSERT_TRUE(family) << family.error().message;
  EXPECT_EQ((*family)->name(), "mine");
  const auto wrong = read("dtype: f32");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message,
              HasSubstr("m.yaml:1:28: [0].dtype: a plug-in describes its kernels itself"));
  EXPECT_THAT(wrong.error().message, Not(HasSubstr("good.so:")));
}

std::vector<std::shared_ptr<const Family>> bring_good(const Provider&) {
  // Stays until the process ends, as what is mapped does.
  static const auto folder = TemporaryDirectory::create("/tmp", "assay-plugin-");
  static const auto built = build_plugin(source("good.c"), folder->path());
  EXPECT_TRUE(built) << built.error().message;
  const auto family = bring_file(*built);
  EXPECT_TRUE(family) << family.error().message;
  return {*family};
}

}  // namespace
}  // namespace assay::plugin

ASSAY_PROVIDER_CONFORMANCE(plugin, {.make = assay::plugin::make_provider,
                                    .bring = assay::plugin::bring_good});
