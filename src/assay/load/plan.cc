#include "assay/load/plan.h"

#include <cmath>

namespace assay::load {
namespace {

std::string_view word(Law law) {
  switch (law) {
    case Law::constant:
      return "constant";
    case Law::poisson:
      return "poisson";
    case Law::gamma:
      return "gamma";
  }
  return "";
}

Json arrivals_json(const ArrivalPlan& plan) {
  Json json = {{"law", word(plan.law)}};
  // JSON has no infinity.
  json["rate"] = std::isinf(plan.rate) ? Json("inf") : Json(plan.rate);
  if (plan.law == Law::gamma) json["burstiness"] = plan.burstiness;
  if (plan.ramp)
    json["ramp"] = {{"to_rate", plan.ramp->to_rate},
                    {"seconds", plan.ramp->seconds},
                    {"exponential", plan.ramp->exponential}};
  return json;
}

}  // namespace

Json plan_json(const LoadPlan& plan) {
  const RequestShape& shape = plan.shape;
  Json json = {{"base_url", fmt::format("{}://{}{}", plan.server.tls ? "https" : "http",
                                        plan.server.authority(), plan.server.path)},
               {"model", shape.model},
               {"endpoint", shape.chat ? "chat" : "completions"},
               {"stream", shape.stream},
               {"ignore_eos", shape.ignore_eos},
               {"mode", plan.is_open() ? "open" : "closed"},
               {"requests", plan.requests},
               {"duration_s", plan.duration_s},
               {"grace_s", plan.grace_s},
               {"warmups", plan.warmups},
               {"timeout_s", plan.timeout_s},
               {"retries", plan.retries},
               {"seed", plan.seed},
               {"run_id", plan.run_id}};
  if (plan.arrivals) json["arrivals"] = arrivals_json(*plan.arrivals);
  if (plan.replays_trace) json["arrivals"] = {{"law", "trace"}};
  if (plan.concurrency > 0) json["concurrency"] = plan.concurrency;
  if (shape.temperature) json["temperature"] = *shape.temperature;
  if (!shape.extra.empty()) json["extra_body"] = shape.extra;
  if (plan.cancellation_rate > 0)
    json["cancellation"] = {{"rate", plan.cancellation_rate},
                            {"delay_s", plan.cancellation_delay_s}};
  json["headers"] = Json::array();
  for (const net::Header& header : shape.headers) json["headers"].push_back(header.name);
  return json;
}

}  // namespace assay::load
