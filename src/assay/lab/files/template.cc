#include "assay/lab/files/template.h"

#include <algorithm>
#include <set>
#include <sys/stat.h>

#include "assay/base/embedded.h"
#include "assay/base/file.h"
#include "assay/base/text.h"

namespace assay::lab_templates {
std::span<const EmbeddedFile> embedded_files();
}

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOpen = "{{assay.", kClose = "}}";

bool takes_markers(const std::string& path) {
  return path.ends_with(".yaml") || path.ends_with(".md");
}

std::vector<TemplateFile> embedded_template(std::string_view name) {
  std::vector<TemplateFile> files;
  const std::string prefix = std::string(name) + '/';
  for (const EmbeddedFile& file : lab_templates::embedded_files())
    if (file.name.starts_with(prefix))
      files.push_back({std::string(file.name.substr(prefix.size())), std::string(file.content)});
  return files;
}

Result<std::vector<TemplateFile>> own_template(const fs::path& folder) {
  std::vector<TemplateFile> files;
  std::error_code failed;
  for (fs::recursive_directory_iterator entries(folder, failed), end; !failed && entries != end;
       entries.increment(failed)) {
    if (!entries->is_regular_file(failed)) continue;
    ASSAY_TRY(std::string text, read_file(entries->path().string()));
    files.push_back({entries->path().lexically_relative(folder).generic_string(), std::move(text)});
  }
  if (failed) return fail(ErrorCode::machine, "{}: {}", folder.string(), failed.message());
  std::ranges::sort(files, {}, &TemplateFile::path);
  return files;
}

std::vector<std::string> embedded_names() {
  std::set<std::string> names;
  for (const EmbeddedFile& file : lab_templates::embedded_files())
    names.emplace(file.name.substr(0, file.name.find('/')));
  return {names.begin(), names.end()};
}

}  // namespace

Result<std::vector<TemplateFile>> read_template(const fs::path& own, std::string_view name) {
  if (!matches_name_rule(name))
    return fail(ErrorCode::invalid_input, "'{}' is no name of a template", sanitize(name, 80));
  std::error_code failed;
  if (!own.empty() && fs::is_directory(own / name, failed)) return own_template(own / name);
  auto files = embedded_template(name);
  if (!files.empty()) return files;
  const auto names = embedded_names();
  return fail(ErrorCode::not_found, "there is no template '{}'{}", sanitize(name, 80),
              did_you_mean(name, names));
}

Result<std::string> fill_template(const TemplateFile& file, const TemplateValues& values) {
  if (!takes_markers(file.path)) return file.text;
  std::string out;
  std::string_view rest = file.text;
  for (size_t at; (at = rest.find(kOpen)) != std::string_view::npos;) {
    const size_t end = rest.find(kClose, at);
    const auto line =
        1 + std::count(file.text.begin(),
                       file.text.end() - static_cast<std::ptrdiff_t>(rest.size() - at), '\n');
    const std::string key(rest.substr(at + kOpen.size(),
                                      end == std::string_view::npos ? 0 : end - at - kOpen.size()));
    const auto value = values.find(key);
    if (end == std::string_view::npos || value == values.end())
      return fail(ErrorCode::invalid_input, "{}:{}: the template's marker '{}' stands for nothing",
                  file.path, line, sanitize(key, 60));
    out += rest.substr(0, at);
    out += value->second;
    rest.remove_prefix(end + kClose.size());
  }
  out += rest;
  return out;
}

Status stamp(const std::vector<TemplateFile>& files, const TemplateValues& values,
             const fs::path& folder) {
  std::vector<std::string> texts;
  for (const TemplateFile& file : files) {
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(folder / file.path, ignored)))
      return fail(ErrorCode::invalid_input,
                  "'{}' is there already, and nothing is overwritten; name another folder",
                  sanitize((folder / file.path).string(), 300));
    ASSAY_TRY(texts.emplace_back(), fill_template(file, values));
  }
  for (size_t i = 0; i < files.size(); ++i) {
    const fs::path path = folder / files[i].path;
    ASSAY_TRY(make_directories(path.parent_path().string()));
    ASSAY_TRY(write_file_atomic(path.string(), texts[i]));
    constexpr mode_t kProgram = 0755;
    if (texts[i].starts_with("#!") && ::chmod(path.c_str(), kProgram) != 0)
      return fail(ErrorCode::machine, "{}: {}", path.string(), errno_text(errno));
  }
  return {};
}

Status check_slug(std::string_view flag, std::string_view slug) {
  constexpr size_t kMost = 80;
  const bool letters = std::ranges::all_of(slug, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  if (!slug.empty() && slug.size() <= kMost && letters && slug[0] != '-') return {};
  return fail(ErrorCode::invalid_input,
              "{}: '{}' becomes a folder's name: small letters, digits, _ and -, {} at most", flag,
              sanitize(slug, 100), kMost);
}

std::string yaml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : sanitize(text, 1000)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace assay::lab
