#include "assay/lab/files/reference_packs.h"

#include <algorithm>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/lab/files/forms.h"
#include "assay/lab/files/read_yaml_fields.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFileBytes = size_t{16} << 20;

bool is_commit(std::string_view text) {
  constexpr size_t kDigits = 40;
  return text.size() == kDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<ReferenceSource> read_source(const input::YamlField& field) {
  ReferenceSource source;
  ASSAY_TRY(only(field, packs_form().at("packs").item().item()));
  ASSAY_TRY(source.url, text_at(field, "url"));
  // Others could run a program of the URL's choice.
  if (!source.url.starts_with("https://") && !source.url.starts_with("file:///"))
    return fail(field.error("url: expected https:// or file:///"));
  if (source.name().empty()) return fail(field.error("url: its last word names no folder"));
  ASSAY_TRY(source.commit, text_at(field, "commit"));
  if (!is_commit(source.commit))
    return fail(field.error("commit: expected the 40 digits of a commit"));
  ASSAY_TRY(const auto files, field.at("files"));
  ASSAY_TRY(const auto items, files.items());
  for (const input::YamlField& item : items) {
    ASSAY_TRY(std::string path, as_inner_path(item));
    source.files.push_back(std::move(path));
  }
  return source;
}

class Fetch {
 public:
  Fetch(const ReferenceSource& source, const FetchOptions& options)
      : source_(source), options_(options), target_(options.folder / source.name()) {}

  Result<Fetched> run() {
    std::vector<std::string> missing;
    const bool same = read_file((target_ / kCommit).string(), 100).value_or("") == source_.commit;
    std::error_code ignored;
    for (const std::string& file : source_.files) {
      if (same && fs::is_regular_file(target_ / file, ignored))
        ++fetched_.already_there;
      else
        missing.push_back(file);
    }
    if (missing.empty()) return fetched_;
    ASSAY_TRY(const TemporaryDirectory folder, TemporaryDirectory::create());
    repository_ = folder.path();
    ASSAY_TRY(const bool begun, git({"init", "--quiet", "--bare", "."}).map(is_good));
    if (!begun) return fetched_;
    ASSAY_TRY(const bool got,
              git({"fetch", "--quiet", "--depth", "1", source_.url, source_.commit}).map(is_good));
    if (!got) return fetched_;
    for (const std::string& file : missing) ASSAY_TRY(take(file));
    ASSAY_TRY(write_file_atomic((target_ / kCommit).string(), source_.commit));
    return fetched_;
  }

 private:
  static constexpr const char* kCommit = ".commit";

  static bool is_good(const std::optional<std::string>& output) { return output.has_value(); }

  // What it printed; none where it failed, and then there is a warning.
  Result<std::optional<std::string>> git(std::vector<std::string> words) {
    SubprocessOptions options;
    options.argv = {"git", "-c", "gc.auto=0", "-c", "core.hooksPath=/dev/null"};
    options.argv.insert(options.argv.end(), words.begin(), words.end());
    for (const std::string& variable : options_.environment)
      if (!variable.starts_with("GIT_")) options.env.push_back(variable);
    options.env.insert(options.env.end(), {"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=https:file",
                                           "GIT_DIR=" + repository_.string()});
    options.working_directory = repository_.string();
    CommandLimits limits;
    limits.timeout_ns = static_cast<int64_t>(options_.seconds * kNsPerSecond);
    limits.max_output = kMostFileBytes;
    limits.cancel_fd = options_.cancel_fd;
    auto output = run_command(options, limits);
    if (!output && output.error().code == ErrorCode::not_found) {
      fetched_.warning = "git is not installed";
      return std::optional<std::string>();
    }
    if (!output) return fail(output.error());
    if (output->status.success() && !output->truncated)
      return std::optional(std::move(output->out));
    const std::string_view said = trim(output->err);
    fetched_.warning = fmt::format("git {} {}: {}", words[0],
                                   output->timed_out ? "took too long" : output->status.describe(),
                                   sanitize(said.substr(0, said.find('\n')), 300));
    return std::optional<std::string>();
  }

  Status take(const std::string& file) {
    ASSAY_TRY(const auto text, git({"cat-file", "blob", source_.commit + ':' + file}));
    if (!text) return {};
    const fs::path path = target_ / file;
    ASSAY_TRY(make_directories(path.parent_path().string()));
    std::error_code failed;
    fs::remove(path, failed);
    ASSAY_TRY(write_file_atomic(path.string(), *text));
    fs::permissions(path, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read,
                    failed);
    ++fetched_.files;
    return {};
  }

  const ReferenceSource& source_;
  const FetchOptions& options_;
  fs::path target_, repository_;
  Fetched fetched_;
};

}  // namespace

std::string ReferenceSource::name() const {
  std::string_view word = url;
  while (word.ends_with('/')) word.remove_suffix(1);
  word = word.substr(word.rfind('/') + 1);
  if (word.ends_with(".git")) word.remove_suffix(4);
  return matches_name_rule(word) && !word.starts_with('.') ? std::string(word) : std::string();
}

Result<ReferencePacks> read_reference_packs(const fs::path& lab) {
  ASSAY_TRY(const auto root, input::read_yaml(lab / "refs" / "packs.yaml"));
  ASSAY_TRY(only(root, packs_form()));
  ASSAY_TRY(check_schema(root, "assay.packs/1"));
  ASSAY_TRY(const auto field, root.at("packs"));
  ASSAY_TRY(const auto members, field.members());
  ReferencePacks packs;
  for (const auto& [name, list] : members) {
    if (!matches_name_rule(name))
      return fail(list.error(fmt::format("'{}' is no name of a pack", sanitize(name, 60))));
    ASSAY_TRY(const auto items, list.items());
    for (const input::YamlField& item : items) {
      ASSAY_TRY(ReferenceSource source, read_source(item));
      packs[name].push_back(std::move(source));
    }
  }
  return packs;
}

Result<Fetched> fetch_references(const ReferenceSource& source, const FetchOptions& options) {
  return Fetch(source, options).run();
}

}  // namespace assay::lab
