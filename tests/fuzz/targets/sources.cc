// Sources that name other files: what is taken along with them lies where it may.

#include <algorithm>

#include "assay/base/file.h"
#include "assay/input/python_files.h"
#include "cli/files/source_copy.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/samples.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

bool lies_below(const fs::path& file, const fs::path& folder) {
  const fs::path inside = file.lexically_normal().lexically_relative(folder);
  return !inside.empty() && *inside.begin() != "..";
}

// A '@' stands for the folder around the source's own, whose files are nobody's to take.
std::string with_folder(std::string_view text, const fs::path& folder) {
  std::string with;
  for (const char c : text)
    if (c == '@')
      with += folder.string();
    else
      with += c;
  return with;
}

}  // namespace

ASSAY_FUZZ_TARGET(sources) {
  static const fs::path around = fuzz::scratch_folder() / "around";
  static const fs::path own = around / "own";
  static const bool once = [] {
    for (const char* name : {"around/outside.py", "around/outside.h", "around/own/beside.h",
                             "around/own/a.py", "around/own/p/__init__.py", "around/own/p/b.py"})
      fuzz::write_scratch(name, "x = 1\n");
    return true;
  }();
  (void)once;
  const std::string text = with_folder(bytes.substr(0, 4096), around);
  for (const fs::path& file : input::imported_files(text, own / "kernel.py", own))
    fuzz::expect(lies_below(file, own), "a Python file brings along what lies elsewhere");
  for (const char* name : {"around/own/kernel.py", "around/own/kernel.cc"}) {
    const fs::path file = fuzz::write_scratch(name, text);
    const auto copy = cli::SourceCopy::read(file, {});
    if (!fuzz::is_read(copy)) continue;
    fuzz::expect(std::ranges::count(copy->files(), file) == 1, "a copy lacks the source");
    fs::path root = file;
    for (const fs::path& part : copy->file_name())
      if (!part.empty()) root = root.parent_path();
    for (const fs::path& one : copy->files())
      fuzz::expect(lies_below(one, root), "a copy is written outside of its folder");
  }
}

}  // namespace assay
