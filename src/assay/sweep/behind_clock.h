#pragma once

// Whether a kernel works behind its clock, on the thread that launches: a kernel that has got hold
// of that thread can do there what its launches left undone, before anybody looks at outputs. Each
// process tells when its clock stopped and when it has looked. What lies between is the same for
// all kernels of a problem, whoever brought them.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace assay::sweep {

class BehindClock {
 public:
  // Of a clean burst: how long it was, and how long it took until its outputs were looked at.
  void add(size_t kernel, bool of_user, double burst_ns, double behind_ns);

  // A sentence, if that takes a user's kernel longer, in the middle, than it can: more than twice
  // what it takes the slowest kernel that no user brought, or 20 us where that is less.
  std::string excess(size_t kernel) const;

 private:
  struct Seen {
    bool of_user = false;
    std::vector<double> burst_ns, behind_ns;
  };
  std::map<size_t, Seen> seen_;
};

}  // namespace assay::sweep
