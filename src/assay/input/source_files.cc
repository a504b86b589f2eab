#include "assay/input/source_files.h"

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"

namespace assay::input {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFileBytes = size_t{16} << 20;
constexpr size_t kMostSources = 10'000;

struct Include {
  std::string name;
  bool quoted = false;
  bool computed = false;
};

// The text with continued lines joined, as a preprocessor has it before it looks for directives.
std::string joined_lines(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t end = i + 1 < text.size() && text[i + 1] == '\r' ? i + 2 : i + 1;
    if (text[i] == '\\' && end < text.size() && text[end] == '\n')
      i = end;
    else
      joined += text[i];
  }
  return joined;
}

// Without the spaces and comments at its begin.
std::string_view skip_gaps(std::string_view text) {
  for (;;) {
    while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
    if (!text.starts_with("/*")) return text;
    const size_t end = text.find("*/", 2);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  }
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// What stands behind "include": a name in quotes or brackets, or a macro.
Include include_of(std::string_view rest) {
  Include include;
  rest = skip_gaps(rest);
  rest = rest.substr(0, rest.find('\n'));
  include.quoted = rest.starts_with('"');
  const size_t end = rest.size() > 1 ? rest.find(include.quoted ? '"' : '>', 1) : rest.npos;
  if ((include.quoted || rest.starts_with('<')) && end != rest.npos)
    include.name = rest.substr(1, end - 1);
  else
    include.computed = true;
  return include;
}

// The includes of a text. One in a comment or a string counts too, which does no harm, and so does
// whatever follows a # within a line: what a preprocessor takes for the begin of one has many
// forms.
std::vector<Include> includes_in(std::string_view text) {
  std::vector<Include> includes;
  const std::string joined = joined_lines(text);
  for (size_t at = 0; at < joined.size(); ++at) {
    std::string_view rest = std::string_view(joined).substr(at);
    if (!take(rest, "#") && !take(rest, "%:") && !take(rest, "?\?=")) continue;
    rest = skip_gaps(rest);
    if (take(rest, "include_next") || take(rest, "include") || take(rest, "import") ||
        take(rest, "embed"))
      includes.push_back(include_of(rest));
  }
  // Which files there are decides what such a text says.
  if (joined.find("__has_include") != std::string::npos ||
      joined.find("__has_embed") != std::string::npos)
    includes.push_back({.computed = true});
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

bool is_header(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

}  // namespace

Result<LocalFiles> find_local_files(const KernelEntry& entry,
                                    const std::vector<std::string>& flags) {
  const fs::path& source = entry.source;
  const Folders folders = folders_of(flags);
  LocalFiles found;
  std::vector<fs::path> open = {source};
  for (size_t i = 0; i + 1 < flags.size(); ++i)
    if (flags[i] == "-include" && is_header(flags[i + 1])) open.emplace_back(flags[i + 1]);
  while (!open.empty()) {
    const fs::path path = open.back().lexically_normal();
    open.pop_back();
    if (found.sha256.contains(path.string())) continue;
    if (found.sha256.size() >= kMostSources)
      return fail(ErrorCode::invalid_input, "'{}' includes more than {} files",
                  sanitize(source.string(), 300), kMostSources);
    std::string text;
    if (const SourceFile* const read = find_file(entry, path)) {
      text = read->bytes;
    } else {
      ASSAY_TRY(text, read_file(path.string(), kMostFileBytes));
    }
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
        if (!is_header(folder / include.name)) continue;
        open.push_back(folder / include.name);
        break;
      }
    }
  }
  return found;
}

}  // namespace assay::input
