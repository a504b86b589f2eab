#include "assay/input/entry_reader.h"

#include <algorithm>
#include <cctype>

#include "assay/base/text.h"
#include "assay/input/forms.h"
#include "assay/input/manifest.h"
#include "assay/input/operation_file.h"
#include "assay/op/operation.h"

namespace assay::input {
namespace {

constexpr size_t kLongestName = 200;    // As matches_name_rule has it.
constexpr size_t kLongestEntry = 4096;  // The mangled name of a template holds every argument.

// A kernel's name for a function's: "mine.gemm" for mine::gemm.
std::string plain_name(std::string_view function) {
  std::string name;
  for (size_t i = 0; i < function.size(); ++i) {
    if (function.substr(i, 2) == "::") {
      name += '.';
      ++i;
    } else {
      name += function[i] == '$' ? '_' : function[i];
    }
  }
  return name;
}

}  // namespace

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<std::string> repeated(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  const auto found = std::adjacent_find(names.begin(), names.end());
  return found == names.end() ? std::nullopt : std::optional(*found);
}

bool is_function_name(std::string_view text) {
  if (text.size() > kLongestEntry) return false;
  for (size_t colons = text.find("::"); colons != std::string_view::npos;
       colons = text.find("::")) {
    if (!is_identifier(text.substr(0, colons), kLongestEntry)) return false;
    text.remove_prefix(colons + 2);
  }
  return is_identifier(text, kLongestEntry);
}

bool is_identifier(std::string_view text, size_t longest) {
  const auto inner = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '$'; };
  return !text.empty() && text.size() <= longest &&
         !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), inner);
}

std::string plugin_name(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  name = name.substr(0, name.find(".so"));
  if (name.starts_with("lib") && name.size() > 3) name.erase(0, 3);
  for (char& c : name)
    if (!matches_name_rule(std::string_view(&c, 1)) && c != '.') c = '_';
  return matches_name_rule(name) ? name : "plugin";
}

std::string unknown_name(std::string_view what, const std::string& name,
                         const std::vector<std::string>& known) {
  const std::string similar = nearest(name, known);
  return fmt::format(
      "there is no {} '{}'; {}", what, sanitize(name, 60),
      similar.empty() ? "known are " + join(known, ", ") : "did you mean '" + similar + "'?");
}

Result<std::vector<KernelEntry>> EntryReader::read() {
  entry_.origin = fmt::format("{}:{}", field_.origin(), field_.line());
  ASSAY_TRY(read_source());
  ASSAY_TRY(read_provider());
  if (brings_plugin()) return read_plugin();
  ASSAY_TRY(read_operation());
  ASSAY_TRY(check_fields());
  ASSAY_TRY(read_names());
  ASSAY_TRY(read_dtypes());
  ASSAY_TRY(read_tunables());
  entry_.rule = std::make_shared<ProblemRule>(rule_);  // find_argument asks for the operation.
  ASSAY_TRY(read_workspace());
  ASSAY_TRY(read_prepare());
  ASSAY_TRY(read_args());
  ASSAY_TRY(read_multiples("divisibility"));
  ASSAY_TRY(read_multiples("alignment"));
  ASSAY_TRY(read_constraints());
  if (launch_form_ != LaunchForm::itself)
    ASSAY_TRY(read_launch());
  else
    ASSAY_TRY(check_maps({}));
  ASSAY_TRY(read_flags());
  ASSAY_TRY(read_specialised_on());
  ASSAY_TRY(read_targets());
  ASSAY_TRY(read_epilogues());
  return by_layout();
}

Status EntryReader::read_operation() {
  rule_.operation = default_operation();
  ASSAY_TRY(const auto field, field_.find("operation"));
  if (field) {
    ASSAY_TRY(rule_.operation, field->as_string());
    const auto known = input::read_operation(
        rule_.operation, context_.source.empty() ? context_.folder : context_.source.parent_path());
    if (!known) return fail(field->error(known.error().message));
    rule_.operation = (*known)->name();
  }
  words_ = find_words(rule_.operation);
  return {};
}

Status EntryReader::read_source() {
  ASSAY_TRY(const auto field, field_.find("source"));
  if (context_.of_plugin && !field) {
    entry_.source = context_.source;
    return {};
  }
  if (context_.of_plugin)
    return fail(field->error("a plug-in is its own source; leave this field out"));
  if (!context_.source.empty()) {
    if (field) {
      return fail(field->error("the comment stands in the source itself; leave this field out"));
    }
    entry_.source = context_.source;
    return {};
  }
  ASSAY_TRY(const YamlField source, field_.at("source"));
  ASSAY_TRY(const std::string text, source.as_string());
  if (sanitize(text) != text) {
    return fail(source.error("holds control characters; rename the file"));
  }
  entry_.source = (context_.folder / text).lexically_normal();
  std::error_code failed;
  if (text.empty() || !std::filesystem::is_regular_file(entry_.source, failed)) {
    return fail(source.error(
        fmt::format("there is no regular file '{}'; paths are relative to the manifest",
                    sanitize(entry_.source.string(), 300)),
        ErrorCode::not_found));
  }
  return {};
}

Status EntryReader::read_provider() {
  ASSAY_TRY(const auto provider, field_.find("provider"));
  if (context_.of_plugin) {
    if (!provider) return {};
    return fail(provider->error("a plug-in is brought by the provider plugin; leave this out"));
  }
  if (provider) {
    ASSAY_TRY(entry_.provider, provider->as_string());
    if (!matches_name_rule(entry_.provider))
      return fail(provider->error("is not a provider's name; `assay providers` lists them"));
  }
  launch_form_ = context_.launch_forms(entry_);
  return {};
}

bool EntryReader::brings_plugin() const {
  if (context_.of_plugin) return false;
  return entry_.provider.empty() ? is_plugin(entry_.source) : entry_.provider == kPluginProvider;
}

// All else is in the plug-in, which only a worker opens.
Result<std::vector<KernelEntry>> EntryReader::read_plugin() {
  ASSAY_TRY(const auto members, field_.members());
  for (const auto& [name, member] : members)
    if (!contains(plugin_entry_form().names(), name))
      return fail(
          member.error("a plug-in describes its kernels itself; an entry of it has name, "
                       "source and entry alone, so remove this field"));
  entry_.provider = kPluginProvider;
  ASSAY_TRY(const auto entry, field_.find("entry"));
  if (entry) {
    ASSAY_TRY(entry_.entry, entry->as_string());
  }
  entry_.name =
      entry && matches_name_rule(entry_.entry) ? entry_.entry : plugin_name(entry_.source);
  ASSAY_TRY(read_name());
  return std::vector<KernelEntry>{entry_};
}

Status EntryReader::check_fields() {
  ASSAY_TRY(const auto launch, field_.find("launch"));
  if (launch && launch_form_ == LaunchForm::itself)
    return fail(launch->error("belongs to device code, and this launches itself; remove it"));
  const Form& form = kernel_form(*words_);
  if (context_.of_plugin)
    return only(field_, form, {"provider", "source", "entry", "flags", "specialised_on", "launch"});
  return launch_form_ == LaunchForm::itself ? only(field_, form, {"launch"}) : only(field_, form);
}

// Replaces the name that was made of another field.
Status EntryReader::read_name() {
  ASSAY_TRY(const auto name, field_.find("name"));
  if (!name) {
    if (entry_.name.size() <= kLongestName) return {};
    return fail(
        field_.error("the entry is too long for a name of the kernel; add one, for example "
                     "name: my_gemm"));
  }
  ASSAY_TRY(entry_.name, name->as_string());
  if (matches_name_rule(entry_.name)) return {};
  return fail(name->error(
      fmt::format("'{}' cannot be a name; use letters, digits, '_', '.' and '-', at most 200",
                  sanitize(entry_.name, 60))));
}

Status EntryReader::read_names() {
  ASSAY_TRY(const auto deterministic, field_.find("deterministic"));
  if (deterministic) {
    ASSAY_TRY(entry_.deterministic, deterministic->as_bool());
  }
  ASSAY_TRY(const auto error, field_.find("error"));
  if (error) {
    ASSAY_TRY(const std::string text, error->as_string());
    const auto bound = parse_error_bound(text);
    if (!bound) return fail(error->error(bound.error().message));
    entry_.error_bound = *bound;
  }
  if (context_.of_plugin) {
    ASSAY_TRY(field_.at("name").map([](const YamlField&) {}));
    ASSAY_TRY(read_name());
    entry_.entry = entry_.name;
    return {};
  }
  std::optional<YamlField> entry;
  if (context_.entry.empty()) {
    ASSAY_TRY(entry, field_.at("entry"));
    ASSAY_TRY(entry_.entry, entry->as_string());
  } else {
    ASSAY_TRY(entry, field_.find("entry"));
    entry_.entry = context_.entry;
  }
  if (!is_function_name(entry_.entry)) {
    return fail((entry ? *entry : field_)
                    .error(fmt::format("'{}' cannot be a function's name; write it as it is "
                                       "declared, for example my_gemm or mine::gemm",
                                       sanitize(entry_.entry, 60))));
  }
  entry_.name = plain_name(entry_.entry);
  return read_name();
}

Result<std::vector<KernelEntry>> read_entry(const YamlField& field, const EntryContext& context) {
  if (field.kind() != YamlField::Kind::map) {
    return fail(
        field.error("a kernel is a map of fields, for example {entry: my_gemm, dtype: f32, "
                    "layout: tt, args: [a, b, out, m, n, k]}"));
  }
  return EntryReader(field, context).read();
}

}  // namespace assay::input
