#pragma once

// What a run was asked to be.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/load/arrivals.h"
#include "assay/net/http.h"
#include "assay/net/url.h"

namespace assay::load {

// How every request looks, its prompt aside.
struct RequestShape {
  std::string model;
  bool chat = true;  // Else completions.
  bool stream = true;
  bool ignore_eos = false;
  std::optional<double> temperature;
  Json extra = Json::object();  // Merged over everything else.
  std::vector<net::Header> headers;
  std::string api_key;  // Sent, and never written anywhere else.
};

struct LoadPlan {
  net::Url server;
  std::string ca_file;
  RequestShape shape;

  // An open loop sends at these times, whatever the server does; a closed one has so many streams,
  // each of which sends when its last answer has come. Both: a rate under a cap.
  std::optional<ArrivalPlan> arrivals;
  bool replays_trace = false;  // The data set has the times.
  int concurrency = 0;         // 0: no cap.

  std::int64_t requests = 0;  // 0: as many as the duration has.
  double duration_s = 0;      // 0: until all requests were sent.
  double grace_s = 30;        // For answers under way at the duration's end.
  int warmups = 0;            // Before, not counted.
  double timeout_s = 600;     // Of one request.
  int retries = 0;            // How often a request is sent again that was refused for now.
  double cancellation_rate = 0, cancellation_delay_s = 0;
  std::uint64_t seed = 0;
  std::string run_id;  // Request ids begin with it.

  bool is_open() const { return arrivals.has_value() || replays_trace; }
};

// The plan as a record has it: without the key, and without values of headers, which may be secret.
Json plan_json(const LoadPlan& plan);

}  // namespace assay::load
