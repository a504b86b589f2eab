#include "cli/files/kernel_files.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/input/file_and_entry.h"
#include "assay/input/suite.h"
#include "cli/flags/race_options.h"

namespace assay::cli {
namespace {

bool is_suite(const std::string& word) {
  return std::ranges::any_of(input::embedded_suites(),
                             [&](const auto& suite) { return suite.name == word; });
}

// The flag by which the word would have been understood; empty: it is meant as a file.
std::string flag_for(const std::string& word) {
  if (is_provider(word)) return "is a provider: give it as --provider " + word;
  if (is_suite(word)) return "is a suite: give it as --suite " + word;
  if (word.find('=') != std::string::npos && word.find('/') == std::string::npos)
    return fmt::format("looks like a shape: give it as --shape {}", sanitize(word, 200));
  return {};
}

}  // namespace

Result<std::vector<input::KernelSource>> read_sources(std::span<const std::string> files) {
  const auto providers = built_in_providers();
  return input::read_sources(files, launch_forms(providers));
}

void bring_first(sweep::Request& request, const std::vector<input::KernelSource>& sources) {
  request.pool.kernels.insert(request.pool.kernels.begin(), sources.begin(), sources.end());
  input::name_apart(request.pool.kernels);
}

void note_renamed(Console& console, std::span<const input::KernelSource> sources) {
  for (const input::KernelSource& source : sources)
    for (const std::string& sentence : source.renamed) console.note(sentence);
}

bool names_file(const std::string& word) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(input::split_entry(word).file, ignored);
}

Flag KernelFiles::declare_words(Flags& app, const std::string& help) {
  return app.add_option("files", words, help).type_name("FILE");
}

void KernelFiles::declare_kernels(Flags& app, const std::string& help) {
  app.set_group(FlagGroup::kernels);
  app.add_option("--kernels", kernels, help).type_name("FILE").several_words(false);
}

std::vector<std::string> KernelFiles::all() const {
  std::vector<std::string> files = words;
  files.insert(files.end(), kernels.begin(), kernels.end());
  return files;
}

Status KernelFiles::check(const std::string& command) const {
  for (const std::string& word : words) {
    if (names_file(word)) continue;
    if (const std::string flag = flag_for(word); !flag.empty())
      return fail(ErrorCode::invalid_input, "{}: there is no file '{}', which {}", command,
                  sanitize(word, 200), flag);
  }
  return {};
}

}  // namespace assay::cli
