#pragma once

// The server behind ours: a program, and the port that it listens on.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/file.h"
#include "assay/serve/child_program.h"

namespace assay::serve {

struct UpstreamOptions {
  // "{port}" in a word is the port to listen on, "{port_file}" a file to write one to instead.
  std::vector<std::string> command;
  std::vector<std::string> environment;
  std::string folder;                         // Where it runs; empty: here.
  double ready_seconds = 600;                 // From its start to its first answer to /health.
  std::string supervisor = "/proc/self/exe";  // Answers to the role of base/supervise.h.
};

class Upstream {
 public:
  // Errors: unsupported, if there is no such program.
  static Result<Upstream> create(UpstreamOptions options);

  Status start();
  std::uint16_t port();  // 0: it has not told one yet.
  ChildProgram& program() { return program_; }
  const UpstreamOptions& options() const { return options_; }

 private:
  Upstream(UpstreamOptions options, TemporaryDirectory folder)
      : options_(std::move(options)), folder_(std::move(folder)) {}

  UpstreamOptions options_;
  TemporaryDirectory folder_;  // Of the port file.
  ChildProgram program_;
  std::uint16_t port_ = 0;
  bool tells_port_ = false;
};

}  // namespace assay::serve
