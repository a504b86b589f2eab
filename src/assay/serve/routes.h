#pragma once

// What each path answers: plain functions of a request and a backend.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/net/http.h"
#include "assay/serve/answer_frames.h"
#include "assay/serve/asked.h"
#include "assay/serve/backend.h"

namespace assay::serve {

// What does not change while the server runs.
struct Site {
  std::string model;    // As clients call it.
  std::string version;  // Of this program.
  std::int64_t created_s = 0;
  AskLimits limits;
  bool has_key = false;
};

struct RouteContext {
  const Site& site;
  const Backend& backend;
  std::string id;  // For what is made: unique, without prefix.
  std::int64_t now_s = 0;
};

// A whole answer, or the head of one: its frames or its body are what `frames` makes of what `jobs`
// bring.
// bring.
struct Answer {
  net::Response response;
  std::unique_ptr<AnswerFrames> frames;
  std::vector<Job> jobs;  // One for each choice.
};

enum class Access {
  open,      // Without a key.
  key,       // With the key, if the server has one.
  key_only,  // Only on a server that has one.
};

struct Route {
  std::string_view method;
  std::string_view path;  // One that ends with '/' takes what follows it.
  Access access;
  Answer (*answer)(const RouteContext& context, const net::Request& request, std::string_view rest);
};

std::span<const Route> routes();

struct RouteMatch {
  const Route* route = nullptr;  // Null: there is none, or another method is meant.
  std::string allowed;           // Methods that the path has; empty if there is no such path.
  std::string rest;              // Behind a path that ends with '/', decoded.
};
RouteMatch find_route(std::string_view method, std::string_view target);

}  // namespace assay::serve
