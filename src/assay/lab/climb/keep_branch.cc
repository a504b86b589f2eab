#include "assay/lab/climb/keep_branch.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/lab/files/tree.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kPatienceNs = 120 * kNsPerSecond;  // Of one call of git.
constexpr const char* kTrailer = "Assay-Attempt";
// No object's name, in a repository whose names have 40 digits.
constexpr const char* kNoObject = "0000000000000000000000000000000000000000";

class Repository {
 public:
  Repository(const Case& target, const std::vector<std::string>& environment)
      : folder_(target.folder) {
    // Whoever set these meant another repository.
    for (const std::string& variable : environment)
      if (!variable.starts_with("GIT_")) environment_.push_back(variable);
    for (const char* variable :
         {"GIT_AUTHOR_NAME=assay lab", "GIT_AUTHOR_EMAIL=assay@localhost",
          "GIT_COMMITTER_NAME=assay lab", "GIT_COMMITTER_EMAIL=assay@localhost",
          "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1"})
      environment_.emplace_back(variable);
  }

  // False: no git, or no repository.
  Result<bool> open() {
    const auto git_folder = git({"rev-parse", "--absolute-git-dir"});
    if (!git_folder) return false;
    git_folder_ = *git_folder;
    ASSAY_TRY(prefix_, git({"rev-parse", "--show-prefix"}));
    return true;
  }

  // Its word; empty where git ends with another code, if `may_fail`.
  Result<std::string> git(std::vector<std::string> words, const std::string& input = {},
                          bool may_fail = false) const {
    SubprocessOptions options;
    options.argv = {"git",
                    "-c",
                    "core.hooksPath=/dev/null",
                    "-c",
                    "core.autocrlf=false",
                    "-c",
                    "core.fsmonitor=false",
                    "-c",
                    "commit.gpgSign=false",
                    "-c",
                    "gc.auto=0"};
    if (!work_.empty()) {
      options.argv.push_back("--git-dir=" + git_folder_);
      options.argv.push_back("--work-tree=" + work_.string());
    }
    options.argv.insert(options.argv.end(), words.begin(), words.end());
    options.env = environment_;
    if (!index_.empty()) options.env.push_back("GIT_INDEX_FILE=" + index_);
    options.working_directory = work_.empty() ? folder_.string() : work_.string();
    CommandLimits limits;
    limits.timeout_ns = kPatienceNs;
    limits.max_output = std::size_t{64} << 20;
    limits.input = input;
    ASSAY_TRY(const CommandOutput output, run_command(options, limits));
    if (output.status.success() && !output.truncated) return std::string(trim(output.out));
    if (may_fail && output.status.kind == ExitStatus::Kind::exited) return std::string();
    return fail(ErrorCode::failed, "git {} {}: {}", words[0], output.status.describe(),
                sanitize(trim(output.err), 200));
  }

  // The attempts that the branch has.
  Result<std::set<std::string>> attempts_of(const std::string& tip) const {
    ASSAY_TRY(const std::string ids,
              git({"log", fmt::format("--format=%(trailers:key={},valueonly)", kTrailer), tip}));
    std::set<std::string> known;
    for (const std::string_view line : split(ids, '\n'))
      if (!trim(line).empty()) known.emplace(trim(line));
    return known;
  }

  // A commit with this workspace in the place of the parent's. Empty: it is the parent's.
  Result<std::string> commit(const TreeStore& store, const Attempt& attempt,
                             const std::string& parent) {
    ASSAY_TRY(const TemporaryDirectory folder, TemporaryDirectory::create());
    work_ = folder.path();
    index_ = folder.file("index");
    auto made = commit_tree(store, attempt, parent);
    work_.clear();
    index_.clear();
    return made;
  }

 private:
  Result<std::string> commit_tree(const TreeStore& store, const Attempt& attempt,
                                  const std::string& parent) const {
    if (!parent.empty()) ASSAY_TRY(git({"read-tree", parent}));
    ASSAY_TRY(const std::string entries, index_entries(store, attempt));
    ASSAY_TRY(git({"update-index", "-z", "--index-info"}, entries));
    ASSAY_TRY(const std::string tree, git({"write-tree"}));
    std::vector<std::string> words = {"commit-tree", tree};
    if (!parent.empty()) {
      ASSAY_TRY(const std::string before, git({"rev-parse", parent + "^{tree}"}));
      if (before == tree) return std::string();
      words.emplace_back("-p");
      words.push_back(parent);
    }
    return git(words, message(attempt));
  }

  // The workspace's files in the place of those that the index has: byte by byte, whatever its own
  // .gitattributes or the user's filters would make of them, and whatever the user ignores.
  Result<std::string> index_entries(const TreeStore& store, const Attempt& attempt) const {
    ASSAY_TRY(const Tree whole, store.get(attempt.tree));
    const Tree tree =
        whole.only([](std::string_view path) { return path.starts_with("workspace/"); });
    std::string blobs;  // By number: a name of the workspace may hold the end of a line.
    for (std::size_t i = 0; i < tree.files.size(); ++i) {
      const std::string blob = fmt::format("blob{}", i);
      ASSAY_TRY(const std::string bytes, store.text_of(tree.files[i]));
      ASSAY_TRY(write_file_atomic((work_ / blob).string(), bytes));
      blobs += blob + '\n';
    }
    ASSAY_TRY(const std::string hashes,
              git({"hash-object", "-w", "--no-filters", "--stdin-paths"}, blobs));
    const std::vector<std::string_view> lines = split(hashes, '\n');
    if (!tree.files.empty() && lines.size() != tree.files.size())
      return fail(ErrorCode::failed, "git hash-object told of {} files of {}", lines.size(),
                  tree.files.size());
    ASSAY_TRY(const std::string before, git({"ls-files", "-z", "--", prefix_ + "workspace"}));
    std::string entries;
    for (const std::string_view path : split(before, '\0'))
      if (!path.empty()) entries += fmt::format("0 {}\t{}{}", kNoObject, path, '\0');
    for (std::size_t i = 0; i < tree.files.size(); ++i) {
      const TreeFile& file = tree.files[i];
      const char* mode = file.kind == "link"      ? "120000"
                         : file.kind == "program" ? "100755"
                                                  : "100644";
      entries += fmt::format("{} {}\t{}{}{}", mode, lines[i], prefix_, file.path, '\0');
    }
    return entries;
  }

  static std::string message(const Attempt& attempt) {
    std::string text = fmt::format(
        "attempt {}: {}\n\n", attempt.seq,
        attempt.description.empty() ? "no description" : sanitize(attempt.description, 200));
    if (!attempt.hypothesis.empty()) text += sanitize(attempt.hypothesis, 300) + "\n\n";
    if (attempt.primary)
      text += fmt::format("{} {:.6g} {}\n", attempt.primary->key, attempt.primary->value,
                          attempt.primary->unit);
    if (!attempt.reason.empty()) text += sanitize(attempt.reason, 300) + '\n';
    return text + fmt::format("\n{}: {}\n", kTrailer, attempt.id);
  }

  fs::path folder_, work_;  // work_, index_: while a commit is made.
  std::string git_folder_, prefix_, index_;
  std::vector<std::string> environment_;
};

}  // namespace

Result<KeepBranch> commit_keeps(const Case& target, const HistoryContent& content,
                                const std::string& run_tag,
                                const std::vector<std::string>& environment) {
  Repository repository(target, environment);
  ASSAY_TRY(const bool is_there, repository.open());
  if (!is_there) return KeepBranch();
  KeepBranch branch{fmt::format("assay/{}/{}", target.name, run_tag), 0};
  const std::string ref = "refs/heads/" + branch.name;
  ASSAY_TRY(const std::string checked_out,
            repository.git({"for-each-ref", "--format=%(worktreepath)", ref}));
  if (!checked_out.empty())
    return fail(ErrorCode::failed, "the branch {} is checked out, and nothing is committed to it",
                branch.name);
  ASSAY_TRY(std::string tip, repository.git({"rev-parse", "--verify", "--quiet", ref}, {}, true));
  std::set<std::string> known;
  std::string parent = tip;
  if (tip.empty()) {
    ASSAY_TRY(parent, repository.git({"rev-parse", "--verify", "--quiet", "HEAD"}, {}, true));
  } else {
    ASSAY_TRY(known, repository.attempts_of(tip));
  }
  const TreeStore store(target.folder / "runs" / "objects");
  // Behind the last that the branch has: an earlier state, such as a baseline that was no change,
  // would undo what came after it.
  std::size_t first = 0;
  for (std::size_t i = 0; i < content.attempts.size(); ++i)
    if (known.contains(content.attempts[i].id)) first = i + 1;
  for (const Attempt& attempt : std::span(content.attempts).subspan(first)) {
    if (attempt.run_tag != run_tag || attempt.outcome != AttemptOutcome::keep || attempt.env_only)
      continue;
    ASSAY_TRY(const std::string commit, repository.commit(store, attempt, parent));
    if (commit.empty()) continue;
    // Only from where it was: another command may be at the same branch. All zeros: it is new.
    ASSAY_TRY(repository.git({"update-ref", "-m", "assay lab: attempt " + attempt.id, ref, commit,
                              tip.empty() ? kNoObject : tip}));
    tip = parent = commit;
    ++branch.commits;
  }
  return branch;
}

}  // namespace assay::lab
