#include "assay/device/cpu/cpu_device.h"

#include <cstring>
#include <fstream>
#include <random>
#include <sched.h>
#include <sstream>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::cpu {
namespace {

using ::testing::HasSubstr;

uintptr_t address(const Buffer& buffer) { return reinterpret_cast<uintptr_t>(buffer.data()); }

std::unique_ptr<Device> device() {
  auto opened = open({.threads = 1});
  EXPECT_TRUE(opened) << opened.error().message;
  return std::move(*opened);
}

TEST(CpuDevice, PlacesBuffersAsAsked) {
  const auto cpu = device();
  for (const size_t alignment : {size_t{1}, size_t{64}, size_t{4096}, size_t{1} << 21}) {
    for (const size_t offset : {size_t{0}, size_t{64}, size_t{4160}}) {
      for (const size_t bytes : {size_t{0}, size_t{1}, size_t{5000}, size_t{3} << 20}) {
        for (const bool huge : {false, true}) {
          auto buffer =
              cpu->allocate(bytes, {.alignment = alignment, .offset = offset, .huge_pages = huge});
          ASSERT_TRUE(buffer) << buffer.error().message;
          EXPECT_EQ((address(**buffer) - offset) % std::max(alignment, size_t{4096}), 0u);
          EXPECT_EQ((*buffer)->bytes(), bytes);
          if (bytes == 0) continue;
          auto* data = static_cast<unsigned char*>((*buffer)->data());
          EXPECT_EQ(data[0] | data[bytes - 1], 0) << "new pages are zero";
          std::memset(data, 0xff, bytes);
        }
      }
    }
  }
}

// Pages that have their memory, in bytes.
size_t resident() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, pages = 0;
  file >> total >> pages;
  return pages * 4096;
}

TEST(CpuDevice, BuffersHaveTheirMemoryBeforeTheyAreTouched) {
  const auto cpu = device();
  constexpr size_t kBytes = size_t{32} << 20;
  const size_t before = resident();
  const auto buffer = cpu->allocate(kBytes, {});
  ASSERT_TRUE(buffer);
  EXPECT_GE(resident() + (size_t{4} << 20), before + kBytes);
}

TEST(CpuDevice, KeepsPagesForBuffersOfAboutTheSameSizeUpToItsLimit) {
  constexpr size_t kBytes = size_t{8} << 20;
  const double share = 2.0 * kBytes / static_cast<double>(device()->memory_bytes());
  const auto cpu = open({.threads = 1, .kept_share = share * 1.01}).value();
  const size_t empty = resident();
  for (int i = 0; i < 3; ++i) {
    auto one = cpu->allocate(kBytes, {}).value();
    std::memset(one->data(), i, kBytes);
    const auto other = cpu->allocate(kBytes - 4096 * static_cast<size_t>(i), {}).value();
    std::memset(other->data(), i, other->bytes());
    EXPECT_NE(one->data(), other->data());
    const auto third = cpu->allocate(kBytes, {}).value();
    EXPECT_NE(third->data(), one->data()) << "pages in use are nobody else's";
  }
  EXPECT_GE(resident(), empty + kBytes) << "nothing was kept";
  EXPECT_LE(resident(), empty + 2 * kBytes + (size_t{4} << 20)) << "more was kept than allowed";
  const auto kept = cpu->allocate(kBytes, {}).value();
  EXPECT_EQ(*static_cast<const unsigned char*>(kept->data()), 2) << "the last one's bytes";
  EXPECT_LT(resident(), empty + 3 * kBytes);
}

TEST(CpuDevice, PutsKeptPagesTogetherAndCutsThem) {
  constexpr size_t kBytes = size_t{8} << 20;
  for (const bool huge : {false, true}) {
    const double share = 4.5 * kBytes / static_cast<double>(device()->memory_bytes());
    const auto cpu = open({.threads = 1, .kept_share = share}).value();
    const BufferOptions options{.huge_pages = huge};
    {
      const auto one = cpu->allocate(kBytes, options).value();
      const auto other = cpu->allocate(kBytes, options).value();
      std::memset(one->data(), 1, kBytes);
      std::memset(other->data(), 1, kBytes);
    }
    const size_t full = resident();
    const auto larger = cpu->allocate(kBytes + kBytes / 2, options).value();
    const auto rest = cpu->allocate(kBytes / 2, options).value();
    EXPECT_LT(resident(), full + kBytes / 2) << "new pages, huge " << huge;
    size_t old = 0;
    for (const auto& buffer : {std::ref(larger), std::ref(rest)})
      for (size_t i = 0; i < buffer.get()->bytes(); ++i)
        old += static_cast<unsigned char*>(buffer.get()->data())[i];
    EXPECT_EQ(old, 2 * kBytes) << "every page is one of those that were given back, huge " << huge;
  }
}

TEST(CpuDevice, NoTwoBuffersShareAPageWhateverWasKept) {
  const double share = 0x1p25 / static_cast<double>(device()->memory_bytes());
  const auto cpu = open({.threads = 1, .kept_share = share}).value();
  std::mt19937 random(7);
  struct Live {
    std::unique_ptr<Buffer> buffer;
    unsigned char mark;
  };
  std::vector<Live> live;
  for (int step = 0; step < 300; ++step) {
    if (live.size() > 6) {
      const size_t which = random() % live.size();
      const auto* const bytes = static_cast<const unsigned char*>(live[which].buffer->data());
      for (size_t i = 0; i < live[which].buffer->bytes(); i += 512)
        ASSERT_EQ(bytes[i], live[which].mark) << "in step " << step;
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    }
    const size_t bytes = size_t{1} << (8 + random() % 15);
    BufferOptions options{.alignment = size_t{1} << (6 + random() % 17),
                          .huge_pages = random() % 2 == 0};
    auto buffer = cpu->allocate(bytes + random() % bytes, options).value();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % options.alignment, 0u);
    const auto mark = static_cast<unsigned char>(step);
    std::memset(buffer->data(), mark, buffer->bytes());
    live.push_back({std::move(buffer), mark});
  }
}

TEST(CpuDevice, WithoutALimitNothingIsKept) {
  const auto cpu = device();
  constexpr size_t kBytes = size_t{8} << 20;
  const size_t empty = resident();
  { std::memset(cpu->allocate(kBytes, {}).value()->data(), 1, kBytes); }
  EXPECT_LT(resident(), empty + kBytes);
}

TEST(CpuDevice, WhatCannotBeAllocatedIsTheMachinesFaultWithTheSize) {
  const auto cpu = device();
  for (const size_t bytes : {size_t{1} << 50, ~size_t{0}, ~size_t{0} / 2}) {
    const auto buffer = cpu->allocate(bytes, {});
    ASSERT_FALSE(buffer);
    EXPECT_EQ(buffer.error().code, ErrorCode::machine);
    EXPECT_THAT(buffer.error().message, HasSubstr(std::to_string(bytes)));
  }
  EXPECT_FALSE(cpu->allocate(8, {.offset = ~size_t{0} - 4}));
  for (const size_t alignment : {size_t{0}, size_t{3}, size_t{4097}}) {
    EXPECT_EQ(cpu->allocate(8, {.alignment = alignment}).error().code, ErrorCode::invalid_input);
  }
}

TEST(CpuDevice, TellsWhatItIs) {
  const auto cpu = device();
  EXPECT_EQ(cpu->fingerprint().kind, "cpu");
  EXPECT_FALSE(cpu->fingerprint().name.empty());
  EXPECT_EQ(cpu->fingerprint().id.size(), 16u);
  EXPECT_EQ(cpu->fingerprint().details.at("threads"), 1);
  EXPECT_EQ(cpu->threads(), 1);
  EXPECT_GT(cpu->memory_bytes(), size_t{1} << 20);
  EXPECT_EQ(device()->fingerprint().id, cpu->fingerprint().id);
  auto stream = cpu->make_stream();
  ASSERT_TRUE(stream);
  EXPECT_TRUE((*stream)->synchronize());
  EXPECT_EQ((*stream)->native(), nullptr);
  EXPECT_TRUE(cpu->wrap_stream(nullptr));
  int other = 0;
  EXPECT_EQ(cpu->wrap_stream(&other).error().code, ErrorCode::invalid_input);
}

TEST(CpuDevice, RefusesThreadsThatItDoesNotHave) {
  const int cores = static_cast<int>(read_topology().physical_cores.size());
  EXPECT_THAT(open({.threads = cores + 1}).error().message,
              HasSubstr("give 1 to " + std::to_string(cores)));
  EXPECT_FALSE(open({.threads = -1}));
  EXPECT_EQ(open({})->get()->threads(), default_threads(read_topology()));
}

// In a thread of its own, so that the other tests keep their cores.
TEST(CpuDevice, PinsAndStaysTheSameMachine) {
  const auto id = device()->fingerprint().id;
  std::thread([&] {
    const int core = read_topology().physical_cores[0];
    const auto pinned = open({.threads = 1, .pin = true});
    ASSERT_TRUE(pinned) << pinned.error().message;
    cpu_set_t set;
    CPU_ZERO(&set);
    ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(core, &set));
    EXPECT_EQ(read_topology().logical, 1);
    EXPECT_EQ(open({.threads = 1})->get()->fingerprint().id, id);
    EXPECT_FALSE(open({.threads = 2}));
  }).join();
}

TEST(HostTarget, HasTheNamesThatLinuxPrints) {
  const Target target = host_target();
  EXPECT_FALSE(target.arch.empty());
#if defined(__x86_64__)
  EXPECT_EQ(target.arch, "x86_64");
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && line.rfind("flags", 0) != 0) {
  }
  if (line.rfind("flags", 0) != 0) GTEST_SKIP() << "/proc/cpuinfo has no flags";
  std::set<std::string> flags;
  std::istringstream words(line.substr(line.find(':') + 1));
  for (std::string word; words >> word;) flags.insert(word);
  // What the kernel hides (a boot flag) or does not know yet may differ; these it has long known.
  for (const char* name :
       {"sse2", "pni", "ssse3", "sse4_1", "sse4_2", "popcnt", "avx", "f16c", "fma", "avx2", "bmi1",
        "bmi2", "avx512f", "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16"}) {
    EXPECT_EQ(target.features.contains(name), flags.contains(name)) << name;
  }
#endif
}

}  // namespace
}  // namespace assay::cpu
