#pragma once

// A server that lives as long as a run.

#include <cstdint>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/subprocess.h"

namespace assay::cli {

class StartedServer {
 public:
  // "{port}" in a word becomes a port that was free a moment ago. Its output goes to stderr.
  static Result<StartedServer> start(const std::vector<std::string>& words);
  StartedServer(StartedServer&&) = default;
  StartedServer& operator=(StartedServer&&) = default;
  // Asks it to end, so that it ends first what it has started; ten seconds later its group is
  // killed.
  ~StartedServer();

  std::string base_url() const;
  // Fails once the program has ended badly. One that ends well may have left a server behind it.
  // Errors: unsupported.
  Status may_get_ready() const;

 private:
  StartedServer(Subprocess process, std::uint16_t port)
      : process_(std::move(process)), port_(port) {}

  Subprocess process_;
  std::uint16_t port_;
};

}  // namespace assay::cli
