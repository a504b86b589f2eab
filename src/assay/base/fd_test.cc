#include "assay/base/fd.h"

#include <cstring>
#include <fcntl.h>
#include <latch>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/clock.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

template <class File>
std::string text_of(const File& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

std::pair<UniqueFd, UniqueFd> make_pipe() {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

TEST(UniqueFd, ClosesOnceAndMoves) {
  auto [reader, writer] = make_pipe();
  const int number = reader.get();
  UniqueFd moved = std::move(reader);
  EXPECT_FALSE(reader.valid());
  EXPECT_TRUE(is_open(number));
  {
    UniqueFd copy = moved.duplicate().value();
    EXPECT_NE(copy.get(), number);
    EXPECT_TRUE((fcntl(copy.get(), F_GETFD) & FD_CLOEXEC) != 0);
  }
  EXPECT_TRUE(is_open(number));
  moved.reset();
  EXPECT_FALSE(is_open(number));
  EXPECT_FALSE(UniqueFd().duplicate());
}

TEST(UniqueFd, ClosingLeavesErrnoAlone) {
  auto [reader, writer] = make_pipe();
  ::close(reader.get());
  errno = EDOM;
  reader.reset();
  EXPECT_EQ(errno, EDOM);
}

TEST(WriteAll, WaitsForASlowReader) {
  auto [reader, writer] = make_pipe();
  ASSERT_EQ(fcntl(writer.get(), F_SETFL, O_NONBLOCK), 0);
  const std::string sent(1 << 20, 'x');  // Far more than a pipe holds.
  std::string received;
  std::thread thread([&, fd = reader.get()] {
    char buffer[5000];
    for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;) received.append(buffer, n);
  });
  const Status written = write_all(writer.get(), sent);
  writer.reset();
  thread.join();
  EXPECT_TRUE(written);
  EXPECT_EQ(received, sent);
}

// SIGPIPE's default action would end this test.
TEST(WriteAll, AReaderThatWentAwayIsAnError) {
  auto [reader, writer] = make_pipe();
  reader.reset();
  const Status to_pipe = write_all(writer.get(), "x");
  ASSERT_FALSE(to_pipe);
  EXPECT_EQ(to_pipe.error().code, ErrorCode::failed);
  EXPECT_THAT(to_pipe.error().message, HasSubstr("reader has gone"));

  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  UniqueFd ours(ends[0]);
  ::close(ends[1]);
  EXPECT_FALSE(write_all(ours.get(), "x"));

  sigset_t pending, blocked;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0) << "the signal was left behind";
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0) << "the signal was left blocked";
}

TEST(WriteAll, AFullDiskIsTheMachinesFault) {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  const Status written = write_all(full.get(), "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::machine);
  EXPECT_THAT(written.error().message, HasSubstr("disk full"));
}

TEST(WaitForFd, TellsReadyFromLate) {
  auto [reader, writer] = make_pipe();
  EXPECT_FALSE(wait_for_fd(reader.get(), POLLIN, monotonic_ns()).value());
  EXPECT_FALSE(wait_for_fd(reader.get(), POLLIN, monotonic_ns() + 1'000'000).value());
  ASSERT_TRUE(write_all(writer.get(), "x"));
  EXPECT_TRUE(wait_for_fd(reader.get(), POLLIN, std::nullopt).value());
  EXPECT_FALSE(wait_for_fd(9999, POLLIN, std::nullopt)) << "not an open descriptor";
}

TEST(Memfd, SealedCannotBeChanged) {
  auto fd = create_sealed_memfd("inputs", bytes_of("hello")).value();
  EXPECT_LT(pwrite(fd.get(), "x", 1, 0), 0);
  EXPECT_NE(ftruncate(fd.get(), 0), 0);
  EXPECT_NE(ftruncate(fd.get(), 100), 0);
  EXPECT_FALSE(MappedFile::map_read_write(fd.get()));
  const auto mapped = MappedFile::map_read_only(fd.get(), Seal::unchanging);
  ASSERT_TRUE(mapped) << mapped.error().message;
  EXPECT_EQ(text_of(*mapped), "hello");
  EXPECT_TRUE((fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST(MemoryFile, IsWrittenOnceAndThenByNobody) {
  auto memory = MemoryFile::create("inputs", 5).value();
  EXPECT_EQ(text_of(memory), std::string(5, '\0'));
  std::ranges::copy(bytes_of("hello"), memory.writable_bytes().begin());
  ASSERT_TRUE(memory.seal());
  EXPECT_TRUE(memory.writable_bytes().empty());
  EXPECT_EQ(text_of(memory), "hello");
  const auto file = memory.file().value();
  EXPECT_LT(pwrite(file.get(), "x", 1, 0), 0);
  EXPECT_FALSE(MappedFile::map_read_write(file.get()));
  memory = MemoryFile();
  EXPECT_EQ(text_of(MappedFile::map_read_only(file.get(), Seal::unchanging).value()), "hello");
}

// Whoever comes first, the sealer or the other writer who lets go: it is sealed in the end.
TEST(MemoryFile, AnotherWriterWhoLetsGoIsWaitedFor) {
  for (int round = 0; round < 20; ++round) {
    auto memory = MemoryFile::create("inputs", 4096).value();
    auto other = MappedFile::map_read_write(memory.file().value().get()).value();
    std::latch both_at_work(2);
    std::thread writer([&] {
      both_at_work.arrive_and_wait();
      std::this_thread::yield();
      other = MappedFile();
    });
    both_at_work.arrive_and_wait();
    const Status sealed = memory.seal();
    writer.join();
    ASSERT_TRUE(sealed) << "round " << round << ": " << sealed.error().message;
  }
}

TEST(MemoryFile, WithoutBytesThereIsNothingToSeal) {
  auto memory = MemoryFile::create("nothing", 0).value();
  EXPECT_TRUE(memory.seal());
  EXPECT_TRUE(memory.bytes().empty());
  MemoryFile none;
  EXPECT_TRUE(none.seal());
  EXPECT_TRUE(none.bytes().empty());
}

TEST(Memfd, WritableKeepsItsSizeAndIsShared) {
  auto fd = create_memfd("result", 4096 + 7).value();
  EXPECT_NE(ftruncate(fd.get(), 0), 0);
  auto writer = MappedFile::map_read_write(fd.get(), Seal::fixed_size).value();
  const auto reader = MappedFile::map_read_only(fd.get(), Seal::fixed_size).value();
  fd.reset();
  ASSERT_EQ(writer.size(), 4096u + 7);
  EXPECT_EQ(reader.bytes()[4096 + 6], std::byte{0});
  writer.writable_bytes()[4096 + 6] = std::byte{42};
  EXPECT_EQ(reader.bytes()[4096 + 6], std::byte{42});
}

TEST(MappedFile, DemandsSeals) {
  const UniqueFd loose(memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_TRUE(loose);
  const auto mapped = MappedFile::map_read_only(loose.get(), Seal::fixed_size);
  ASSERT_FALSE(mapped);
  EXPECT_EQ(mapped.error().code, ErrorCode::invalid_input);
  EXPECT_TRUE(MappedFile::map_read_only(loose.get()));
  const auto sized = create_memfd("sized", 10).value();
  EXPECT_FALSE(MappedFile::map_read_only(sized.get(), Seal::unchanging));
}

TEST(MappedFile, RefusesWhatIsNoFile) {
  auto [reader, writer] = make_pipe();
  EXPECT_FALSE(MappedFile::map_read_only(reader.get()));
  EXPECT_FALSE(MappedFile::map_read_only(reader.get(), Seal::fixed_size));
  EXPECT_FALSE(MappedFile::map_read_only(-1));
}

TEST(MappedFile, EmptyFilesAndReadOnlyMappings) {
  auto empty = MappedFile::map_read_write(create_memfd("empty", 0)->get()).value();
  EXPECT_EQ(empty.size(), 0u);
  auto read_only = MappedFile::map_read_only(create_memfd("ten", 10)->get()).value();
  EXPECT_TRUE(read_only.writable_bytes().empty());
  const MappedFile moved = std::move(read_only);
  EXPECT_EQ(moved.size(), 10u);
  EXPECT_EQ(read_only.size(), 0u);
}

}  // namespace
}  // namespace assay
