// kernel_manifest.yaml, head comments of sources, and what plug-ins say of their kernels: one
// reader of entries behind three doors.

#include "assay/input/manifest.h"

#include <set>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/samples.h"

namespace assay {
namespace {

using Entries = Result<std::vector<KernelEntry>>;

void expect_sound(const Entries& entries, bool unique) {
  if (!fuzz::is_read(entries)) return;
  std::set<std::string> names;
  for (const KernelEntry& entry : *entries) {
    const bool first = names.insert(entry.name).second;
    if (unique) fuzz::expect(first, "two kernels of one name");
    if (!entry.rule) continue;  // A plug-in's, which it describes itself.
    const auto rule = ProblemRule::from_json(entry.rule->to_json());
    if (fuzz::is_read_again(rule)) fuzz::expect(*rule == *entry.rule, "a rule changes");
    for (const std::string& arg : entry.args)
      fuzz::expect(input::find_argument(entry, arg).has_value(), "an argument that means nothing");
    const auto known = input::expression_names(entry);
    const std::set<std::string> allowed(known.begin(), known.end());
    for (const auto& [text, constraint] : entry.constraints)
      for (const std::string& name : constraint.names())
        fuzz::expect(allowed.contains(name), "a constraint over what is not there");
  }
}

}  // namespace

ASSAY_FUZZ_TARGET(manifest) {
  expect_sound(input::parse_manifest(bytes, "/nowhere/kernel_manifest.yaml", fuzz::launch_form),
               true);
  for (const char* path : {"/nowhere/kernel.cc", "/nowhere/kernel.cu", "/nowhere/kernel.py"})
    expect_sound(input::parse_head_comment(bytes, path, fuzz::launch_form), false);
  expect_sound(input::parse_head_comment(bytes, "/nowhere/kernel.cc", fuzz::launch_form, "entry"),
               false);
  expect_sound(input::parse_plugin_kernel(bytes, "/nowhere/libmine.so", "libmine.so: kernel 0"),
               false);
}

}  // namespace assay
