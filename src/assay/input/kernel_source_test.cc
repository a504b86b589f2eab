#include "assay/input/kernel_source.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/input/manifest.h"
#include "assay/kernel/entry_archive.h"

namespace assay::input {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// All that an entry can say.
constexpr std::string_view kWhole =
    "- name: mine\n"
    "  source: my.cu\n"
    "  entry: mine::gemm\n"
    "  a: bf16\n"
    "  b: [bf16, f16]\n"
    "  out: f32\n"
    "  layout: tn\n"
    "  args: [map_a, b, out, m, n, k, TILE, workspace, workspace_bytes]\n"
    "  tunables: {TILE: [4, 8], FAST: [true, false], RATIO: [0.5, 2.0], NAME: [x, y]}\n"
    "  constraints: ['TILE * 16 <= n', k % 8 == 0]\n"
    "  divisibility: {k: 8}\n"
    "  alignment: 64\n"
    "  targets: [sm_90a]\n"
    "  specialised_on: [k]\n"
    "  flags: [-O3]\n"
    "  workspace: m * n * 4\n"
    "  launch: {grid: ['ceil_div(n, 64)', m], block: [128], cluster: [2], shared: 4096,\n"
    "           dependent: true, maps: {a: {box: [64, TILE], swizzle: 128}}}\n"
    "  deterministic: false\n"
    "  error: normwise\n";

LaunchForms geometry() {
  return [](const KernelEntry&) { return LaunchForm::geometry; };
}

class KernelSourceTest : public ::testing::Test {
 protected:
  void write(const std::string& name, std::string_view text) const {
    ASSERT_TRUE(write_file_atomic(folder_->file(name), text));
  }
  Result<std::vector<KernelSource>> read(std::vector<std::string> names) const {
    for (std::string& name : names) name = folder_->file(name);
    return read_sources(names, geometry());
  }

  Result<TemporaryDirectory> folder_ = TemporaryDirectory::create();
};

TEST_F(KernelSourceTest, ArrivesInAnotherProcessAsItWasRead) {
  write("my.cu", "#include \"step.h\"\n\xff\x01 bytes");
  write("step.h", "int x;");
  write("m.yaml", kWhole);
  const auto read = this->read({"m.yaml"});
  ASSERT_TRUE(read) << read.error().message;
  const auto packed = pack(*read);
  ASSERT_TRUE(packed) << packed.error().message;
  // As a message is sent.
  const auto arrived = unpack(packed->json, packed->bytes.get());
  ASSERT_TRUE(arrived) << arrived.error().message;
  ASSERT_EQ(arrived->size(), 1u);
  EXPECT_EQ(arrived->front().text(), read->front().text());
  const KernelEntry &sent = read->front().entries.front(), &got = arrived->front().entries.front();
  EXPECT_EQ(to_json(got), to_json(sent));
  EXPECT_EQ(call_of(got), call_of(sent));
  EXPECT_EQ(*got.rule, *sent.rule);
  EXPECT_EQ(got.constraints.size(), sent.constraints.size());
  EXPECT_EQ(got.tunables.size(), 4u);
  EXPECT_TRUE(got.tunables[2].values == sent.tunables[2].values);
  EXPECT_EQ(got.launch->maps.front().box, sent.launch->maps.front().box);
  EXPECT_EQ(*source_bytes(got, 100), "#include \"step.h\"\n\xff\x01 bytes");
  EXPECT_EQ(got.files->size(), 2u);
  EXPECT_TRUE(check_brought_files(got));
  write("step.h", "int y;");
  EXPECT_THAT(check_brought_files(got).error().message, HasSubstr("step.h' has changed since"));
}

TEST_F(KernelSourceTest, ACallIsLaunchAndArguments) {
  write("my.cu", "");
  const auto call = [&](std::string_view from, std::string_view to) {
    std::string text(kWhole);
    const size_t at = text.find(from);
    write("m.yaml", text.replace(at, from.size(), to));
    const auto sources = read({"m.yaml"});
    EXPECT_TRUE(sources) << sources.error().message;
    return sources ? call_of(sources->front().entries.front()) : std::string();
  };
  const std::string as_it_is = call("entry", "entry");
  EXPECT_NE(call("block: [128]", "block: [256]"), as_it_is);
  EXPECT_NE(call("shared: 4096", "shared: 8192"), as_it_is);
  EXPECT_NE(call("m, n, k, TILE", "n, m, k, TILE"), as_it_is);
  EXPECT_EQ(call("flags: [-O3]", "flags: [-O2]"), as_it_is);
}

TEST_F(KernelSourceTest, IsReadOnceHoweverManyOfItsKernelsAreNamed) {
  write("my.cu",
        "// assay: {entry: f, dtype: f32, layout: tn, args: [a, b, out, m, n, k], launch: {grid: "
        "[1], block: [1]}}\n"
        "// assay: {entry: g, dtype: f32, layout: tn, args: [a, b, out, m, n, k], launch: {grid: "
        "[1], block: [1]}}\n");
  const int events = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  ASSERT_GE(::inotify_add_watch(events, folder_->file("my.cu").c_str(), IN_OPEN), 0);
  const auto sources = read({"my.cu::f", "my.cu::g", "my.cu"});
  ASSERT_TRUE(sources) << sources.error().message;
  inotify_event room[64];
  EXPECT_EQ(::read(events, room, sizeof room), static_cast<ssize_t>(sizeof(inotify_event)));
  ::close(events);
  EXPECT_THAT(sources->at(0).families(), ElementsAre("f"));
  EXPECT_THAT(sources->at(1).families(), ElementsAre("g"));
  EXPECT_THAT(sources->at(2).families(), ElementsAre("f_2", "g_2"));
  EXPECT_EQ(sources->at(2).file()->sha256, sha256_hex(*read_file(folder_->file("my.cu"))));
  // What is apart stays as it is.
  auto again = *sources;
  name_apart(again);
  EXPECT_EQ(again[2].families(), sources->at(2).families());
}

TEST_F(KernelSourceTest, OfAPlugInTheHashAloneGoesAlong) {
  write("mine.so", "no code");
  const auto sources = read({"mine.so::k"});
  ASSERT_TRUE(sources) << sources.error().message;
  EXPECT_EQ(sources->front().file()->bytes, "no code");
  const auto packed = pack(*sources);
  ASSERT_TRUE(packed);
  const auto arrived = unpack(packed->json, packed->bytes.get());
  ASSERT_TRUE(arrived);
  const KernelEntry& entry = arrived->front().entries.front();
  EXPECT_EQ(find_file(entry, entry.source)->bytes, "");
  EXPECT_EQ(find_file(entry, entry.source)->sha256, sha256_hex("no code"));
}

TEST_F(KernelSourceTest, WhatWasNotPackedIsRefused) {
  write("my.cu",
        "// assay: {entry: f, dtype: f32, layout: tn, args: [a, b, out, m, n, k], launch: {grid: "
        "[1], block: [1]}}\n");
  const auto sources = read({"my.cu"});
  ASSERT_TRUE(sources);
  const auto packed = pack(*sources);
  ASSERT_TRUE(packed);
  for (const auto& [pointer, value] :
       std::vector<std::pair<std::string, Json>>{{"/files/0/begin", 1 << 20},
                                                 {"/files/0/bytes", -1},
                                                 {"/files/0/path", nullptr},
                                                 {"/sources/0/entries/0/files/0", 7},
                                                 {"/sources/0/entries/0/entry/rule", "gemm"},
                                                 {"/sources/0/entries/0/entry/args", 3},
                                                 {"/sources", "none"}}) {
    Json changed = packed->json;
    changed[Json::json_pointer(pointer)] = value;
    EXPECT_FALSE(unpack(changed, packed->bytes.get())) << pointer;
  }
}

}  // namespace
}  // namespace assay::input
