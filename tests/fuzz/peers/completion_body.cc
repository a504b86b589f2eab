// Bodies of requests for text.

#include "assay/base/text.h"
#include "assay/serve/asked.h"
#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(completion_body) {
  const serve::AskLimits limits;
  for (const auto& asked :
       {serve::read_chat(bytes, limits), serve::read_completion(bytes, limits)}) {
    if (!asked) {
      fuzz::expect(asked.error().status == 400 && !asked.error().message.empty(),
                   "a body is refused without a reason");
      fuzz::expect_same(
          parse_json(serve::error_json(asked.error()), "error").has_value() ? "" : "no", "",
          "an error is no JSON");
      continue;
    }
    fuzz::expect(asked->n >= 1 && asked->n <= limits.choices, "n is out of its bounds");
    fuzz::expect(asked->prompt_count() >= 1 && asked->prompt_count() <= limits.prompts,
                 "prompts are out of their bounds");
    fuzz::expect(asked->max_tokens.value_or(1) >= 1, "no token may be made");
    for (const std::string& stop : asked->stop)
      fuzz::expect(!stop.empty(), "a stop string is empty");
  }
}

}  // namespace assay
