#include "assay/input/manifest.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "assay/base/choices.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/input/entry_reader.h"
#include "assay/input/file_and_entry.h"
#include "assay/input/forms.h"
#include "assay/input/head_comment.h"
#include "assay/input/manifest_entry.h"
#include "assay/input/manifest_reader.h"
#include "assay/input/yaml.h"

namespace assay::input {
namespace {

constexpr size_t kMaxSourceBytes = size_t{16} << 20;
constexpr size_t kMaxHeadComments = 256;

// Endings of sources and objects that people bring, and that no provider compiles.
constexpr std::string_view kForeign[] = {".f",   ".F",  ".for", ".f90", ".F90", ".f95",  ".f03",
                                         ".f08", ".rs", ".go",  ".zig", ".jl",  ".s",    ".S",
                                         ".asm", ".o",  ".a",   ".cl",  ".hip", ".metal"};

// What helps with such a file; empty for others.
std::string other_language(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (std::ranges::find(kForeign, ending) == std::end(kForeign)) return {};
  return fmt::format(
      "no provider compiles {}: put it into a static library and call it from a C++ file whose "
      "head comment has flags: [-L., -lNAME], or make a plug-in of it (docs/plugins.md)",
      ending);
}

Error no_comment(const std::filesystem::path& path, std::string_view text, int late) {
  const bool python = comment_style(path) == CommentStyle::python;
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    return {ErrorCode::invalid_input,
            fmt::format("{}:1: is text in UTF-16; save it as UTF-8", sanitize(path.string(), 300))};
  }
  if (const std::string why = other_language(path); !why.empty())
    return {ErrorCode::invalid_input, fmt::format("{}:1: {}", path.string(), why)};
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

// What is known of a plug-in without mapping it.
Result<KernelEntry> plugin_entry(const FileAndEntry& wanted, SourceReader& reader) {
  std::error_code failed;
  const auto status = std::filesystem::status(wanted.file, failed);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return fail(ErrorCode::invalid_input, "'{}' is no regular file; a plug-in is one",
                sanitize(wanted.file, 300));
  if (!std::filesystem::is_regular_file(status))
    return fail(ErrorCode::not_found, "there is no file '{}'", sanitize(wanted.file, 300));
  ASSAY_TRY(reader.read(wanted.file).map([](const auto&) {}));
  KernelEntry entry;
  entry.name = plugin_name(wanted.file);
  entry.provider = kPluginProvider;
  entry.source = absolute_path(wanted.file);
  entry.origin = wanted.file;
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

// Gives each entry its source, and what that brings along.
Status add_files(std::vector<KernelEntry>& entries, SourceReader& reader) {
  std::map<std::string, std::shared_ptr<const SourceFiles>> known;
  for (KernelEntry& entry : entries) {
    auto& files = known[entry.source.string()];
    if (files == nullptr) {
      auto read = reader.read_with_brought(entry.source, {});
      if (!read) return fail(with_context(std::move(read).error(), entry.origin));
      files = std::make_shared<const SourceFiles>(std::move(*read));
    }
    entry.files = files;
  }
  return {};
}

Result<std::vector<KernelEntry>> read_head_comment(const std::filesystem::path& path,
                                                   const LaunchForms& forms, std::string_view entry,
                                                   SourceReader& reader) {
  ASSAY_TRY(const auto file, reader.read(path, kMaxSourceBytes));
  return parse_head_comment(file->bytes, path, forms, entry);
}

Result<std::vector<KernelEntry>> read_manifest(std::string_view text,
                                               const std::filesystem::path& path,
                                               const LaunchForms& forms, SourceReader& reader) {
  ASSAY_TRY(const YamlField file, parse_yaml(text, path.string()));
  YamlField list = file;
  if (file.kind() == YamlField::Kind::map) {
    ASSAY_TRY(only(file, manifest_form()));
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
                               : read_head_comment(context.folder / source, forms, {}, reader);
    ASSAY_TRY(std::vector<KernelEntry> read_entries, std::move(read));
    std::move(read_entries.begin(), read_entries.end(), std::back_inserter(entries));
  }
  ASSAY_TRY(unique_names(entries));
  return entries;
}

}  // namespace

Result<std::vector<KernelEntry>> parse_manifest(std::string_view text,
                                                const std::filesystem::path& path,
                                                const LaunchForms& forms) {
  SourceReader reader;
  ASSAY_TRY(std::vector<KernelEntry> entries, read_manifest(text, path, forms, reader));
  ASSAY_TRY(add_files(entries, reader));
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
  const auto files = std::make_shared<const SourceFiles>(
      SourceFiles{{absolute_path(path).string(), make_source_file(std::string(text))}});
  for (KernelEntry& read : entries) read.files = files;
  return entries;
}

Result<std::vector<KernelEntry>> read_kernels(std::string_view file_and_entry,
                                              const LaunchForms& forms) {
  SourceReader reader;
  return read_kernels(split_entry(file_and_entry), forms, reader);
}

Result<std::vector<KernelEntry>> read_kernels(const FileAndEntry& wanted, const LaunchForms& forms,
                                              SourceReader& reader) {
  std::vector<KernelEntry> entries;
  const std::filesystem::path extension = std::filesystem::path(wanted.file).extension();
  const bool is_manifest = extension == ".yaml" || extension == ".yml";
  if (is_plugin(wanted.file)) {
    ASSAY_TRY(entries.emplace_back(), plugin_entry(wanted, reader));
  } else if (is_manifest) {
    ASSAY_TRY(const auto file, reader.read(wanted.file, YamlLimits{}.bytes));
    ASSAY_TRY(entries, read_manifest(file->bytes, wanted.file, forms, reader));
  } else {
    ASSAY_TRY(entries, read_head_comment(wanted.file, forms, wanted.entry, reader));
  }
  if (is_manifest && !wanted.entry.empty()) {
    std::vector<std::string> known;
    for (const KernelEntry& entry : entries) known.push_back(entry.name);
    std::erase_if(entries, [&](const KernelEntry& entry) {
      return entry.name != wanted.entry && entry.entry != wanted.entry;
    });
    if (entries.empty())
      return fail(ErrorCode::invalid_input, "{}: there is no kernel '{}'{}", wanted.file,
                  sanitize(wanted.entry, 60),
                  did_you_mean(wanted.entry, known, "there are " + join(known, ", ")));
  }
  ASSAY_TRY(add_files(entries, reader));
  return entries;
}

}  // namespace assay::input
