// --config, and with it the YAML that all other readers of YAML begin with.

#include "cli/config.h"

#include "assay/input/yaml.h"
#include "tests/fuzz/fuzz.h"

namespace assay {
namespace {

void expect_places(const input::YamlField& field) {
  fuzz::expect(field.line() >= 1 && field.column() >= 1, "a value that stands nowhere");
  (void)field.as_value();
  if (const auto members = field.members())
    for (const auto& [key, member] : *members) expect_places(member);
  if (const auto items = field.items())
    for (const auto& item : *items) expect_places(item);
}

const cli::ConfigNames& names() {
  static const cli::ConfigNames names{
      .commands = {{"sweep", {"threads", "margin", "budget"}}, {"race", {"threads", "shape"}}},
      .everywhere = {"quiet", "config"},
      .providers = {"openblas", "cublaslt"},
      .settings = {{"cublaslt", {"space"}}},
      .check = {}};
  return names;
}

}  // namespace

ASSAY_FUZZ_TARGET(config) {
  if (const auto root = input::parse_yaml(bytes, "config.yaml"); fuzz::is_read(root))
    expect_places(*root);
  const auto config = cli::parse_config(bytes, "config.yaml", names());
  if (!fuzz::is_read(config)) return;
  for (const cli::ConfigDefault& entry : config->defaults) {
    fuzz::expect(!entry.values.empty(), "a default without a value");
    fuzz::expect(
        config->find(entry.command.empty() ? "sweep" : entry.command, entry.flag) != nullptr,
        "a default that nobody finds");
  }
}

}  // namespace assay
