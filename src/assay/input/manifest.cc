#include "assay/input/manifest.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "assay/base/choices.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/input/entry_reader.h"
#include "assay/input/head_comment.h"
#include "assay/input/manifest_entry.h"
#include "assay/input/yaml.h"

namespace assay::input {
namespace {

constexpr size_t kMaxSourceBytes = size_t{16} << 20;
constexpr size_t kMaxHeadComments = 256;

std::filesystem::path absolute_path(const std::filesystem::path& path) {
  std::error_code failed;
  std::filesystem::path result = std::filesystem::absolute(path, failed);
  return failed ? path : result.lexically_normal();
}

Error no_comment(const std::filesystem::path& path, std::string_view text, int late) {
  const bool python = comment_style(path) == CommentStyle::python;
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    return {ErrorCode::invalid_input,
            fmt::format("{}:1: is text in UTF-16; save it as UTF-8", sanitize(path.string(), 300))};
  }
  if (text.substr(0, 4096).find('\0') != std::string_view::npos) {
    return {ErrorCode::invalid_input,
            fmt::format("{}:1: this is a binary file, not source; describe it in a manifest",
                        path.string())};
  }
  if (late > 0) {
    return {ErrorCode::invalid_input,
            fmt::format("{}:{}: the assay comment stands after code; move it to the file's head",
                        path.string(), late)};
  }
  const std::string_view example =
      "assay: {entry: my_gemm, operation: gemm, a: f32, b: f32, out: f32, layout: tt, "
      "args: [a, b, out, m, n, k]}";
  return {
      ErrorCode::invalid_input,
      fmt::format("{}:1: nothing says what this file's kernel is; put a comment at its head, for "
                  "example\n  {} {}{}",
                  path.string(), python ? "#" : "//", example,
                  python ? ""
                         : "\n  for extern \"C\" void my_gemm(const float* a, const float* b, "
                           "float* out, int64_t m, int64_t n, int64_t k)")};
}

// Names are keys in tables of results.
Status unique_names(const std::vector<KernelEntry>& entries) {
  std::unordered_map<std::string_view, std::string_view> origins;
  for (const KernelEntry& entry : entries) {
    const auto [earlier, fresh] = origins.emplace(entry.name, entry.origin);
    if (!fresh) {
      return fail(ErrorCode::invalid_input,
                  "{}: name: '{}' is given twice, first at {}; give each kernel a name of its own",
                  entry.origin, entry.name, earlier->second);
    }
  }
  return {};
}

struct FileAndEntry {
  std::filesystem::path file;
  std::string entry;
};

// What is known of a plug-in without looking into it.
Result<KernelEntry> plugin_entry(const FileAndEntry& wanted) {
  std::error_code failed;
  const auto status = std::filesystem::status(wanted.file, failed);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return fail(ErrorCode::invalid_input, "'{}' is no regular file; a plug-in is one",
                sanitize(wanted.file.string(), 300));
  if (!std::filesystem::is_regular_file(status))
    return fail(ErrorCode::not_found, "there is no file '{}'", sanitize(wanted.file.string(), 300));
  KernelEntry entry;
  entry.name = plugin_name(wanted.file);
  entry.provider = kPluginProvider;
  entry.source = absolute_path(wanted.file);
  entry.origin = wanted.file.string();
  entry.entry = wanted.entry;
  return entry;
}

// Of an item that says no more than its source: that file's head comment describes its kernels.
Result<std::filesystem::path> source_alone(const YamlField& item) {
  if (item.kind() != YamlField::Kind::map) return std::filesystem::path();
  ASSAY_TRY(const auto members, item.members());
  if (members.size() != 1 || members.front().first != "source") return std::filesystem::path();
  ASSAY_TRY(std::filesystem::path source, members.front().second.as_string());
  return source;
}

FileAndEntry split_entry(std::string_view text) {
  const size_t colons = text.rfind("::");
  if (colons == std::string_view::npos) return {text, {}};
  return {text.substr(0, colons), std::string(text.substr(colons + 2))};
}

}  // namespace

Result<std::vector<KernelEntry>> parse_manifest(std::string_view text,
                                                const std::filesystem::path& path,
                                                const LaunchForms& forms) {
  ASSAY_TRY(const YamlField file, parse_yaml(text, path.string()));
  YamlField list = file;
  if (file.kind() == YamlField::Kind::map) {
    static const std::vector<std::string> kKnown = {"kernels"};
    ASSAY_TRY(file.only(kKnown));
    ASSAY_TRY(list, file.at("kernels"));
  }
  if (list.kind() != YamlField::Kind::list) {
    return fail(list.error("a manifest is a list of kernels; begin each with '- name: my_gemm'"));
  }
  ASSAY_TRY(const std::vector<YamlField> items, list.items());
  if (items.empty()) return fail(list.error("is empty; describe at least one kernel"));
  const EntryContext context{.launch_forms = forms,
                             .folder = absolute_path(path).parent_path(),
                             .source = {},
                             .entry = {},
                             .of_plugin = false};
  std::vector<KernelEntry> entries;
  for (const YamlField& item : items) {
    ASSAY_TRY(const auto source, source_alone(item));
    auto read = source.empty() ? read_entry(item, context)
                               : read_head_comment(context.folder / source, forms);
    ASSAY_TRY(std::vector<KernelEntry> read_entries, std::move(read));
    std::move(read_entries.begin(), read_entries.end(), std::back_inserter(entries));
  }
  ASSAY_TRY(unique_names(entries));
  return entries;
}

Result<std::vector<KernelEntry>> parse_plugin_kernel(std::string_view json,
                                                     const std::filesystem::path& plugin,
                                                     const std::string& origin) {
  ASSAY_TRY(parse_json(json, origin).map([](const Json&) {}));  // YAML would take more than JSON.
  ASSAY_TRY(const YamlField kernel, parse_yaml(json, origin));
  const EntryContext context{.launch_forms = {},
                             .folder = {},
                             .source = absolute_path(plugin),
                             .entry = {},
                             .of_plugin = true};
  return read_entry(kernel, context);
}

bool is_plugin(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".so") || name.find(".so.") != std::string::npos;
}

Result<std::vector<KernelEntry>> read_manifest(const std::filesystem::path& path,
                                               const LaunchForms& forms) {
  ASSAY_TRY(const std::string text, read_file(path.string(), YamlLimits{}.bytes));
  return parse_manifest(text, path, forms);
}

Result<std::vector<KernelEntry>> parse_head_comment(std::string_view text,
                                                    const std::filesystem::path& path,
                                                    const LaunchForms& forms,
                                                    std::string_view entry) {
  const HeadComments found = find_head_comments(text, comment_style(path));
  if (found.comments.empty()) return fail(no_comment(path, text, found.first_after_code));
  if (found.comments.size() > kMaxHeadComments) {
    return fail(ErrorCode::invalid_input, "{}:{}: more than {} descriptions in one file; split it",
                path.string(), found.comments[kMaxHeadComments].line, kMaxHeadComments);
  }
  EntryContext context{.launch_forms = forms,
                       .folder = {},
                       .source = absolute_path(path),
                       .entry = std::string(entry),
                       .of_plugin = false};
  std::vector<KernelEntry> entries;
  std::vector<std::string> known;
  for (const HeadComment& comment : found.comments) {
    ASSAY_TRY(const YamlField note, parse_yaml(comment.yaml, path.string()));
    ASSAY_TRY(const YamlField kernel, note.at("assay"));
    if (!entry.empty() && found.comments.size() > 1) {
      ASSAY_TRY(const YamlField function, kernel.at("entry"));
      ASSAY_TRY(context.entry, function.as_string());
      ASSAY_TRY(const auto name, kernel.find("name"));
      known.push_back(context.entry);
      if (name) {
        ASSAY_TRY(known.back(), name->as_string());
      }
      if (known.back() != entry && context.entry != entry) continue;
    }
    ASSAY_TRY(std::vector<KernelEntry> read, read_entry(kernel, context));
    std::move(read.begin(), read.end(), std::back_inserter(entries));
  }
  if (entries.empty()) {
    return fail(ErrorCode::invalid_input, "{}:{}: no comment describes the kernel '{}'{}",
                path.string(), found.comments.front().line, sanitize(entry, 60),
                did_you_mean(entry, known, "there are " + join(known, ", ")));
  }
  ASSAY_TRY(unique_names(entries));
  return entries;
}

Result<std::vector<KernelEntry>> read_head_comment(const std::filesystem::path& path,
                                                   const LaunchForms& forms,
                                                   std::string_view entry) {
  ASSAY_TRY(const std::string text, read_file(path.string(), kMaxSourceBytes));
  return parse_head_comment(text, path, forms, entry);
}

Result<std::vector<KernelEntry>> read_kernels(std::string_view file_and_entry,
                                              const LaunchForms& forms) {
  const FileAndEntry wanted = split_entry(file_and_entry);
  if (is_plugin(wanted.file)) {
    ASSAY_TRY(KernelEntry entry, plugin_entry(wanted));
    return std::vector<KernelEntry>{std::move(entry)};
  }
  if (wanted.file.extension() != ".yaml" && wanted.file.extension() != ".yml") {
    return read_head_comment(wanted.file, forms, wanted.entry);
  }
  ASSAY_TRY(std::vector<KernelEntry> entries, read_manifest(wanted.file, forms));
  if (wanted.entry.empty()) return entries;
  std::vector<std::string> known;
  std::vector<KernelEntry> chosen;
  for (KernelEntry& entry : entries) {
    known.push_back(entry.name);
    if (entry.name == wanted.entry || entry.entry == wanted.entry)
      chosen.push_back(std::move(entry));
  }
  if (chosen.empty()) {
    return fail(ErrorCode::invalid_input, "{}: there is no kernel '{}'{}", wanted.file.string(),
                sanitize(wanted.entry, 60),
                did_you_mean(wanted.entry, known, "there are " + join(known, ", ")));
  }
  return chosen;
}

Result<std::vector<std::vector<KernelEntry>>> read_kernel_files(
    std::span<const std::string> files_and_entries, const LaunchForms& forms) {
  std::vector<std::vector<KernelEntry>> files;
  std::set<std::string> taken;
  for (const std::string& file_and_entry : files_and_entries) {
    ASSAY_TRY(files.emplace_back(), read_kernels(file_and_entry, forms));
    for (KernelEntry& entry : files.back()) {
      const std::string own = entry.name;
      for (int n = 2; !taken.insert(entry.name).second; ++n)
        entry.name = fmt::format("{}_{}", own, n);
    }
  }
  return files;
}

}  // namespace assay::input
