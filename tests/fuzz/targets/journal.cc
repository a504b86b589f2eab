// journal.jsonl of a run that is resumed. Journals of earlier versions, which have no checksums,
// let every line through to what reads it.

#include "assay/sweep/journal.h"

#include <filesystem>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/samples.h"

namespace assay {

ASSAY_FUZZ_TARGET(journal) {
  const std::filesystem::path file = fuzz::write_scratch("run/journal.jsonl", bytes);
  const auto folder = file.parent_path();
  const Json header = {{"suite", "a"}};
  {
    const auto journal = sweep::Journal::open(folder, header, sweep::IfPresent::resume);
    if (!fuzz::is_read(journal)) return;
    for (const char* name : {"p", "q", ""}) {
      const auto problem = journal->problem(name);
      fuzz::is_read(problem);
      fuzz::expect(!problem || journal->is_finished(name),
                   "a problem that is not finished is read");
      fuzz::is_read(journal->proofs(name));
      const auto race = journal->race(name);
      if (fuzz::is_read(race) && *race)
        for (const auto& kernel : (*race)->kernels)
          fuzz::expect(kernel.launches >= 1 && kernel.launch_ns >= 0, "a lap that was none");
    }
  }
  // What was torn is cut off by now.
  const auto again = sweep::Journal::open(folder, header, sweep::IfPresent::resume);
  if (fuzz::is_read_again(again))
    fuzz::expect(again->notes().empty(), "a journal has to be mended twice");
}

}  // namespace assay
