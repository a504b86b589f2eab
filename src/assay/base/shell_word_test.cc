#include "assay/base/shell_word.h"

#include <string>

#include <gtest/gtest.h>

#include "assay/base/subprocess.h"

namespace assay {
namespace {

// A shell gives back what it was given, as one word.
TEST(ShellWord, IsOneWordToAShell) {
  for (const std::string text :
       {"runs/0001-my_gemm", "m=4,n=512", "", "two words", "it's", "$HOME", "`id`", "a;b", "~",
        "#x", "m=1|4", "*", "[ab]", "a\\b", "\"", "!", "{a,b}", "a\tb"}) {
    const auto said = run_command(
        {.argv = {"sh", "-c",
                  "for word in " + shell_word(text) + "; do printf '<%s>' \"$word\"; done"},
         .env = {"PATH=/usr/bin:/bin"}},
        {});
    ASSERT_TRUE(said) << text;
    EXPECT_EQ(said->out, "<" + text + ">");
  }
  EXPECT_EQ(shell_word("out/a-b_c.cc"), "out/a-b_c.cc");
}

}  // namespace
}  // namespace assay
