#include "assay/base/result.h"

namespace assay {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_input:
      return "invalid_input";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::missing:
      return "missing";
    case ErrorCode::stale:
      return "stale";
    case ErrorCode::build_failed:
      return "build_failed";
    case ErrorCode::failed:
      return "failed";
    case ErrorCode::machine:
      return "machine";
    case ErrorCode::device_lost:
      return "device_lost";
    case ErrorCode::busy:
      return "busy";
    case ErrorCode::interrupted:
      return "interrupted";
    case ErrorCode::internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace assay
