// What the helper says that ran a user's Triton file.

#include "providers/triton/helper.h"
#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(triton_answer) {
  CommandOutput output;
  output.status.kind = ExitStatus::Kind::exited;
  output.out = bytes;
  const auto compiled = triton::read_answer(output, {.origin = "my.py:1", .program = "python3"});
  if (fuzz::is_read(compiled)) {
    const auto launch = triton::Compiled::from_launch(compiled->launch());
    if (fuzz::is_read_again(launch))
      fuzz::expect_same(launch->launch(), compiled->launch(), "a launch changes");
  }
  // The same as an artifact of the cache has it.
  const auto json = parse_json(bytes, "launch");
  if (!json) return;
  const auto launch = triton::Compiled::from_launch(*json);
  if (!launch) return;
  const auto again = triton::Compiled::from_launch(launch->launch());
  if (fuzz::is_read_again(again))
    fuzz::expect_same(again->launch(), launch->launch(), "a launch changes");
}

}  // namespace assay
