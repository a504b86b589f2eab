#include <atomic>
#include <filesystem>
#include <set>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/kernel/artifact.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ArtifactCache::Builder writes(std::string text, int* built = nullptr) {
  return [text = std::move(text), built](const fs::path& folder) -> Result<ArtifactCache::Built> {
    if (built) ++*built;
    ASSAY_TRY(write_file_atomic((folder / "kernel.so").string(), text));
    return ArtifactCache::Built{"kernel.so", {{"compiler", "toy 1.0"}, {"seconds", 0.25}}};
  };
}

class ArtifactCacheTest : public ::testing::Test {
 protected:
  ArtifactCache cache() {
    return ArtifactCache(root(), Log([this](Level level, std::string_view text) {
                           if (level >= Level::warning) warnings_.emplace_back(text);
                         }));
  }
  fs::path root() const { return fs::path(folder_.path()) / "cache"; }

  // Names of everything in tmp/: nothing must stay there.
  std::vector<std::string> left_overs() const {
    std::vector<std::string> list;
    if (!fs::exists(root() / "tmp")) return list;
    for (const auto& entry : fs::directory_iterator(root() / "tmp")) list.push_back(entry.path());
    return list;
  }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create());
  std::vector<std::string> warnings_;
  const Json key_ = {{"source", "abc"}, {"flags", {"-O3"}}, {"k", 128}};
};

TEST_F(ArtifactCacheTest, BuildsOnceAndFindsItAgain) {
  int built = 0;
  const auto first = cache().get_or_build(key_, writes("code", &built));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(read_file(first->file).value(), "code");
  EXPECT_EQ(first->facts.at("compiler"), "toy 1.0");
  const auto second = cache().get_or_build(key_, writes("other", &built));
  ASSERT_TRUE(second);
  EXPECT_EQ(built, 1);
  EXPECT_EQ(second->to_json(), first->to_json());
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_THAT(left_overs(), IsEmpty());
  EXPECT_EQ(first->file.parent_path(), cache().entry_folder(key_));
}

TEST_F(ArtifactCacheTest, ACacheWithoutBuildingFindsAndBuildsNothing) {
  int built = 0;
  const ArtifactCache finished = cache().without_building();
  const auto missing = finished.get_or_build(key_, writes("code", &built));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  const auto made = cache().get_or_build(key_, writes("code", &built));
  ASSERT_TRUE(made) << made.error().message;
  const auto found = finished.get_or_build(key_, writes("other", &built));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->hash, made->hash);
  EXPECT_EQ(built, 1);
}

TEST_F(ArtifactCacheTest, AnotherKeyIsAnotherEntryAndOtherBytesAnotherHash) {
  int built = 0;
  const auto one = cache().get_or_build({{"k", 1}}, writes("one", &built));
  const auto two = cache().get_or_build({{"k", 2}}, writes("two", &built));
  const auto same = cache().get_or_build({{"k", 3}}, writes("one", &built));
  EXPECT_EQ(built, 3);
  EXPECT_NE(one->hash, two->hash);
  EXPECT_EQ(one->hash, same->hash) << "what ran is named by bytes and facts";
}

TEST_F(ArtifactCacheTest, ManifestTellsWhatItIs) {
  const auto artifact = cache().get_or_build(key_, writes("code"));
  const auto text = read_file((cache().entry_folder(key_) / "manifest.json").string());
  const Json manifest = Json::parse(*text);
  EXPECT_EQ(manifest.at("key"), key_);
  EXPECT_EQ(manifest.at("file"), "kernel.so");
  EXPECT_EQ(manifest.at("bytes"), 4);
  EXPECT_EQ(manifest.at("hash"), artifact->hash);
}

TEST_F(ArtifactCacheTest, RebuildsWhatIsCorruptAndSaysSo) {
  const fs::path entry = cache().entry_folder(key_);
  const fs::path file = entry / "kernel.so", manifest = entry / "manifest.json";
  const auto rewrite = [&](const fs::path& path, const std::string& from, const std::string& to) {
    std::string text = read_file(path.string()).value();
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    ASSERT_TRUE(write_file_atomic(path.string(), text.replace(at, from.size(), to)));
  };
  const std::vector<std::function<void()>> damages = {
      [&] { ASSERT_TRUE(write_file_atomic(file.string(), "c0de")); },
      [&] { ASSERT_TRUE(write_file_atomic(file.string(), "")); },
      [&] { fs::remove(file); },
      [&] { fs::remove(manifest); },
      [&] {
        fs::remove_all(entry);
        fs::create_directory(entry);
      },
      [&] {
        fs::remove_all(entry);
        ASSERT_TRUE(write_file_atomic(entry.string(), "a file"));
      },
      [&] { fs::resize_file(manifest, fs::file_size(manifest) / 2); },
      [&] { ASSERT_TRUE(write_file_atomic(manifest.string(), "{}")); },
      [&] { ASSERT_TRUE(write_file_atomic(manifest.string(), "[1, 2]")); },
      [&] { rewrite(manifest, "toy 1.0", "toy 2.0"); },
      [&] { rewrite(manifest, "\"kernel.so\"", "\"../../../etc/passwd\""); },
      [&] { rewrite(manifest, "\"kernel.so\"", "7"); },
      [&] { rewrite(manifest, "-O3", "-O2"); },
      [&] {
        fs::remove(file);
        fs::create_directory(file);
      },
  };
  int built = 0;
  ASSERT_TRUE(cache().get_or_build(key_, writes("code", &built)));
  for (size_t i = 0; i < damages.size(); ++i) {
    damages[i]();
    warnings_.clear();
    const auto artifact = cache().get_or_build(key_, writes("code", &built));
    ASSERT_TRUE(artifact) << i << ": " << artifact.error().message;
    EXPECT_EQ(built, static_cast<int>(i) + 2);
    EXPECT_THAT(warnings_, SizeIs(1)) << i;
    EXPECT_EQ(read_file(artifact->file).value(), "code");
    EXPECT_THAT(left_overs(), IsEmpty()) << i;
  }
}

TEST_F(ArtifactCacheTest, ABuilderThatFailsLeavesNothing) {
  const auto failing = [](const fs::path& folder) -> Result<ArtifactCache::Built> {
    ASSAY_TRY(write_file_atomic((folder / "half").string(), "x"));
    return fail(ErrorCode::build_failed, "no such header");
  };
  const auto artifact = cache().get_or_build(key_, failing);
  ASSERT_FALSE(artifact);
  EXPECT_EQ(artifact.error().code, ErrorCode::build_failed);
  EXPECT_THAT(left_overs(), IsEmpty());
  EXPECT_FALSE(fs::exists(cache().entry_folder(key_)));
  EXPECT_TRUE(cache().get_or_build(key_, writes("code"))) << "and a later one succeeds";
}

TEST_F(ArtifactCacheTest, ABuilderThatThrowsOrLeavesNonsenseIsAnError) {
  EXPECT_FALSE(cache().get_or_build(key_, [](const fs::path&) -> Result<ArtifactCache::Built> {
    throw std::runtime_error("surprise");
  }));
  for (const char* name : {"", "missing", "../outside", "manifest.json", "."}) {
    EXPECT_FALSE(cache().get_or_build(key_, [&](const fs::path&) -> Result<ArtifactCache::Built> {
      return ArtifactCache::Built{name, {}};
    })) << name;
  }
  EXPECT_THAT(left_overs(), IsEmpty());
}

TEST_F(ArtifactCacheTest, AFolderThatCannotBeWrittenIsTheMachinesFault) {
  ASSERT_TRUE(write_file_atomic(root().string(), "a file where the cache should be"));
  const auto artifact = cache().get_or_build(key_, writes("code"));
  ASSERT_FALSE(artifact);
  EXPECT_EQ(artifact.error().code, ErrorCode::machine);
}

TEST_F(ArtifactCacheTest, ThreadsThatRaceGetOneArtifact) {
  std::atomic<int> different = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const ArtifactCache mine(root(), Log());
      for (int key = 0; key < 20; ++key) {
        const auto artifact =
            mine.get_or_build({{"k", key}}, writes("code " + std::to_string(key)));
        if (!artifact || read_file(artifact->file) != "code " + std::to_string(key)) ++different;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, 0);
  EXPECT_THAT(left_overs(), IsEmpty());
}

// Runs `work` in a child; its exit code.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Many processes want the same keys at once, and one of them damages entries under the others:
// every artifact that is handed out has the right bytes.
TEST_F(ArtifactCacheTest, ProcessesThatRaceAndHealGetTheRightBytes) {
  constexpr int kProcesses = 6, kRounds = 30, kKeys = 4;
  const auto text = [](int key) { return std::string(2000, static_cast<char>('a' + key)); };
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      const ArtifactCache mine(root(), Log());
      int wrong = 0;
      for (int round = 0; round < kRounds; ++round) {
        const int key = (round + process) % kKeys;
        const Json name = {{"k", key}};
        auto artifact = mine.get_or_build(name, writes(text(key)));
        if (!artifact) {
          ++wrong;
          continue;
        }
        if (process == 0 && round % 3 == 0) {
          // In place, as a failing disk would: not atomically.
          (void)::truncate(artifact->file.c_str(), 17);
        }
      }
      ::_exit(wrong == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  for (int key = 0; key < kKeys; ++key) {
    const auto artifact = cache().get_or_build({{"k", key}}, writes(text(key)));
    ASSERT_TRUE(artifact) << artifact.error().message;
    EXPECT_EQ(read_file(artifact->file).value(), text(key));
  }
  EXPECT_THAT(left_overs(), IsEmpty());
}

TEST_F(ArtifactCacheTest, AKilledBuilderLeavesNoEntry) {
  const int code = in_child([&] {
    (void)cache().get_or_build(key_, [](const fs::path& folder) -> Result<ArtifactCache::Built> {
      ASSAY_TRY(write_file_atomic((folder / "kernel.so").string(), "half"));
      ::raise(SIGKILL);
      return fail(ErrorCode::internal, "not reached");
    });
    return 0;
  });
  EXPECT_EQ(code, 128 + SIGKILL);
  EXPECT_FALSE(fs::exists(cache().entry_folder(key_)));
  const auto artifact = cache().get_or_build(key_, writes("code"));
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(read_file(artifact->file).value(), "code");
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(ArtifactCacheTest, LeftOversOfLongAgoAreRemoved) {
  const fs::path old = root() / "tmp" / "build-old", fresh = root() / "tmp" / "build-new";
  fs::create_directories(old);
  fs::create_directories(fresh);
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(48));
  ASSERT_TRUE(cache().get_or_build(key_, writes("code")));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh)) << "somebody may be building there";
}

// A limit on file sizes fails writes as a full disk does.
TEST_F(ArtifactCacheTest, ADiskThatIsFullIsTheMachinesFaultAndLeavesNoEntry) {
  const int code = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {64, 64};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    const auto artifact = cache().get_or_build(key_, writes("tiny"));  // The manifest is not tiny.
    if (artifact) return 3;
    return artifact.error().code == ErrorCode::machine ? 0 : 4;
  });
  EXPECT_EQ(code, 0);
  EXPECT_FALSE(fs::exists(cache().entry_folder(key_)));
  EXPECT_THAT(left_overs(), IsEmpty());
}

TEST(Artifact, GoesThroughJsonAndNamesWhatIsWrong) {
  const Artifact artifact = Artifact::without_bytes({{"library", "/usr/lib/libblas.so"}});
  EXPECT_EQ(artifact.hash.size(), 64u);
  EXPECT_TRUE(artifact.file.empty());
  const auto again = Artifact::from_json(artifact.to_json());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->to_json(), artifact.to_json());
  EXPECT_NE(Artifact::without_bytes({{"library", "other"}}).hash, artifact.hash);
  EXPECT_THAT(Artifact::from_json(Json{{"hash", 3}}).error().message, HasSubstr("hash"));
  EXPECT_FALSE(Artifact::from_json(Json::array()));
}

}  // namespace
}  // namespace assay
