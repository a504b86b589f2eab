#pragma once

// `assay load` against a server that runs for a test: our mock with its stamps, or one that
// misbehaves as it is told.

#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "testing/assay_program.h"

namespace assay::load_tests {

using assay::testing::AssayProgram;
using assay::testing::Finished;
using assay::testing::Running;
using assay::testing::wait_until;

inline int port_in(const std::string& path) {
  int port = 0;
  EXPECT_TRUE(wait_until([&] {
    port = std::atoi(read_file(path).value_or("").c_str());
    return port != 0;
  })) << path;
  return port;
}

class Mock {
 public:
  Mock(const AssayProgram& program, std::vector<std::string> more)
      : running_(program.start(words(std::move(more)))), port_(port_in(program.file("port"))) {}
  int port() const { return port_; }
  Running& running() { return running_; }

 private:
  static std::vector<std::string> words(std::vector<std::string> more) {
    std::vector<std::string> all = {"serve", "--port",   "0",     "--port-file",
                                    "port",  "--stamps", "stamps"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Running running_;
  int port_;
};

class BadServer {
 public:
  BadServer(const AssayProgram& program, const std::string& mode, int upstream = 0)
      : process_(start(program, mode, upstream)), port_(port_in(program.file(mode))) {}
  int port() const { return port_; }

 private:
  static Subprocess start(const AssayProgram& program, const std::string& mode, int upstream) {
    SubprocessOptions options;
    options.argv = {"python3", AssayProgram::source("tests/load/bad_server.py"), mode,
                    program.file(mode), std::to_string(upstream)};
    options.env = {"PATH=/usr/local/bin:/usr/bin:/bin"};
    return *Subprocess::start(options);
  }
  Subprocess process_;
  int port_;
};

inline std::string url(int port) { return fmt::format("http://127.0.0.1:{}", port); }

// The run of `assay load` with these words more; its record is in the folder "out".
inline Finished load(const AssayProgram& program, int port, std::vector<std::string> more) {
  std::vector<std::string> words = {"load", "--base-url",   url(port), "--model",
                                    "mock", "--output-dir", "out"};
  words.insert(words.end(), more.begin(), more.end());
  return program.run(words);
}

inline Json record_of(const AssayProgram& program) {
  return Json::parse(read_file(program.file("out/load.json")).value_or("{}"));
}

}  // namespace assay::load_tests
