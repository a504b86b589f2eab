#include "assay/sweep/child.h"

#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/base/fd.h"

namespace assay::sweep {
namespace {

// Programs of the system play the child: argv is {program, role}.
Result<Child> start(const std::string& program, const std::string& role, int cancel_fd = -1) {
  ChildOptions options;
  options.program = program;
  options.role = role;
  options.cancel_fd = cancel_fd;
  options.environment = {"PATH=/usr/bin:/bin"};
  return Child::start(options);
}

const Death* death_of(const CallResult<Message>& answer) {
  return answer ? nullptr : std::get_if<Death>(&answer.error());
}

TEST(Child, OneThatExitsIsADeathWithItsCode) {
  auto child = start("/bin/cat", "/nonexistent/file");
  ASSERT_TRUE(child);
  const auto answer = child->call({{"do", "init"}}, 60);
  const Death* death = death_of(answer);
  ASSERT_NE(death, nullptr);
  EXPECT_EQ(death->kind, Death::Kind::crashed);
  EXPECT_EQ(death->exit_code, 1);
  EXPECT_NE(death->output_tail.find("/nonexistent/file"), std::string::npos) << death->output_tail;
  EXPECT_FALSE(child->alive());
  EXPECT_NE(death_of(child->call({{"do", "init"}}, 60)), nullptr) << "and it stays dead";
}

TEST(Child, OneThatNeverAnswersIsKilledAtItsLimit) {
  auto child = start("/bin/sleep", "1000");
  ASSERT_TRUE(child);
  const auto answer = child->call({{"do", "init"}}, 0.05);
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
  const auto answer = child->call({{"do", "init"}}, 600);
  ASSERT_FALSE(answer);
  EXPECT_TRUE(is_interruption(answer.error()));
}

TEST(Child, OfSeveralTheFirstToEndIsHeardFirst) {
  auto sleeps = start("/bin/sleep", "1000");
  auto exits = start("/bin/cat", "/nonexistent/file");
  ASSERT_TRUE(sleeps && exits);
  sleeps->post({{"do", "init"}}, 0.5);
  exits->post({{"do", "init"}}, 600);
  Child* const both[] = {&*sleeps, &*exits};
  const auto first = Child::wait_for_any(both);
  EXPECT_EQ(first.which, 1u);
  ASSERT_NE(death_of(first.answer), nullptr);
  EXPECT_EQ(death_of(first.answer)->kind, Death::Kind::crashed);
  EXPECT_TRUE(sleeps->alive());
  Child* const left[] = {&*sleeps};
  const auto second = Child::wait_for_any(left);
  ASSERT_NE(death_of(second.answer), nullptr);
  EXPECT_EQ(death_of(second.answer)->kind, Death::Kind::timed_out);
}

TEST(Child, AProgramThatIsNotThereIsAnError) { EXPECT_FALSE(start("/nonexistent/program", "x")); }

}  // namespace
}  // namespace assay::sweep
