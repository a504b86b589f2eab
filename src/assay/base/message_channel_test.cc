#include "assay/base/message_channel.h"

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/clock.h"
#include "assay/base/subprocess.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

std::string frame(std::string_view body) {
  std::string text(4, '\0');
  for (int i = 0; i < 4; ++i) text[i] = static_cast<char>(body.size() >> (8 * i));
  return text.append(body);
}

class MessageChannelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto pair = MessageChannel::create_pair();
    ASSERT_TRUE(pair) << pair.error().message;
    ours_.emplace(std::move(pair->first));
    raw_ = std::move(pair->second);
  }

  MessageChannel& ours() { return *ours_; }
  // For a peer that keeps the rules; after it, raw_ is gone.
  MessageChannel take_theirs() { return MessageChannel(std::move(raw_)); }

  // What a hostile peer does: bytes of its choice, with descriptors of its choice.
  void push(std::string_view bytes, std::size_t descriptors = 0) {
    std::vector<int> fds(descriptors, raw_.get());
    std::vector<char> control(CMSG_SPACE(fds.size() * sizeof(int)));
    iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    if (descriptors > 0) {
      header.msg_control = control.data();
      header.msg_controllen = control.size();
      cmsghdr* part = CMSG_FIRSTHDR(&header);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
      memcpy(CMSG_DATA(part), fds.data(), fds.size() * sizeof(int));
    }
    ASSERT_EQ(sendmsg(raw_.get(), &header, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  Error receive_error(std::optional<std::int64_t> deadline = std::nullopt) {
    auto message = ours().receive(deadline);
    if (message) return {ErrorCode::internal, "received " + message->json.dump()};
    return message.error();
  }

  std::optional<MessageChannel> ours_;
  UniqueFd raw_;
};

TEST_F(MessageChannelTest, CarriesMessagesBothWaysInOrder) {
  MessageChannel theirs = take_theirs();
  ASSERT_TRUE(ours().send({{"n", 1}}));
  ASSERT_TRUE(ours().send("second"));
  ASSERT_TRUE(theirs.send({{"from", "them"}}));
  EXPECT_EQ(theirs.receive()->json["n"], 1);
  EXPECT_EQ(theirs.receive()->json, "second");
  EXPECT_EQ(ours().receive()->json["from"], "them");
}

TEST_F(MessageChannelTest, CarriesWhatIsLargerThanTheSocket) {
  const std::string large(20 << 20, 'x');
  std::thread sender([&, theirs = take_theirs()]() mutable {
    EXPECT_TRUE(theirs.send({{"large", large}}));
    EXPECT_TRUE(theirs.send("after"));
  });
  const auto message = ours().receive();
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_TRUE(message->json["large"] == large);
  EXPECT_EQ(ours().receive()->json, "after");
  sender.join();
}

TEST_F(MessageChannelTest, CarriesDescriptorsWithTheirMessage) {
  MessageChannel theirs = take_theirs();
  const auto a = create_memfd("a", 1).value();
  const auto b = create_memfd("b", 2).value();
  const int fds[] = {a.get(), b.get()};
  ASSERT_TRUE(ours().send("none"));
  ASSERT_TRUE(ours().send("two", fds));
  ASSERT_TRUE(ours().send("one", std::span(fds).first(1)));
  EXPECT_EQ(theirs.receive()->fds.size(), 0u);
  const auto two = theirs.receive();
  ASSERT_EQ(two->fds.size(), 2u);
  EXPECT_EQ(MappedFile::map_read_only(two->fds[0].get())->size(), 1u);
  EXPECT_EQ(MappedFile::map_read_only(two->fds[1].get())->size(), 2u);
  EXPECT_TRUE((fcntl(two->fds[0].get(), F_GETFD) & FD_CLOEXEC) != 0);
  EXPECT_EQ(theirs.receive()->fds.size(), 1u);
}

TEST_F(MessageChannelTest, TalksToARealProcess) {
  SubprocessOptions options;
  // The child is a shell that sends our own frame back, through its descriptor 5.
  options.argv = {"/bin/sh", "-c", "head -c 13 <&5 >&5"};
  options.env = {"PATH=/usr/bin:/bin"};
  options.extra_fds = {{5, raw_.get()}};
  auto process = Subprocess::start(options).value();
  raw_.reset();
  ASSERT_TRUE(
      ours().send({{"a", "bc"}}));  // 4 bytes of length, 10 of {"a":"bc"}: one is kept back.
  const Error cut = receive_error();
  EXPECT_EQ(cut.code, ErrorCode::failed);
  EXPECT_EQ(cut.message, "peer closed in the middle of a message");
  EXPECT_TRUE(process.wait()->success());
}

TEST_F(MessageChannelTest, APeerThatDiesIsNoticed) {
  const pid_t child = fork();
  if (child == 0) {
    MessageChannel theirs = take_theirs();
    ours().close();
    (void)theirs.send("last words");
    abort();
  }
  raw_.reset();
  EXPECT_EQ(ours().receive()->json, "last words");
  const Error closed = receive_error();
  EXPECT_EQ(closed.code, ErrorCode::failed);
  EXPECT_EQ(closed.message, "peer closed");
  waitpid(child, nullptr, 0);
  EXPECT_EQ(ours().send("hello?").error().message, "peer closed");
}

TEST_F(MessageChannelTest, DeadlinesAreBusyAndKeepWhatCame) {
  EXPECT_EQ(receive_error(monotonic_ns()).code, ErrorCode::busy);
  const std::string whole = frame("{\"a\": 1}");
  push(whole.substr(0, 2), 1);
  EXPECT_EQ(receive_error(monotonic_ns() + 1'000'000).code, ErrorCode::busy);
  push(whole.substr(2, 5));
  EXPECT_EQ(receive_error(monotonic_ns() + 1'000'000).code, ErrorCode::busy);
  push(whole.substr(7));
  const auto message = ours().receive(monotonic_ns());
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_EQ(message->json["a"], 1);
  EXPECT_EQ(message->fds.size(), 1u);
}

TEST_F(MessageChannelTest, APeerThatDoesNotReadCannotHoldUsUp) {
  const std::string large(4 << 20, 'x');
  EXPECT_EQ(ours().send(large, {}, monotonic_ns() + 1'000'000).error().code, ErrorCode::busy);
  // Half a message is out, so nothing that follows would make sense.
  EXPECT_THAT(ours().send("x").error().message, HasSubstr("broke in the middle"));
  EXPECT_THAT(receive_error().message, HasSubstr("broke in the middle"));
}

TEST_F(MessageChannelTest, BadLengthsEndTheChannel) {
  push(std::string("\xff\xff\xff\xff", 4));
  const Error error = receive_error();
  EXPECT_EQ(error.code, ErrorCode::invalid_input);
  EXPECT_THAT(error.message, HasSubstr("announced a message of 4294967295 bytes"));
  EXPECT_EQ(receive_error().code, ErrorCode::failed);
}

TEST_F(MessageChannelTest, EmptyMessagesEndTheChannel) {
  push(std::string(4, '\0'));
  EXPECT_EQ(receive_error().code, ErrorCode::invalid_input);
}

TEST_F(MessageChannelTest, AnAnnouncementTakesNoMemory) {
  push(std::string("\x00\x00\x00\x04", 4) + "[");  // 64 MiB, they say.
  EXPECT_EQ(receive_error(monotonic_ns() + 1'000'000).code, ErrorCode::busy);
  raw_.reset();
  EXPECT_EQ(receive_error().message, "peer closed in the middle of a message");
}

TEST_F(MessageChannelTest, BadJsonIsAnErrorAndTheNextFrameIsRead) {
  for (const char* bad : {"{", "{\"a\":1,\"a\":2}", "NaN", "\"\xff\"", "x\x1b[2J"}) {
    push(frame(bad), 1);
    const Error error = receive_error();
    EXPECT_EQ(error.code, ErrorCode::invalid_input) << bad;
    EXPECT_THAT(error.message, HasSubstr("message:1:"));
    EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
  }
  push(frame(std::string(10'000, '[')));
  EXPECT_THAT(receive_error().message, HasSubstr("nested deeper"));
  push(frame("7"));
  EXPECT_EQ(ours().receive()->json, 7);
}

TEST_F(MessageChannelTest, UnwantedDescriptorsAreClosed) {
  const std::size_t before = open_descriptors();
  push(frame("{"), 60);
  EXPECT_EQ(receive_error().code, ErrorCode::invalid_input);
  EXPECT_EQ(open_descriptors(), before);
  push(frame("1"), 60);
  EXPECT_EQ(ours().receive()->fds.size(), 60u);
  EXPECT_EQ(open_descriptors(), before);
  push(frame("1"), 200);
  EXPECT_THAT(receive_error().message, HasSubstr("more than 64 descriptors"));
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(MessageChannelTest, DescriptorsInPiecesAreCountedTogether) {
  const std::size_t before = open_descriptors();
  const std::string whole = frame("[1, 2]");
  push(whole.substr(0, 5), 40);
  push(whole.substr(5), 40);
  EXPECT_THAT(receive_error().message, HasSubstr("more than 64 descriptors"));
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(MessageChannelTest, RefusesToSendWhatCannotArrive) {
  const std::vector<int> many(kMaxMessageFds + 1, raw_.get());
  EXPECT_EQ(ours().send("x", many).error().code, ErrorCode::invalid_input);
  EXPECT_EQ(ours().send(std::string(kMaxMessageBytes, 'x')).error().code, ErrorCode::invalid_input);
  const int closed[] = {9999};
  EXPECT_EQ(ours().send("x", closed).error().code, ErrorCode::invalid_input);
  ASSERT_TRUE(ours().send("still fine"));
  EXPECT_EQ(take_theirs().receive()->json, "still fine");
}

TEST_F(MessageChannelTest, AClosedChannelSaysSo) {
  ours().close();
  EXPECT_EQ(ours().fd(), -1);
  EXPECT_THAT(ours().send("x").error().message, HasSubstr("closed"));
  EXPECT_THAT(receive_error().message, HasSubstr("closed"));
}

}  // namespace
}  // namespace assay
