#include "assay/base/choices.h"

#include <vector>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(ChoicesTest, AQuestionEndsASentence) {
  const std::vector<std::string> known = {"openblas", "onednn"};
  EXPECT_EQ(did_you_mean("openbls", known, "there are: openblas, onednn"),
            "; did you mean 'openblas'? There are: openblas, onednn");
  EXPECT_EQ(did_you_mean("magma", known, "there are: openblas, onednn"),
            "; there are: openblas, onednn");
  EXPECT_EQ(did_you_mean("openbls", known, "`assay providers` lists them"),
            "; did you mean 'openblas'? `assay providers` lists them");
}

}  // namespace
}  // namespace assay
