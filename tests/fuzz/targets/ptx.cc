// PTX text.

#include <algorithm>

#include "providers/ptx/text.h"
#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(ptx) {
  const ptx::TextFacts facts = ptx::read_text(bytes);
  // Words that begin so may be other directives.
  const auto is_directive = [](const std::string& word) { return word.starts_with('.'); };
  if (is_directive(facts.version) || is_directive(facts.target) ||
      std::ranges::any_of(facts.entries, is_directive))
    return;
  std::string written;
  if (!facts.version.empty()) written += ".version " + facts.version + "\n";
  if (!facts.target.empty()) written += ".target " + facts.target + "\n";
  for (const std::string& entry : facts.entries) {
    fuzz::expect(!entry.empty(), "an entry without a name");
    written += ".visible .entry " + entry + "()\n";
  }
  if (written.find('/') != std::string::npos) return;  // It may be a comment by now.
  const ptx::TextFacts again = ptx::read_text(written);
  fuzz::expect_same(again.version, facts.version, "the version changes");
  fuzz::expect_same(again.target, facts.target, "the target changes");
  fuzz::expect(again.entries == facts.entries, "entries change");
  for (const char* gpu : {"sm_80", "sm_90", "sm_100"}) ptx::runs_on(facts.target, gpu);
}

}  // namespace assay
