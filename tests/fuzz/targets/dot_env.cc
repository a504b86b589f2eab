// .env.

#include "cli/dot_env.h"

#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(dot_env) {
  const auto values = cli::parse_dot_env(bytes);
  if (!fuzz::is_read(values)) return;
  std::string written;
  for (const auto& [name, value] : *values) {
    const char quote = value.text.find('\'') == std::string::npos ? '\'' : '"';
    // No quotes are left that do not occur in it.
    if (value.text.find(quote) != std::string::npos) return;
    written += "export " + name + "=" + quote + value.text + quote + "\n";
  }
  const auto again = cli::parse_dot_env(written);
  if (fuzz::is_read_again(again)) {
    const auto texts = [](const cli::DotEnv& all) {
      std::map<std::string, std::string> texts;  // On which lines is another matter.
      for (const auto& [name, value] : all) texts.emplace(name, value.text);
      return texts;
    };
    fuzz::expect(texts(*again) == texts(*values), "a value changes");
  }
}

}  // namespace assay
