#include "assay/record/environment.h"

#include <fmt/format.h>

namespace assay {
namespace {

void differ(std::vector<std::string>& out, std::string_view what, const std::string& first,
            const std::string& second) {
  if (first.empty() || second.empty() || first == second) return;
  out.push_back(fmt::format("{} differs: {} and {}", what, first, second));
}

}  // namespace

std::vector<std::string> environment_differences(const Environment& first,
                                                 const Environment& second) {
  std::vector<std::string> differences;
  const DeviceStamp& one = first.device;
  const DeviceStamp& other = second.device;
  if (!one.id.empty() && !other.id.empty()) {
    if (one.id != other.id) {
      differences.push_back(fmt::format("device differs: {} ({}) and {} ({})", one.name, one.id,
                                        other.name, other.id));
    }
  } else {
    differ(differences, "device", one.name, other.name);
  }
  differ(differences, "driver", first.driver, second.driver);
  differ(differences, "toolkit", first.toolkit, second.toolkit);
  for (const LibraryStamp& library : first.libraries) {
    for (const LibraryStamp& peer : second.libraries) {
      if (library.provider != peer.provider) continue;
      differ(differences, fmt::format("library of {}", library.provider), library.version,
             peer.version);
      // Two builds of one version are two libraries: a distribution's patch changes kernels too.
      if (library.version == peer.version && !library.build_hash.empty() &&
          !peer.build_hash.empty() && library.build_hash != peer.build_hash) {
        differences.push_back(
            fmt::format("library of {} differs: two builds of {}", library.provider,
                        library.version.empty() ? "an unnamed version" : library.version));
      }
    }
  }
  return differences;
}

}  // namespace assay
