#pragma once

// A sweep or a race of attackers, and what its record says of each.

#include <string>
#include <vector>

#include "testing/assay_program.h"

namespace assay::testing {

// tests/attacks/kernels/<attack>.cc.
inline std::string attack_file(const std::string& attack) {
  return AssayProgram::source("tests/attacks/kernels/" + attack + ".cc");
}
// The kernel's name: that of its file without the number.
inline std::string attack_name(const std::string& attack) { return attack.substr(3); }

struct AttackRun {
  std::string shape = "m=24,n=40,k=57,dtype=f32,layout=tt";
  std::string budget = "2s", processes = "3";
  std::vector<std::string> providers = {"cpp_source"};
  std::vector<std::string> more;  // Words.

  // With an honest kernel, tests/faults/candidates/good.cc, among them.
  std::vector<std::string> words(const std::vector<std::string>& attacks) const {
    std::vector<std::string> words = {"sweep",     "--shape",  shape,         "--threads",
                                      "1",         "--budget", budget,        "--processes",
                                      processes,   "--output-dir", "run"};
    for (const std::string& provider : providers)
      words.insert(words.end(), {"--provider", provider});
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(),
                 {"--kernels", AssayProgram::source("tests/faults/candidates/good.cc")});
    for (const std::string& attack : attacks) words.push_back(attack_file(attack));
    return words;
  }
};

}  // namespace assay::testing
