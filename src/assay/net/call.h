#pragma once

// Requests to a server on this machine, in the thread and the loop of a server of ours.

#include <cstdint>
#include <string>
#include <string_view>

#include "assay/net/response_reader.h"

namespace assay::net {

using CallId = std::uint64_t;  // Of one request; never used again.

// None of these may throw. A call may be cancelled from within.
class CallHandler {
 public:
  virtual ~CallHandler() = default;
  virtual void on_head(CallId call, const ResponseHead& head) = 0;
  virtual void on_body(CallId call, std::string_view bytes) = 0;  // Without its framing.
  virtual void on_end(CallId call) = 0;                           // The answer is whole.
  // There is no answer, or not the rest of one; a part of a sentence that says why.
  virtual void on_failed(CallId call, std::string_view why) = 0;
};

class Caller {
 public:
  virtual ~Caller() = default;
  // Sends `request` over a connection of its own to a port of 127.0.0.1; what comes of it is told
  // later, never within the call. `seconds`: for all of it; 0: as long as it takes.
  virtual CallId call(std::uint16_t port, std::string request, double seconds, CallHandler& by) = 0;
  virtual void hold(CallId call, bool held) = 0;  // Nothing more is read while it is held.
  virtual void cancel(CallId call) = 0;           // Nothing more is told of it.
};

}  // namespace assay::net
