// Values that messages and files hold as JSON, each read by its own reader.

#include <algorithm>
#include <filesystem>

#include "assay/kernel/artifact.h"
#include "assay/kernel/export.h"
#include "assay/kernel/metadata.h"
#include "assay/measure/condition.h"
#include "tests/fuzz/fuzz.h"

namespace assay {
namespace {

// write(read(json)) reads as itself.
template <class Read, class Write>
void read_and_write(const Json& json, const Read& read, const Write& write) {
  const auto value = read(json);
  if (!value) return;
  const Json written = write(*value);
  const auto again = read(written);
  if (fuzz::is_read_again(again)) fuzz::expect_same(write(*again), written, "a value changes");
}

template <class T>
void read_and_write(const Json& json) {
  read_and_write(json, &T::from_json, [](const T& value) { return value.to_json(); });
}

void expect_below_its_folder(const KernelExport& made) {
  for (const ExportFile& file : made.files) {
    const auto path = std::filesystem::path("/folder") / file.path;
    fuzz::expect(path.lexically_normal().string().starts_with("/folder/"),
                 "an export's file lies outside of its folder");
  }
}

}  // namespace

ASSAY_FUZZ_TARGET(values) {
  const auto json = parse_json(bytes, "message");
  if (!json) return;
  read_and_write<Artifact>(*json);
  read_and_write<KernelExport>(*json);
  read_and_write<KernelMetadata>(*json);
  read_and_write<ProblemRule>(*json);
  read_and_write<RefusalCounts>(*json);
  read_and_write(*json, &measure::condition_from_json,
                 [](const measure::Condition& value) { return measure::to_json(value); });
  if (const auto made = KernelExport::from_json(*json)) expect_below_its_folder(*made);
}

}  // namespace assay
