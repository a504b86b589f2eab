// A sweep by a cutlass_profiler where there is a GPU: it sees that GPU alone, the results say
// which it was, and the GPU's lock is held meanwhile. Driver and profiler are fakes.

#include <filesystem>
#include <signal.h>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/record/provider_results.h"
#include "testing/assay_program.h"

namespace assay {
namespace {

using testing::AssayProgram;
using testing::Finished;
using ::testing::HasSubstr;

constexpr const char* kProfiler = R"(#!/bin/sh
for word; do case $word in
  --output=*) report=${word#*=} ;; --m=*) m=${word#*=} ;; --n=*) n=${word#*=} ;; --k=*) k=${word#*=} ;;
esac; done
echo "sees $CUDA_VISIBLE_DEVICES"
[ "$m" != 99 ] || exec sleep 100
printf 'Operation,m,n,k,Runtime\nstock,%s,%s,%s,0.01\n' $m $n $k > "${report%.csv}.gemm.csv"
)";

class ProfilerOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    namespace fs = std::filesystem;
    const fs::path folder = assay_.file("driver");
    fs::create_directory(folder);
    const auto tests = fs::read_symlink("/proc/self/exe").parent_path();
    fs::create_symlink(tests / "libfake_cuda.so", folder / "libcuda.so.1");
    ASSERT_TRUE(write_file_atomic(assay_.file("profiler"), kProfiler));
    fs::permissions(assay_.file("profiler"), fs::perms::owner_all);
  }

  std::vector<std::string> wrapper() const {
    return {"env", "LD_LIBRARY_PATH=" + assay_.file("driver")};
  }
  std::vector<std::string> words(const std::string& n, const std::string& folder) const {
    return {"sweep",
            "--profiler-bin",
            assay_.file("profiler"),
            "--shape",
            "m=8,n=" + n + ",k=16,dtype=f16",
            "--output-dir",
            folder};
  }

  AssayProgram assay_;
};

TEST_F(ProfilerOnGpu, ItSeesTheChosenGpuAloneAndTheResultsSayWhich) {
  const Finished finished = assay_.run(words("32", "out"), wrapper());
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  const auto results = load_provider_results(assay_.file("out/cutlass_profiler_results.json"));
  ASSERT_TRUE(results) << results.error().message;
  ASSERT_TRUE(results->environment);
  EXPECT_EQ(results->environment->device.kind, "gpu");
  const std::string uuid = results->environment->device.id;
  EXPECT_THAT(uuid, ::testing::StartsWith("GPU-"));
  EXPECT_FALSE(results->environment->driver.empty());
  const auto log = read_file(assay_.file("out/gemm_m8_n32_k16_f16.log"));
  ASSERT_TRUE(log);
  EXPECT_THAT(*log, HasSubstr("sees " + uuid + "\n"));
  // The same GPU by its name, in front of the results that are there.
  std::vector<std::string> again = words("32", "out");
  again.insert(again.end(), {"--resume", "--device", uuid});
  const Finished kept = assay_.run(again, wrapper());
  ASSERT_EQ(kept.code(), 0) << kept.out << kept.err;
  EXPECT_THAT(kept.err, HasSubstr("(from the results that were here)"));
}

TEST_F(ProfilerOnGpu, NobodyElseMeasuresOnItMeanwhile) {
  auto holder = assay_.start(words("99", "holder"), wrapper());
  ASSERT_TRUE(testing::wait_until([&] {
    const auto log = read_file(assay_.file("holder/gemm_m8_n99_k16_f16.log"));
    return log && log->find("sees") != std::string::npos;
  }));
  std::vector<std::string> second = words("32", "second");
  second.emplace_back("--no-wait");
  const Finished refused = assay_.run(second, wrapper());
  EXPECT_EQ(refused.code(), 5) << refused.out << refused.err;
  EXPECT_FALSE(std::filesystem::exists(assay_.file("second/cutlass_profiler_results.json")));
  holder.signal(SIGINT);
  EXPECT_EQ(holder.wait().code(), 130);
  EXPECT_TRUE(holder.leaves_nothing());
}

}  // namespace
}  // namespace assay
