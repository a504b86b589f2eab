#pragma once

// Reads one kernel's description, field by field, in the order of read(). Not for use outside this
// folder. What it is: entry_reader.cc; what it asks of a problem: entry_rule.cc; how it is called
// and built: entry_call.cc; how device code is launched: entry_launch.cc.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/input/kernel_words.h"
#include "assay/input/manifest.h"
#include "assay/input/manifest_entry.h"
#include "assay/input/yaml.h"
#include "assay/kernel/taker.h"

namespace assay::input {

class EntryReader {
 public:
  EntryReader(const YamlField& field, const EntryContext& context)
      : field_(field), context_(context) {}

  Result<std::vector<KernelEntry>> read();

 private:
  Status read_source();
  Status read_provider();
  bool brings_plugin() const;
  Result<std::vector<KernelEntry>> read_plugin();
  Status read_operation();
  Status check_fields();
  Status read_name();
  Status read_names();

  Status read_dtypes();
  Status read_multiples(std::string_view what);  // divisibility, alignment.
  Status read_targets();
  Status read_epilogues();
  Status apply_layout(const YamlField& field, std::string_view layout, ProblemRule& rule) const;
  Status check_strides(const YamlField& field) const;
  Result<std::vector<KernelEntry>> by_layout() const;
  OperandRule& rule_operand(std::string_view role);

  Status read_tunables();
  Status read_workspace();
  Status read_prepare();
  Status read_args();
  Status read_constraints();
  Status read_launch();
  Status read_maps(const YamlField& launch, KernelEntry::Launch& into) const;
  Status check_maps(const KernelEntry::Launch& launch) const;
  Result<std::vector<std::string>> extents(const YamlField& field) const;
  Result<std::vector<std::pair<YamlField, Value>>> expressions(const YamlField& field) const;
  Result<std::string> size_expression(const YamlField& field, const Value& value,
                                      const std::string& besides) const;
  Status read_flags();
  Status read_specialised_on();
  Status add_constraint(const YamlField& field, const std::string& text);
  // `besides`: a name that it may use beside sizes and tunables.
  Result<std::string> size_expression(const YamlField& field,
                                      const std::string& besides = {}) const;
  Result<Expression> parse_expression(const YamlField& field, const std::string& text,
                                      const std::string& besides = {}) const;
  Result<std::vector<std::string>> arguments(const YamlField& field) const;

  const YamlField& field_;
  const EntryContext& context_;
  LaunchForm launch_form_ = LaunchForm::itself;
  const KernelWords* words_ = nullptr;
  ProblemRule rule_;
  KernelEntry entry_;
};

bool contains(const std::vector<std::string>& names, std::string_view name);
std::optional<std::string> repeated(std::vector<std::string> names);
bool is_identifier(std::string_view text, size_t longest = 200);
// A name for what a plug-in holds, from its file's: my_gemm for libmy_gemm.so.
std::string plugin_name(const std::filesystem::path& file);
// "there is no field 'x'; did you mean 'y'?" and its like.
std::string unknown_name(std::string_view what, const std::string& name,
                         const std::vector<std::string>& known);

}  // namespace assay::input
