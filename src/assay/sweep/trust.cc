#include "assay/sweep/trust.h"

#include <fmt/format.h>

#include "assay/base/text.h"

namespace assay::sweep {
namespace {
constexpr std::string_view kTimer = "the timer lives there too, bracketed by the parent's clock";

// Why less was had than could be had elsewhere.
std::string in_brackets(const std::string& why) { return why.empty() ? "" : " (" + why + ")"; }
}  // namespace

Trust trust_in(const process::Confinement& confinement) {
  if (!confinement.native_guests)
    return {TrustGrade::device_code,
            "what users brought runs on the GPU alone, between the GPU's own events; beside the "
            "timer runs the host code of stock libraries"};
  const std::string shared = in_brackets(confinement.shared);
  if (!confinement.holds())
    return {TrustGrade::unconfined_native,
            fmt::format("native code that can go further than its process: {}{}; {}",
                        join(confinement.gaps, ", "), shared, kTimer)};
  const char* how = confinement.other_user && confinement.own_namespaces
                        ? "of a user of their own, in namespaces of their own"
                    : confinement.other_user ? "of a user of their own"
                                             : "in namespaces of their own";
  return {
      TrustGrade::confined_native,
      fmt::format("native code in processes {}{}, without privileges, which can neither signal "
                  "nor read assay nor write its files nor change the code that times them; {}{}",
                  how, shared, kTimer,
                  confinement.code_is_watched
                      ? ""
                      : ", and the system does not let assay see whether its code stays as it "
                        "was")};
}

Status TrustLog::add(const process::Confinement& confinement) {
  Trust trust = trust_in(confinement);
  if (weakest_ && trust.grade <= weakest_->grade) return {};
  weakest_ = std::move(trust);
  return journal_.add_trust(*weakest_);
}

Trust TrustLog::weakest() const {
  return weakest_.value_or(
      Trust{TrustGrade::unconfined_native, "no candidate was run as native code"});
}

}  // namespace assay::sweep
