#pragma once

// What a worker is asked when it begins, and of itself and its device.

#include <map>
#include <string>
#include <vector>

#include "assay/device/device.h"
#include "assay/device/venue.h"
#include "assay/kernel/guest_program.h"
#include "assay/kernel/provider.h"
#include "assay/kernel/refusals.h"
#include "assay/measure/burst.h"
#include "assay/measure/ceilings.h"
#include "assay/process/confinement.h"
#include "assay/process/messages/values.h"
#include "assay/record/gpu_window.h"

namespace assay::process {

// Code of a file that ran in a process: pages by their numbers in the mapping that begins at the
// offset, as [first, behind the last) of each stretch.
struct RanCode {
  std::string file;
  uint64_t offset = 0;
  struct Stretch {
    uint64_t first = 0, behind = 0;
  };
  std::vector<Stretch> stretches;
};

// A provider, and what it is told.
struct AskedProvider {
  std::string name;
  std::string as;  // A copy under another name, which races against the first. Empty: name.
  ProviderSettings settings;
};

// Opens the device, brings providers and users' kernels, and gives up rights.
struct Init {
  static constexpr const char* kName = "init";
  Venue venue;
  bool pin = true;
  double kept_share = 0;  // Of the machine's memory, from one problem to the next.
  bool confine = false;   // Users' code may run there afterwards.
  bool pulses = false;    // Of each burst's moments it tells at kPulseFd and kQuestionFd.
  bool counts = false;    // It will read the processor's counters.
  bool watch = false;     // The GPU is watched from there, for ReadGpuWindow.
  int parent = -1;        // Process id.
  std::vector<AskedProvider> providers;
  Json kernels;  // What users brought (input::PackedSources); their bytes are the file.
  std::string cache, folder;
  std::string cxx = "c++";
  double compile_timeout_seconds = 0;
  int64_t compile_memory_bytes = 0;
  std::vector<RanCode> code;  // What to copy ahead of everything.
  Files files;                // The bytes; opened by itself where a script says where they are.
  Status check() const;

  struct Answer {
    struct Offered {  // A provider, as it is called here.
      std::string name;
      ProviderRole role = ProviderRole::user;
      Availability availability;
    };
    // What users brought that runs as soon as it is loaded: only confined processes load it.
    struct Waiting {
      uint64_t file = 0;  // Of the kernels.
      std::string provider, family;
    };
    Fingerprint fingerprint;
    std::string target;
    int threads = 1;
    int64_t last_level_cache_bytes = 0, memory_bytes = 0;
    std::vector<Offered> providers;
    std::vector<Waiting> waiting;
    Confinement confinement;
  };
};

// Loads one of the users' files, whose waiting families are there then. A row of one that is not
// there yet brings it, too.
struct Bring {
  static constexpr const char* kName = "bring";
  uint64_t file = 0;
  using Answer = Done;
};

// A program that runs users' code without rights. No Init goes ahead of it.
struct Guest {
  static constexpr const char* kName = "guest";
  GuestProgram program;
  struct Answer {
    int code = 0, signal = 0;
    bool timed_out = false, truncated = false;
    std::string out, err;
  };
};

// What was loaded there left changed.
struct Manners {
  static constexpr const char* kName = "manners";
  struct Answer {
    std::vector<std::string> faults;
  };
};

// One check of verify/conformance.h, with its problem where it has one.
struct Conform {
  static constexpr const char* kName = "conform";
  std::string check_name;
  std::optional<SentProblem> problem;
  struct Answer {
    std::vector<std::string> faults;
    int64_t looked_at = 0;
    std::vector<std::string> ran;  // Ids.
    RefusalCounts refusals;
  };
};

struct MeasureTimer {
  static constexpr const char* kName = "timer";
  struct Answer {
    measure::TimerFacts facts;
  };
};

// What this device reaches.
struct MeasureCeilings {
  static constexpr const char* kName = "ceilings";
  struct Answer {
    std::vector<measure::Reading> readings;
  };
};

// How the GPU was since the last call.
struct ReadGpuWindow {
  static constexpr const char* kName = "gpu_window";
  struct Answer {
    GpuWindow window;
  };
};

}  // namespace assay::process
