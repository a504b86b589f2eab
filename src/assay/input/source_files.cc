#include "assay/input/source_files.h"

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"

namespace assay::input {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFileBytes = size_t{16} << 20;
constexpr size_t kMostFiles = 10'000;

struct Include {
  std::string name;
  bool quoted = false;
  bool computed = false;
};

// The includes of a text, line by line; continued lines are joined. One in a comment or a string
// counts too, which does no harm.
std::vector<Include> includes_in(std::string_view text) {
  std::vector<Include> includes;
  for (size_t at = 0; (at = text.find('#', at)) != std::string_view::npos; ++at) {
    size_t start = at;
    while (start > 0 && (text[start - 1] == ' ' || text[start - 1] == '\t')) --start;
    // Before the # may stand spaces, or the end of a comment.
    if (start > 0 && text[start - 1] != '\n' && text[start - 1] != '/') continue;
    std::string_view rest = trim(text.substr(at + 1, text.find('\n', at) - at - 1));
    if (rest.starts_with("include_next"))
      rest.remove_prefix(12);
    else if (rest.starts_with("include"))
      rest.remove_prefix(7);
    else if (rest.starts_with("import"))
      rest.remove_prefix(6);
    else
      continue;
    rest = trim(rest);
    Include include;
    const bool quoted = rest.starts_with('"');
    const char close = quoted ? '"' : '>';
    const size_t end = rest.size() > 1 ? rest.find(close, 1) : std::string_view::npos;
    if ((quoted || rest.starts_with('<')) && end != std::string_view::npos) {
      include.name = rest.substr(1, end - 1);
      include.quoted = quoted;
    } else {
      include.computed = true;
    }
    includes.push_back(std::move(include));
  }
  return includes;
}

struct Folders {
  std::vector<fs::path> quoted, any;
};

Folders folders_of(const std::vector<std::string>& flags) {
  Folders folders;
  for (size_t i = 0; i < flags.size(); ++i) {
    for (const std::string_view flag : {"-iquote", "-isystem", "-idirafter", "-I"}) {
      if (!flags[i].starts_with(flag)) continue;
      std::string folder = flags[i].substr(flag.size());
      if (folder.empty() && i + 1 < flags.size()) folder = flags[++i];
      (flag == "-iquote" ? folders.quoted : folders.any).emplace_back(folder);
      break;
    }
  }
  return folders;
}

bool is_file(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

}  // namespace

Result<LocalFiles> find_local_files(const fs::path& source, const std::vector<std::string>& flags) {
  const Folders folders = folders_of(flags);
  LocalFiles found;
  std::vector<fs::path> open = {source};
  for (size_t i = 0; i + 1 < flags.size(); ++i)
    if (flags[i] == "-include" && is_file(flags[i + 1])) open.emplace_back(flags[i + 1]);
  while (!open.empty()) {
    const fs::path path = open.back().lexically_normal();
    open.pop_back();
    if (found.sha256.contains(path.string())) continue;
    if (found.sha256.size() >= kMostFiles)
      return fail(ErrorCode::invalid_input, "'{}' includes more than {} files",
                  sanitize(source.string(), 300), kMostFiles);
    ASSAY_TRY(const std::string text, read_file(path.string(), kMostFileBytes));
    found.sha256[path.string()] = sha256_hex(text);
    for (const Include& include : includes_in(text)) {
      if (include.computed) {
        found.needs_preprocessor = true;
        continue;
      }
      std::vector<fs::path> looked;
      if (include.quoted) {
        looked.push_back(path.parent_path());
        looked.insert(looked.end(), folders.quoted.begin(), folders.quoted.end());
      }
      looked.insert(looked.end(), folders.any.begin(), folders.any.end());
      for (const fs::path& folder : looked) {
        if (!is_file(folder / include.name)) continue;
        open.push_back(folder / include.name);
        break;
      }
    }
  }
  return found;
}

}  // namespace assay::input
