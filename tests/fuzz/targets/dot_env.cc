// .env.

#include "cli/dot_env.h"

#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(dot_env) {
  const auto values = cli::parse_dot_env(bytes);
  if (!fuzz::is_read(values)) return;
  std::string written;
  for (const auto& [name, value] : *values) {
    const char quote = value.find('\'') == std::string::npos ? '\'' : '"';
    // No quotes are left that do not occur in it.
    if (value.find(quote) != std::string::npos) return;
    written += "export " + name + "=" + quote + value + quote + "\n";
  }
  const auto again = cli::parse_dot_env(written);
  if (fuzz::is_read_again(again)) fuzz::expect(*again == *values, "a value changes");
}

}  // namespace assay
