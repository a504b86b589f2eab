#include "assay/sweep/stages/earlier_confirmations.h"

#include <filesystem>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/json.h"

namespace assay::sweep {

std::string confirmation_key(const Station& station, const Candidate& candidate) {
  const KernelOutcome& kernel = candidate.outcome;
  return sha256_hex(
      canonical({{"kernel", kernel.id.substr(0, kernel.id.find('#'))},
                 {"artifact", kernel.artifact_hash},
                 {"problem", station.problem.signature()},
                 {"condition", measure::to_json(station.condition)},
                 {"class", to_string(station.request.question.race_class.preparation)},
                 {"dependent", to_string(station.request.question.race_class.dependent_launch)},
                 {"device", station.crew.facts().fingerprint.id}}));
}

Result<int> count_confirmation(const std::string& path, const std::string& key) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) ASSAY_TRY(make_directories(folder.string()));
  // Two runs at once must not both be the first.
  ASSAY_TRY(const FileLock lock, FileLock::lock(path + ".lock", {}));
  ASSAY_TRY(auto file, AppendFile::open(path, true));
  int count = 0;
  ASSAY_TRY(auto reader, LineReader::open(path));
  for (;;) {
    ASSAY_TRY(const auto line, reader.next());
    if (!line) break;
    if (line->whole && line->text == key) ++count;
    // Torn by a crash: what follows begins a line of its own.
    if (!line->whole) ASSAY_TRY(file.truncate(line->at));
  }
  ASSAY_TRY(file.append_line(key));
  return count;
}

}  // namespace assay::sweep
