#pragma once

// A user's conversation, and a turn of it that is to be sent.

#include <cstddef>
#include <memory>
#include <string>

#include "assay/base/json.h"
#include "assay/load/dataset.h"
#include "assay/load/request_body.h"
#include "assay/load/trace.h"

namespace assay::load {

struct Talk {
  Conversation turns;
  std::size_t next = 0;
  Json history = Json::array();

  bool has_turns() const { return turns.size() > 1; }
  const Turn& turn() const { return turns[next]; }
  Ask ask() const;
  // The next turn's history has this one and its answer.
  void take_answer(const std::string& answer);
};

struct Pending {
  std::shared_ptr<Talk> talk;
  std::string body;  // Empty: it is made when it is sent.
  Trace trace;
  bool warmup = false;
  bool waited = false;  // For a connection.
};

}  // namespace assay::load
