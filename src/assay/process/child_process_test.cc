#include "assay/process/child_process.h"

#include <unistd.h>

#include <gtest/gtest.h>

#include "assay/base/fd.h"
#include "assay/process/messages.h"

namespace assay::sweep {
namespace {

// Programs of the system play the child: argv is {program, role}.
Result<ChildProcess> start(const std::string& program, const std::string& role,
                           int cancel_fd = -1) {
  ChildOptions options;
  options.program = program;
  options.role = role;
  options.cancel_fd = cancel_fd;
  options.environment = {"PATH=/usr/bin:/bin"};
  return ChildProcess::start(options);
}

template <class Answer>
const Death* death_of(const CallResult<Answer>& answer) {
  return answer ? nullptr : std::get_if<Death>(&answer.error());
}

TEST(Child, OneThatExitsIsADeathWithItsCode) {
  auto child = start("/bin/cat", "/nonexistent/file");
  ASSERT_TRUE(child);
  const auto answer = child->call(process::Manners{}, 60);
  const Death* death = death_of(answer);
  ASSERT_NE(death, nullptr);
  EXPECT_EQ(death->kind, Death::Kind::crashed);
  EXPECT_EQ(death->exit_code, 1);
  EXPECT_NE(death->output_tail.find("/nonexistent/file"), std::string::npos) << death->output_tail;
  EXPECT_FALSE(child->alive());
  EXPECT_NE(death_of(child->call(process::Manners{}, 60)), nullptr) << "and it stays dead";
}

TEST(Child, OneThatNeverAnswersIsKilledAtItsLimit) {
  auto child = start("/bin/sleep", "1000");
  ASSERT_TRUE(child);
  const auto answer = child->call(process::Manners{}, 0.05);
  const Death* death = death_of(answer);
  ASSERT_NE(death, nullptr);
  EXPECT_EQ(death->kind, Death::Kind::timed_out);
  EXPECT_EQ(child->pid(), -1);
}

TEST(Child, AWishToStopEndsACall) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd read_end(ends[0]), write_end(ends[1]);
  auto child = start("/bin/sleep", "1000", read_end.get());
  ASSERT_TRUE(child);
  ASSERT_TRUE(write_all(write_end.get(), "x"));
  const auto answer = child->call(process::Manners{}, 600);
  ASSERT_FALSE(answer);
  EXPECT_TRUE(is_interruption(answer.error()));
}

TEST(Child, OfSeveralTheFirstToEndIsHeardFirst) {
  auto sleeps = start("/bin/sleep", "1000");
  auto exits = start("/bin/cat", "/nonexistent/file");
  ASSERT_TRUE(sleeps && exits);
  sleeps->post(process::Manners{}, 0.5);
  exits->post(process::Manners{}, 600);
  Child* const both[] = {&*sleeps, &*exits};
  const auto first = Child::wait_for_any(both);
  EXPECT_EQ(first.which, 1u);
  ASSERT_NE(death_of(first.reply), nullptr);
  EXPECT_EQ(death_of(first.reply)->kind, Death::Kind::crashed);
  EXPECT_TRUE(sleeps->alive());
  Child* const left[] = {&*sleeps};
  const auto second = Child::wait_for_any(left);
  ASSERT_NE(death_of(second.reply), nullptr);
  EXPECT_EQ(death_of(second.reply)->kind, Death::Kind::timed_out);
}

TEST(Child, AProgramThatIsNotThereIsAnError) { EXPECT_FALSE(start("/nonexistent/program", "x")); }

}  // namespace
}  // namespace assay::sweep
