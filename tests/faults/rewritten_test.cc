// A file that is saved again while it is raced: what was read when the command began is what is
// compiled, proven, timed and kept, at every stage.

#include <atomic>
#include <chrono>
#include <functional>
#include <poll.h>
#include <sys/inotify.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>

#include "assay/base/fd.h"
#include "assay/base/hash.h"
#include "testing/assay_program.h"

namespace assay {
namespace {

using testing::AssayProgram;
using testing::Finished;
using testing::Running;

// `args` and `body` are what a rewriting changes.
std::string text_of(const std::string& args, const std::string& value) {
  return "// assay: {entry: \"mine::gemm\", dtype: f32, layout: tt, args: [" + args +
         "]}\n#include <cstdint>\n#include \"step.h\"\nnamespace mine {\n"
         "void gemm(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) "
         "{\n"
         "  for (int64_t i = 0; i < m; ++i)\n    for (int64_t j = 0; j < n; ++j) {\n"
         "      double sum = 0;\n      for (int64_t p = 0; p < k; p += kStep)\n"
         "        sum += double(a[i * k + p]) * double(b[p * n + j]);\n"
         "      out[i * n + j] = float(" +
         value + ");\n    }\n}\n}\n";
}

const std::string kFirst = text_of("a, b, out, m, n, k", "sum");
const std::string kOthers[] = {text_of("b, a, out, n, m, k", "sum"),           // Other arguments.
                               text_of("a, b, out, m, n, k", "sum + 1"),       // Another body.
                               "// assay: {entry: \"mine::gemm\", dtype: f3",  // Half saved.
                               ""};

// Counts how often a file is opened, and says when one who read it is done.
class OpenWatch {
 public:
  explicit OpenWatch(const std::string& path) : events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    EXPECT_GE(::inotify_add_watch(events_.get(), path.c_str(), IN_OPEN | IN_CLOSE_NOWRITE), 0);
  }

  bool wait_until_read() {
    return testing::wait_until([&] {
      take();
      return closed_ > 0;
    });
  }
  int opened() {
    take();
    return opened_;
  }

 private:
  void take() {
    alignas(inotify_event) char room[4096];
    for (ssize_t got; (got = ::read(events_.get(), room, sizeof room)) > 0;)
      for (ssize_t at = 0; at < got;) {
        const auto* event = reinterpret_cast<const inotify_event*>(room + at);
        opened_ += (event->mask & IN_OPEN) != 0 ? 1 : 0;
        closed_ += (event->mask & IN_CLOSE_NOWRITE) != 0 ? 1 : 0;
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
  }

  UniqueFd events_;
  int opened_ = 0, closed_ = 0;
};

class Rewritten : public ::testing::Test {
 protected:
  void SetUp() override {
    save(kFirst);
    ASSERT_TRUE(write_file_atomic(assay_.file("step.h"), "constexpr int kStep = 1;\n"));
  }
  void save(const std::string& text) const {
    ASSERT_TRUE(write_file_atomic(assay_.file("my.cc"), text));
  }
  // Each with a cache of its own: nothing is found that another one built.
  std::vector<std::string> race(const std::string& folder) const {
    return {"race",         "my.cc",
            "--shape",      "m=8,n=32,k=16,dtype=f32,layout=tt",
            "--provider",   "openblas",
            "--budget",     "2s",
            "--processes",  "2",
            "--output-dir", folder,
            "--cache-dir",  folder + "-cache",
            "--json"};
  }
  RunRecord record(const std::string& folder) const {
    auto loaded = load_record(assay_.file(folder + "/record.json"));
    EXPECT_TRUE(loaded) << loaded.error().message;
    return loaded ? std::move(*loaded) : RunRecord{};
  }
  static const KernelOutcome* users(const RunRecord& record) {
    return record.problems.empty() ? nullptr
                                   : testing::find_kernel(record.problems.front(), "mine.gemm");
  }

  AssayProgram assay_;
};

TEST_F(Rewritten, AFileIsOpenedOnceInARace) {
  OpenWatch watch(assay_.file("my.cc"));
  const Finished done = assay_.run(race("run"));
  EXPECT_EQ(done.code(), 0) << done.err;
  EXPECT_EQ(watch.opened(), 1);
}

TEST_F(Rewritten, WhatWasReadFirstIsWhatIsRacedAndKept) {
  const Finished calm = assay_.run(race("calm"));
  ASSERT_EQ(calm.code(), 0) << calm.err;
  const RunRecord undisturbed = record("calm");
  ASSERT_NE(users(undisturbed), nullptr);

  OpenWatch watch(assay_.file("my.cc"));
  Running running = assay_.start(race("run"));
  ASSERT_TRUE(watch.wait_until_read());
  std::atomic<bool> ended = false;
  std::thread editor([&] {
    for (size_t version = 0; !ended; ++version) {
      save(kOthers[version % std::size(kOthers)]);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const Finished done = running.wait();
  ended = true;
  editor.join();
  EXPECT_EQ(done.code(), 0) << done.err << done.out;
  const RunRecord disturbed = record("run");
  const KernelOutcome* const mine = users(disturbed);
  ASSERT_NE(mine, nullptr);
  EXPECT_EQ(ending_name(mine->ending), "timed");
  ASSERT_TRUE(mine->proof);
  EXPECT_TRUE(mine->proof->right);
  EXPECT_EQ(mine->id, users(undisturbed)->id);
  EXPECT_EQ(mine->artifact_hash, users(undisturbed)->artifact_hash);
  EXPECT_EQ(read_file(assay_.file("run/sources/1/my.cc")).value_or(""), kFirst);
  EXPECT_NE(disturbed.problems.front().headline(), nullptr);
  const std::string manifest = read_file(assay_.file("run/sources/manifest.json")).value_or("");
  EXPECT_THAT(manifest, ::testing::HasSubstr(sha256_hex(kFirst)));
}

// Compilers read headers by their names: one that changed meanwhile is no part of a claim.
TEST_F(Rewritten, AHeaderThatChangesBeforeItIsCompiledEndsTheKernel) {
  OpenWatch watch(assay_.file("step.h"));
  Running running = assay_.start(race("run"));
  ASSERT_TRUE(watch.wait_until_read());
  ASSERT_TRUE(write_file_atomic(assay_.file("step.h"), "constexpr int kStep = 2;\n"));
  const Finished done = running.wait();
  const RunRecord changed = record("run");
  const KernelOutcome* const mine = users(changed);
  ASSERT_NE(mine, nullptr) << done.err;
  EXPECT_EQ(done.code(), 1);
  EXPECT_THAT(ending_sentence(mine->ending), ::testing::HasSubstr("step.h' has changed since"));
}

}  // namespace
}  // namespace assay
