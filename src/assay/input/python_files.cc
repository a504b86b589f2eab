#include "assay/input/python_files.h"

#include <algorithm>

#include "assay/base/text.h"

namespace assay::input {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = size_t{4} << 20;  // Of all together: they travel as one message.
constexpr size_t kMostFiles = 500;

bool is_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c >= 0x80;
  });
}

bool is_dotted_name(std::string_view text) {
  const auto parts = split(text, '.');
  return std::all_of(parts.begin(), parts.end(), is_name);
}

// Statements, each on one line: what stands in parentheses or behind a backslash is joined.
std::vector<std::string> statements(std::string_view text) {
  std::vector<std::string> found;
  std::string open;
  for (std::string_view line : split(text, '\n')) {
    if (const size_t comment = line.find('#'); comment != std::string_view::npos)
      line = line.substr(0, comment);
    line = trim(line);
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.remove_suffix(1);
    if (open.empty() && !line.starts_with("import") && !line.starts_with("from") &&
        line.find(';') == std::string_view::npos)
      continue;
    open += std::string(line) + ' ';
    if (goes_on || (open.find('(') != std::string::npos && open.find(')') == std::string::npos &&
                    open.starts_with("from")))
      continue;
    for (const std::string_view one : split(open, ';')) found.emplace_back(trim(one));
    open.clear();
  }
  return found;
}

// A module's own file and those of the packages around it, where they are there.
void add_module(const fs::path& folder, std::string_view dotted, std::vector<fs::path>& files) {
  fs::path place = folder;
  for (const std::string_view part : split(dotted, '.')) {
    if (!is_name(part)) return;
    place /= part;
    if (is_file(place / "__init__.py")) files.push_back(place / "__init__.py");
    if (is_file(fs::path(place.string() + ".py"))) files.emplace_back(place.string() + ".py");
  }
}

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t"));
}

void add_imports(std::string_view names, const fs::path& root, std::vector<fs::path>& files) {
  for (const std::string_view name : split(names, ','))
    add_module(root, first_word(trim(name)), files);
}

// from X import a, b: X, and a and b where they are modules of it.
void add_from(std::string_view statement, const fs::path& path, const fs::path& root,
              std::vector<fs::path>& files) {
  const size_t import = statement.find(" import");
  if (import == std::string_view::npos) return;
  std::string_view module = trim(statement.substr(0, import));
  fs::path folder = root;
  if (module.starts_with('.')) {
    folder = path.parent_path();
    module.remove_prefix(1);
    for (; module.starts_with('.'); module.remove_prefix(1)) folder = folder.parent_path();
    const fs::path inside = folder.lexically_relative(root);
    if (inside.empty() || *inside.begin() == "..") return;
    if (is_file(folder / "__init__.py")) files.push_back(folder / "__init__.py");
  }
  if (!module.empty()) {
    // What is no name may be a path from the root.
    if (!is_dotted_name(module)) return;
    add_module(folder, module, files);
    for (const std::string_view part : split(module, '.')) folder /= part;
  }
  std::string names(statement.substr(import + 7));
  std::erase_if(names, [](char c) { return c == '(' || c == ')'; });
  for (const std::string_view name : split(names, ','))
    add_module(folder, first_word(trim(name)), files);
}

}  // namespace

std::vector<fs::path> imported_files(std::string_view text, const fs::path& path,
                                     const fs::path& root) {
  std::vector<fs::path> files;
  for (const std::string_view statement : statements(text)) {
    if (statement.starts_with("import "))
      add_imports(statement.substr(7), root, files);
    else if (statement.starts_with("from "))
      add_from(trim(statement.substr(5)), path, root, files);
  }
  return files;
}

Result<std::map<std::string, std::string>> python_files(const KernelEntry& entry) {
  ASSAY_TRY(source_bytes(entry, kMostBytes).map([](std::string_view) {}));
  const fs::path root = entry.source.parent_path().lexically_normal();
  std::map<std::string, std::string> texts;
  size_t bytes = 0;
  for (const auto& [path, file] : *entry.files) {
    if (fs::path(path).extension() != entry.source.extension()) continue;
    bytes += file->bytes.size();
    if (texts.size() >= kMostFiles || bytes > kMostBytes)
      return fail(ErrorCode::invalid_input, "'{}' imports more than {} files, or {} of text",
                  sanitize(entry.source.string(), 300), kMostFiles,
                  format_bytes(static_cast<double>(kMostBytes)));
    texts.emplace(fs::path(path).lexically_relative(root).string(), file->bytes);
  }
  return texts;
}

}  // namespace assay::input
