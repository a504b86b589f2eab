#pragma once

// The fields of an Environment. Private to record/.

#include "assay/base/archive.h"
#include "assay/record/environment.h"

namespace assay {

template <class A, archive::Is<DeviceStamp> T>
void describe(A& a, T& stamp) {
  a("kind", stamp.kind);
  a("name", stamp.name);
  a("id", stamp.id);
  a("details", stamp.details);
}

template <class A, archive::Is<LibraryStamp> T>
void describe(A& a, T& library) {
  a.required("provider", library.provider);
  a("version", library.version);
  a("path", library.path);
  a("build_hash", library.build_hash);
}

template <class A, archive::Is<Ceiling> T>
void describe(A& a, T& ceiling) {
  a.required("name", ceiling.name);
  a.required("value", ceiling.value, archive::kNotNegative);
  a("unit", ceiling.unit);
  a("threads", ceiling.threads, archive::kNotNegative);
  a("from", ceiling.from);
  a("until", ceiling.until);
  // Absent where it is not known: earlier records stay as they were.
  if constexpr (std::is_const_v<T>) {
    if (ceiling.load > 0) a("load", ceiling.load);
  } else {
    a("load", ceiling.load, archive::kNotNegative);
  }
}

template <class A, archive::Is<Environment> T>
void describe(A& a, T& environment) {
  a("device", environment.device);
  a("system", environment.system);
  a("os_kernel", environment.os_kernel);
  a("driver", environment.driver);
  a("compiler", environment.compiler);
  a("toolkit", environment.toolkit);
  a("libraries", environment.libraries);
  a("threads", environment.threads, archive::kNotNegative);
  a("pinned_cores", environment.pinned_cores, archive::kNotNegative);
  a("governor", environment.governor);
  a("clock_mhz", environment.clock_mhz, archive::kNotNegative);
  a("huge_pages", environment.huge_pages);
  a("load_before", environment.load_before, archive::kNotNegative);
  a("load_after", environment.load_after, archive::kNotNegative);
  a("ceilings", environment.ceilings);
  a("warnings", environment.warnings);
}

}  // namespace assay
