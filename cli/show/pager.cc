#include "cli/show/pager.h"

#include <cstdio>
#include <cstdlib>

#include "assay/base/file.h"
#include "cli/exit_code.h"

namespace assay::cli {
namespace {

// Whether the shell knows it, by the first of its words.
bool is_installed(const std::string& command) {
  const std::string program = command.substr(0, command.find(' '));
  if (program.find_first_of("'\"\\$`;&|<>(){}") != std::string::npos) return false;
  return std::system(("command -v '" + program + "' >/dev/null 2>&1").c_str()) == 0;
}

// From a file, so that a reader who leaves early is no broken pipe.
Status show(const std::string& command, const std::string& text) {
  ASSAY_TRY(const TemporaryDirectory folder, TemporaryDirectory::create());
  const std::string file = folder.file("page");
  ASSAY_TRY(write_file_atomic(file, text));
  static_cast<void>(std::system((command + " < '" + file + "'").c_str()));
  return {};
}

}  // namespace

Result<int> show_in_pager(Console& console, const PagerText& text) {
  const char* named = std::getenv("PAGER");
  const std::string pager = named != nullptr && *named != '\0' ? named : "less";
  // Groff is what man(1) formats with; without it a page would be empty.
  if (is_installed("man") && is_installed("groff")) {
    ASSAY_TRY(show("man -l -", text.roff));
  } else if (is_installed(pager)) {
    ASSAY_TRY(show(pager, text.plain));
  } else {
    console.result(text.plain);
  }
  return kDone;
}

}  // namespace assay::cli
