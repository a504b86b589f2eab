#include "assay/base/file.h"

#include <csignal>
#include <filesystem>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/hash.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

class FileTest : public ::testing::Test {
 protected:
  std::string path(std::string_view name) const { return directory_.file(name); }

  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  TemporaryDirectory directory_ = TemporaryDirectory::create(testing::TempDir()).value();
};

using ReadFile = FileTest;
using WriteFileAtomic = FileTest;
using AppendFileTest = FileTest;
using AtomicFileTest = FileTest;
using LineReaderTest = FileTest;

TEST_F(ReadFile, GivesBackWhatWasWritten) {
  const std::string text = std::string("a\0b\n", 4) + std::string(100'000, 'x');
  ASSERT_TRUE(write_file_atomic(path("f"), text));
  EXPECT_EQ(read_file(path("f")).value(), text);
  ASSERT_TRUE(write_file_atomic(path("empty"), ""));
  EXPECT_EQ(read_file(path("empty")).value(), "");
}

TEST_F(ReadFile, ReadsFilesThatDoNotKnowTheirSize) {
  EXPECT_THAT(read_file("/proc/self/status").value(), HasSubstr("Pid:"));
}

TEST_F(ReadFile, NamesWhatIsNoRegularFile) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_THAT(read_file(path("fifo")).error().message, HasSubstr("is a FIFO"));
  EXPECT_THAT(read_file(directory_.path()).error().message, HasSubstr("is a directory"));
  EXPECT_THAT(read_file("/dev/zero").error().message, HasSubstr("is a device"));
  EXPECT_EQ(read_file("/dev/zero").error().code, ErrorCode::invalid_input);
}

TEST_F(ReadFile, TellsAbsentFromWrong) {
  EXPECT_EQ(read_file(path("none")).error().code, ErrorCode::not_found);
  EXPECT_EQ(read_file("").error().code, ErrorCode::invalid_input);
  EXPECT_EQ(read_file(std::string("/etc/passwd\0x", 13)).error().code, ErrorCode::invalid_input);
  EXPECT_EQ(read_file(path("none\x1b[31m")).error().message.find('\x1b'), std::string::npos);
}

TEST_F(ReadFile, IsBounded) {
  ASSERT_TRUE(write_file_atomic(path("f"), "12345"));
  EXPECT_TRUE(read_file(path("f"), 5));
  EXPECT_THAT(read_file(path("f"), 4).error().message, HasSubstr("larger than 4 B"));
  EXPECT_THAT(read_file("/proc/self/status", 4).error().message, HasSubstr("larger than"));
}

TEST_F(WriteFileAtomic, ReplacesAndLeavesNothingElse) {
  ASSERT_TRUE(write_file_atomic(path("f"), "old"));
  ASSERT_TRUE(write_file_atomic(path("f"), "new"));
  EXPECT_EQ(read_file(path("f")).value(), "new");
  EXPECT_THAT(entries(), ::testing::ElementsAre("f"));
}

TEST_F(WriteFileAtomic, KeepsPermissionsAndLinks) {
  ASSERT_TRUE(write_file_atomic(path("f"), "old"));
  ASSERT_EQ(chmod(path("f").c_str(), 0640), 0);
  ASSERT_EQ(symlink("f", path("link").c_str()), 0);
  ASSERT_TRUE(write_file_atomic(path("link"), "new"));
  struct stat facts {};
  ASSERT_EQ(lstat(path("link").c_str(), &facts), 0);
  EXPECT_TRUE(S_ISLNK(facts.st_mode));
  ASSERT_EQ(stat(path("f").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0640u);
  EXPECT_EQ(read_file(path("f")).value(), "new");
}

TEST_F(WriteFileAtomic, RefusesWhatItWouldDestroy) {
  ASSERT_TRUE(make_directories(path("folder")));
  EXPECT_THAT(write_file_atomic(path("folder"), "x").error().message, HasSubstr("a directory"));
  EXPECT_THAT(write_file_atomic("/dev/null", "x").error().message, HasSubstr("a device"));
  EXPECT_EQ(write_file_atomic(path("no/such/f"), "x").error().code, ErrorCode::not_found);
  EXPECT_EQ(write_file_atomic(path(std::string(300, 'x')), "x").error().code,
            ErrorCode::invalid_input);
}

// A size limit stands in for a full disk: the write fails half way, as it would there.
TEST_F(WriteFileAtomic, AFailedWriteLeavesTheOldFileAndNoTemporary) {
  ASSERT_TRUE(write_file_atomic(path("f"), "old"));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const Status written = write_file_atomic(path("f"), std::string(5000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::machine);
  EXPECT_EQ(read_file(path("f")).value(), "old");
  EXPECT_THAT(entries(), ::testing::ElementsAre("f"));
}

TEST_F(WriteFileAtomic, ReadersSeeOneTextOrTheOther) {
  const std::string a(50'000, 'a'), b(70'000, 'b');
  ASSERT_TRUE(write_file_atomic(path("f"), a));
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(write_file_atomic(path("f"), i % 2 ? a : b));
  });
  for (int i = 0; i < 200; ++i) {
    const std::string text = read_file(path("f")).value();
    EXPECT_TRUE(text == a || text == b) << text.size();
  }
  writer.join();
}

TEST_F(AtomicFileTest, PiecesAppearTogetherOrNotAtAll) {
  ASSERT_TRUE(write_file_atomic(path("f"), "old"));
  const std::string big(200'000, 'x');
  {
    auto file = AtomicFile::create(path("f"));
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(file->write("one "));
    ASSERT_TRUE(file->write(big));
    EXPECT_EQ(read_file(path("f")).value(), "old");
  }
  EXPECT_EQ(read_file(path("f")).value(), "old") << "it was not committed";
  EXPECT_EQ(entries().size(), 1u) << "and left nothing";
  auto file = AtomicFile::create(path("f"));
  ASSERT_TRUE(file);
  AtomicFile moved = std::move(*file);
  for (const std::string_view piece : {std::string_view("one "), std::string_view(big),
                                       std::string_view(" two"), std::string_view()})
    ASSERT_TRUE(moved.write(piece));
  ASSERT_TRUE(moved.commit());
  EXPECT_EQ(read_file(path("f")).value(), "one " + big + " two");
  EXPECT_EQ(entries().size(), 1u);
}

TEST_F(ReadFile, BlocksAndHashesAreThoseOfTheWhole) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i);
  ASSERT_TRUE(write_file_atomic(path("f"), text));
  std::string read;
  int blocks = 0;
  ASSERT_TRUE(read_file_in_blocks(path("f"), [&](std::span<const std::byte> block) {
    read.append(reinterpret_cast<const char*>(block.data()), block.size());
    ++blocks;
    return Status();
  }));
  EXPECT_TRUE(read == text);
  EXPECT_GT(blocks, 1);
  EXPECT_EQ(sha256_of_file(path("f")).value(), sha256_hex(text));
  EXPECT_EQ(sha256_of_file(path("none")).error().code, ErrorCode::not_found);
  EXPECT_THAT(sha256_of_file("/dev/zero").error().message, HasSubstr("is a device"));
}

TEST_F(LineReaderTest, GivesLinesWithTheirPlaces) {
  const std::string big(300'000, 'b');
  ASSERT_TRUE(write_file_atomic(path("f"), "a\n\n" + big + "\ntorn"));
  auto reader = LineReader::open(path("f"));
  ASSERT_TRUE(reader) << reader.error().message;
  std::vector<std::uint64_t> places;
  for (const std::string& expected : {std::string("a"), std::string(), big, std::string("torn")}) {
    const auto line = reader->next();
    ASSERT_TRUE(line && *line) << expected.substr(0, 10);
    EXPECT_TRUE((*line)->text == expected) << expected.substr(0, 10);
    EXPECT_EQ((*line)->whole, expected != "torn");
    places.push_back((*line)->at);
  }
  const auto end = reader->next();
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
  EXPECT_EQ(places, (std::vector<std::uint64_t>{0, 2, 3, 300'004}));
  auto later = LineReader::open(path("f"), 300'004);
  ASSERT_TRUE(later);
  EXPECT_EQ((*later->next())->text, "torn");
}

TEST_F(AppendFileTest, GrowsByLines) {
  {
    auto file = AppendFile::open(path("journal"), true).value();
    ASSERT_TRUE(file.append_line("one"));
    ASSERT_TRUE(file.append_line(""));
  }
  auto file = AppendFile::open(path("journal"), false).value();
  ASSERT_TRUE(file.append_line("three"));
  EXPECT_EQ(read_file(path("journal")).value(), "one\n\nthree\n");
  EXPECT_EQ(file.size().value(), 11u);
  EXPECT_FALSE(file.append_line("two\nlines"));
  ASSERT_TRUE(file.truncate(4));
  ASSERT_TRUE(file.append_line("two"));
  EXPECT_EQ(read_file(path("journal")).value(), "one\ntwo\n");
}

TEST_F(AppendFileTest, AFailedLineIsCutOff) {
  auto file = AppendFile::open(path("journal"), false).value();
  ASSERT_TRUE(file.append_line("whole"));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const Status written = file.append_line(std::string(5000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::machine);
  EXPECT_EQ(read_file(path("journal")).value(), "whole\n");
}

TEST_F(AppendFileTest, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_THAT(AppendFile::open(path("fifo"), false).error().message, HasSubstr("is a FIFO"));
  EXPECT_FALSE(AppendFile::open("/dev/null", false));
}

TEST_F(FileTest, MakesFoldersAndTheirParents) {
  EXPECT_TRUE(make_directories(path("a/b/c")));
  EXPECT_TRUE(make_directories(path("a/b/c")));
  EXPECT_TRUE(std::filesystem::is_directory(path("a/b/c")));
  ASSERT_TRUE(write_file_atomic(path("f"), ""));
  EXPECT_EQ(make_directories(path("f")).error().code, ErrorCode::invalid_input);
  EXPECT_EQ(make_directories(path("f/g")).error().code, ErrorCode::invalid_input);
}

TEST_F(FileTest, TemporaryFoldersGoAndLinksAreNotFollowed) {
  ASSERT_TRUE(write_file_atomic(path("precious"), "x"));
  std::string gone;
  {
    auto temporary = TemporaryDirectory::create(directory_.path()).value();
    gone = temporary.path();
    ASSERT_TRUE(make_directories(temporary.file("a/b")));
    ASSERT_TRUE(write_file_atomic(temporary.file("a/b/f"), "x"));
    ASSERT_EQ(symlink(directory_.path().c_str(), temporary.file("link").c_str()), 0);
    struct stat facts {};
    ASSERT_EQ(stat(gone.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0700u);
    const TemporaryDirectory moved = std::move(temporary);
    EXPECT_EQ(moved.path(), gone);
  }
  EXPECT_FALSE(std::filesystem::exists(gone));
  EXPECT_TRUE(std::filesystem::exists(path("precious")));
  const std::string kept = TemporaryDirectory::create(directory_.path())->release();
  EXPECT_TRUE(std::filesystem::exists(kept));
  EXPECT_FALSE(TemporaryDirectory::create(path("none")));
  EXPECT_FALSE(TemporaryDirectory::create(directory_.path(), "../x"));
}

}  // namespace
}  // namespace assay
