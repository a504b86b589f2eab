// Files that were valid until a few bytes went wrong: whatever comes of them is a value or an error
// that names the file, never a crash. The seed is fixed, so a failure comes back.

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/input/manifest.h"
#include "assay/input/shape_flag.h"
#include "assay/input/suite.h"

namespace assay::input {
namespace {

constexpr int kMutants = 1500;

class Mutator {
 public:
  std::string mutate(std::string text) {
    for (size_t changes = 1 + below(4); changes > 0; --changes) {
      const size_t at = below(text.size() + 1);
      switch (below(6)) {
        case 0:
          if (at < text.size()) text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.insert(at, 1, kPunctuation[below(kPunctuation.size())]);
          break;
        case 2:
          text.erase(at, below(20));
          break;
        case 3:
          text.insert(at, text.substr(below(text.size() + 1), below(40)));
          break;
        case 4:
          text.resize(at);
          break;
        case 5:
          text.insert(at, kPieces[below(std::size(kPieces))]);
          break;
      }
    }
    return text;
  }

 private:
  static constexpr std::string_view kPunctuation = "{}[]:,-#&*!|>'\"%@`?~\t\n\r \\";
  static constexpr std::string_view kPieces[] = {"99999999999999999999",
                                                 "-1",
                                                 "1e400",
                                                 ".nan",
                                                 "\n---\n",
                                                 "&a ",
                                                 "*a",
                                                 "<<: *a",
                                                 "!!int ",
                                                 "\xff\xfe",
                                                 "null",
                                                 "? ",
                                                 "\xe2\x80\xae",
                                                 "\n\n",
                                                 "0",
                                                 "true",
                                                 "((((",
                                                 "// assay: {"};
  size_t below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  std::mt19937_64 random_{20240229};
};

// Errors must be one readable sentence that begins with the file, whatever bytes went in.
void expect_readable(const Error& error, std::string_view origin) {
  EXPECT_THAT(error.message, ::testing::StartsWith(std::string(origin)));
  EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
  EXPECT_EQ(error.message.find('\0'), std::string::npos);
  EXPECT_LT(error.message.size(), 2000u);
  EXPECT_NE(error.code, ErrorCode::internal) << error.message;
}

TEST(Mutation, Suites) {
  Mutator mutator;
  for (const EmbeddedSuite& suite : embedded_suites()) {
    for (int i = 0; i < kMutants; ++i) {
      const auto mutant = parse_suite(mutator.mutate(std::string(suite.text)), "s.yaml");
      if (!mutant) expect_readable(mutant.error(), "s.yaml:");
    }
  }
}

TEST(Mutation, HeadComments) {
  const std::string text =
      "/* assay:\n *   {entry: f, dtype: [f32, bf16], layout: [tt, tn], args: [a, b, out, m, n, k, "
      "t],\n"
      " *    tunables: {t: [1, 2], u: [true]}, constraints: [t * 2 <= n, 'min(m, n) > 1'],\n"
      " *    divisibility: {k: 8}, alignment: 64, targets: x86_64+avx2, flags: [-O3]}\n */\n"
      "// assay:\n//   entry: g\n//   a: f32\n//   b: f32\n//   out: f32\n//   layout: tn\n"
      "//   args: [a, prepared, out, workspace, m, n, k]\n//   workspace: m * 4\n"
      "//   prepare: {entry: p, bytes: n * k * 4, args: [b, prepared, n, k]}\nint x;\n";
  const auto forms = [](const KernelEntry&) { return LaunchForm::itself; };
  const auto whole = parse_head_comment(text, "k.cc", forms);
  ASSERT_TRUE(whole) << whole.error().message;
  Mutator mutator;
  for (int i = 0; i < 4 * kMutants; ++i) {
    const auto mutant = parse_head_comment(mutator.mutate(text), "k.cc", forms);
    if (!mutant) expect_readable(mutant.error(), "");
  }
}

TEST(Mutation, ShapeFlags) {
  Mutator mutator;
  for (int i = 0; i < kMutants; ++i) {
    const auto mutant = parse_shape_flag(mutator.mutate(
        "m=1:64:*4|3,n=64,k=128:256:+128,dtype=f32|bf16,constant=b|none,operation=gemm"));
    if (!mutant) expect_readable(mutant.error(), "--shape: column ");
  }
}

}  // namespace
}  // namespace assay::input
