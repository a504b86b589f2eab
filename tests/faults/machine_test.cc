// A machine that fails us: no space, no permission, damaged caches, sources that are none.

#include <signal.h>
#include <string>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "assay/base/file.h"
#include "testing/assay_program.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

using testing::AssayProgram;
using testing::Finished;
using ::testing::HasSubstr;

std::string candidate(const std::string& name) {
  return AssayProgram::source("tests/faults/candidates/" + name + ".cc");
}

std::vector<std::string> sweep(const std::string& output, const std::vector<std::string>& files,
                               const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"sweep",       "--shape",    "m=8,n=16,k=9,dtype=f32,layout=tt",
                                    "--provider",  "cpp_source", "--threads",
                                    "1",           "--budget",   "1s",
                                    "--processes", "3",          "--output-dir",
                                    output};
  words.insert(words.end(), more.begin(), more.end());
  words.emplace_back("--kernels");
  words.insert(words.end(), files.begin(), files.end());
  return words;
}

// What is in the journal of a run that no longer could write to it: whole lines, all of them JSON.
void expect_intact(const std::string& run) {
  const auto journal = testing::read_journal(run);
  EXPECT_FALSE(journal.torn);
  EXPECT_GE(journal.lines.size(), 1u);
  for (const Json& line : journal.lines) EXPECT_FALSE(line.is_discarded());
}

// A disk of a few kilobytes, where this user may mount one.
class SmallDisk {
 public:
  explicit SmallDisk(std::string folder) : folder_(std::move(folder)) {
    mounted_ = make_directories(folder_).has_value() &&
               ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=12k") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  bool grow() { return ::mount("tmpfs", folder_.c_str(), "tmpfs", MS_REMOUNT, "size=16m") == 0; }

 private:
  std::string folder_;
  bool mounted_ = false;
};

TEST(MachineTest, AFullDiskIsSaidAndTheJournalIsIntact) {
  const AssayProgram assay;
  const std::string disk = assay.file("disk");
  SmallDisk small(disk);
  if (!small.mounted())
    GTEST_SKIP() << "no right to mount a small disk here; the limit on file sizes is tested";
  const Finished finished = assay.run(sweep("disk/run", {candidate("good"), candidate("wavers")}));
  EXPECT_EQ(finished.code(), 5) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("disk full"));
  EXPECT_THAT(finished.err, HasSubstr("journal.jsonl"));
  expect_intact(disk + "/run");

  // With room again it goes on.
  ASSERT_TRUE(small.grow());
  const Finished resumed =
      assay.run(sweep("disk/run", {candidate("good"), candidate("wavers")}, {"--resume"}));
  EXPECT_EQ(resumed.code(), 0) << resumed.err;
  expect_intact(disk + "/run");
}

TEST(MachineTest, ALimitOnFileSizesIsSaidAndTheJournalIsIntact) {
  const AssayProgram assay;
  // What is compiled is larger than the limit: have it in the cache.
  ASSERT_EQ(assay.run(sweep("first", {candidate("good"), candidate("wavers")})).code(), 0);
  const Finished finished = assay.run(sweep("run", {candidate("good"), candidate("wavers")}),
                                      {"bash", "-c", "ulimit -f 8; exec \"$@\"", "bash"});
  EXPECT_EQ(finished.code(), 5) << finished.status.describe() << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("File too large"));
  expect_intact(assay.file("run"));
}

TEST(MachineTest, ADamagedCacheEntryIsBuiltAgain) {
  const AssayProgram assay;
  ASSERT_EQ(assay.run(sweep("first", {candidate("good")})).code(), 0);
  std::vector<std::string> libraries;
  for (const auto& entry : fs::recursive_directory_iterator(assay.file("cache")))
    if (entry.path().filename() == "kernel.so") libraries.push_back(entry.path().string());
  ASSERT_EQ(libraries.size(), 1u);
  const auto good = read_file(libraries.front());
  ASSERT_TRUE(good);
  std::string damaged = *good;
  for (size_t i = damaged.size() / 4; i < damaged.size() / 2; ++i) damaged[i] = '\xcc';
  ASSERT_TRUE(write_file_atomic(libraries.front(), damaged));
  const Finished finished = assay.run(sweep("second", {candidate("good")}));
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_NE(read_file(libraries.front()).value_or(damaged), damaged);
  // The user is told of it: a disk that loses bytes once does so again.
  EXPECT_THAT(finished.err, HasSubstr("rebuilding the cached artifact in '"));
  EXPECT_THAT(finished.err, HasSubstr("kernel.so does not have the hash in its manifest"));
  const auto before = load_record(assay.file("first/record.json"));
  const auto after = load_record(assay.file("second/record.json"));
  ASSERT_TRUE(before && after);
  EXPECT_EQ(before->problems.at(0).winner()->artifact_hash,
            after->problems.at(0).winner()->artifact_hash);
}

TEST(MachineTest, ACacheThatCannotBeWrittenIsSaidAndNoKernelIsBlamed) {
  const AssayProgram assay;
  ASSERT_TRUE(write_file_atomic(assay.file("taken"), "a file"));
  const Finished finished =
      assay.run(sweep("run", {candidate("good")}, {"--cache-dir", assay.file("taken/cache")}));
  EXPECT_EQ(finished.code(), 2) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("taken/cache"));
  EXPECT_THAT(finished.out, ::testing::Not(HasSubstr("good")));
}

// Words that change /proc in a mount namespace of the program's own; none where that is not
// allowed.
std::vector<std::string> with_proc(const AssayProgram& assay, const std::string& change) {
  const std::vector<std::string> words = {"unshare", "-m", "sh", "-c", change + " && exec \"$@\"",
                                          "sh"};
  if (::geteuid() != 0) return {};
  return assay.run({"version"}, {"unshare", "-m"}).code() == 0 ? words : std::vector<std::string>();
}

TEST(MachineTest, AProcThatIsNotMountedIsSaid) {
  const AssayProgram assay;
  const auto wrapper = with_proc(assay, "umount -l /proc");
  if (wrapper.empty()) GTEST_SKIP() << "no right to unmount anything here";
  const Finished finished = assay.run(sweep("run", {candidate("good")}), wrapper);
  EXPECT_EQ(finished.code(), 5) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("/proc is not mounted here"));
}

TEST(MachineTest, AProcThatHidesProcessesConvictsNobody) {
  const AssayProgram assay;
  auto wrapper = with_proc(assay, "mount -t proc -o hidepid=2 proc /proc");
  const auto other = assay.with(testing::Rights::another_user);
  if (wrapper.empty() || !other) GTEST_SKIP() << "no right to mount anything here";
  wrapper.insert(wrapper.end(), other->begin(), other->end());
  const Finished finished = assay.run(sweep("run", {candidate("good")}), wrapper);
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const auto record = load_record(assay.file("run/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_NE(record->problems.at(0).winner(), nullptr);
  EXPECT_THAT(record->trust_reason, HasSubstr("does not let assay see whether its code stays"));
}

TEST(MachineTest, ACacheThatIsNamedFromHereServesCompilersElsewhere) {
  const AssayProgram assay;
  const std::string name = "c\xff";
  const Finished finished =
      assay.run(sweep("r\xfe", {candidate("good")}, {"--cache-dir", name, "--json"}));
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_TRUE(Json::accept(finished.out)) << finished.out;
  EXPECT_TRUE(load_record(assay.file("r\xfe/record.json")));
}

TEST(MachineTest, AnOutputFolderThatCannotBeMadeIsSaid) {
  const AssayProgram assay;
  ASSERT_TRUE(write_file_atomic(assay.file("taken"), "a file"));
  Finished finished = assay.run(sweep("taken/run", {candidate("good")}));
  EXPECT_EQ(finished.code(), 2) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("taken"));
  EXPECT_EQ(read_file(assay.file("taken")).value_or(""), "a file");

  if (::geteuid() == 0) return;  // Permissions bind everybody else.
  ASSERT_TRUE(make_directories(assay.file("closed")));
  ASSERT_EQ(::chmod(assay.file("closed").c_str(), 0555), 0);
  finished = assay.run(sweep("closed/run", {candidate("good")}));
  EXPECT_EQ(finished.code(), 2) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("Permission denied"));
}

TEST(MachineTest, SourcesThatCannotBeReadAreSaidBeforeAnythingIsWritten) {
  const AssayProgram assay;
  ASSERT_TRUE(make_directories(assay.file("folder.cc")));
  ASSERT_EQ(::mkfifo(assay.file("pipe.cc").c_str(), 0666), 0);
  ASSERT_TRUE(write_file_atomic(assay.file("bytes.cc"), std::string("\x7f"
                                                                    "ELF\0\0\xff\xfe",
                                                                    8)));
  ASSERT_TRUE(
      write_file_atomic(assay.file("closed.cc"), "// assay: {entry: closed, dtype: f32}\n"));
  ASSERT_EQ(::chmod(assay.file("closed.cc").c_str(), 0), 0);
  std::vector<std::string> names = {"absent.cc", "folder.cc", "pipe.cc", "bytes.cc"};
  if (::geteuid() != 0) names.emplace_back("closed.cc");
  for (const std::string& name : names) {
    const Finished finished = assay.run(sweep("run", {name}));
    EXPECT_EQ(finished.code(), 2) << name << ": " << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(name));
    EXPECT_EQ(finished.out, "") << name;
    EXPECT_FALSE(fs::exists(assay.file("run"))) << name;
  }
}

}  // namespace
}  // namespace assay
