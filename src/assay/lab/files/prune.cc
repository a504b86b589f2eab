#include "assay/lab/files/prune.h"

#include <set>

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/lab/files/history.h"
#include "assay/lab/files/tree.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

// Names of objects that something needs. An attempt's tree that is not there, or is damaged, ends
// it: what else of it is needed cannot be known.
Result<std::set<std::string>> needed_objects(const fs::path& case_folder, const TreeStore& store,
                                             const HistoryContent& content) {
  std::set<std::string> needed;
  const auto add = [&](const Tree& tree) {
    for (const TreeFile& file : tree.files) needed.insert(file.sha256);
  };
  for (const Attempt& attempt : content.attempts) {
    if (!needed.insert(attempt.tree).second) continue;
    ASSAY_TRY(const Tree tree, store.get(attempt.tree));
    add(tree);
  }
  ASSAY_TRY(const Tree now, read_tree(case_folder));
  add(now);
  needed.insert(now.hash());
  return needed;
}

// An object is named by its digest, in a folder of its first digits.
std::string name_of(const fs::path& object) {
  return object.parent_path().filename().string() + object.filename().string();
}

Status remove_objects(const fs::path& objects, const std::set<std::string>& needed, bool dry_run,
                      Pruned& pruned) {
  constexpr std::size_t kDigits = 64;
  std::error_code failed;
  std::vector<fs::path> stray;
  for (fs::recursive_directory_iterator entry(objects, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (!entry->is_regular_file(failed) || entry->is_symlink(failed)) continue;
    const std::string name = name_of(entry->path());
    if (name.size() != kDigits || needed.contains(name)) continue;
    ++pruned.objects;
    pruned.object_bytes += entry->file_size(failed);
    stray.push_back(entry->path());
  }
  if (dry_run) return {};
  for (const fs::path& path : stray)
    if (!fs::remove(path, failed) && failed)
      return fail(ErrorCode::machine, "{}: {}", sanitize(path.string(), 300), failed.message());
  return {};
}

// Only folders that assay made (slots.h marks them with the case that they are of).
Status remove_copies(const fs::path& root, bool dry_run, Pruned& pruned) {
  std::error_code failed;
  std::vector<fs::path> gone;
  for (const auto& entry : fs::directory_iterator(root, failed)) {
    if (!entry.is_directory(failed) || entry.is_symlink(failed)) continue;
    const auto mark = read_file((entry.path() / "made-by-assay-lab").string(), 1 << 14);
    if (!mark) continue;
    const fs::path of(trim(*mark));
    if (of.is_absolute() && !fs::exists(of / "case.yaml", failed)) gone.push_back(entry.path());
  }
  pruned.copies += static_cast<int>(gone.size());
  if (dry_run) return {};
  for (const fs::path& folder : gone) {
    fs::remove_all(folder, failed);
    if (failed)
      return fail(ErrorCode::machine, "{}: {}", sanitize(folder.string(), 300), failed.message());
  }
  return {};
}

}  // namespace

Result<Pruned> prune(const fs::path& case_folder, const fs::path& cache, bool dry_run) {
  const fs::path runs = case_folder / "runs";
  const TreeStore store(runs / "objects");
  Pruned pruned;
  // Its lock keeps attempts out.
  ASSAY_TRY(const History history, History::open(runs));
  ASSAY_TRY(const std::set<std::string> needed,
            needed_objects(case_folder, store, history.content()));
  ASSAY_TRY(remove_objects(runs / "objects", needed, dry_run, pruned));
  std::error_code failed;
  std::vector<fs::path> roots = {cache / "lab", cache / "reablate" / "lab"};
  for (const auto& agent : fs::directory_iterator(cache / "climb", failed)) {
    roots.push_back(agent.path() / "lab");
    roots.push_back(agent.path() / "merge" / "lab");
  }
  for (const fs::path& root : roots) ASSAY_TRY(remove_copies(root, dry_run, pruned));
  return pruned;
}

}  // namespace assay::lab
