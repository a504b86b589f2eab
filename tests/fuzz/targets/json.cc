// The JSON that all other readers of JSON begin with.

#include "assay/base/json.h"

#include <algorithm>

#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(json) {
  const auto document = parse_json_document(bytes, "file");
  const auto value = parse_json(bytes, "file");
  fuzz::expect(document.has_value() == value.has_value(), "the two readers disagree");
  if (!fuzz::is_read(document) || !value) return;
  fuzz::expect_same(document->root, *value, "the two readers read two values");
  for (const std::string& text : {canonical(*value), dump_pretty(*value)}) {
    const auto again = parse_json(text, "again");
    if (fuzz::is_read_again(again))
      fuzz::expect_same(canonical(*again), canonical(*value), "what was written reads differently");
  }
  const auto lines = std::count(bytes.begin(), bytes.end(), '\n') + 1;
  const auto within = [&](const JsonField& field) {
    fuzz::expect(field.line() >= 1 && field.line() <= lines, "a line that the text has not");
  };
  const JsonField root(*document);
  within(root);
  if (const auto items = root.items())
    for (const JsonField& item : *items) within(item);
  if (const auto members = root.members())
    for (const auto& [key, member] : *members) within(member);
}

}  // namespace assay
