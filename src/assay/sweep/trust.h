#pragma once

// How far the timer could have been lied to, as it really was: each worker's confinement is
// journaled when it gets weaker than what was known, and a resumed run says the weaker of both.

#include <optional>

#include "assay/base/result.h"
#include "assay/process/confinement.h"
#include "assay/sweep/journal.h"

namespace assay::sweep {

// What a run may say of candidates that ran so confined.
Trust trust_in(const process::Confinement& confinement);

// The weakest that any part of a run had, resumed parts included.
class TrustLog {
 public:
  explicit TrustLog(Journal& journal) : journal_(journal), weakest_(journal.earlier_trust()) {}

  // Candidates will run so confined. In the journal before they do, where it is news.
  Status add(const process::Confinement& confinement);

  Trust weakest() const;  // Where nothing was added, no candidate ran.

 private:
  Journal& journal_;
  std::optional<Trust> weakest_;
};

}  // namespace assay::sweep
