#pragma once

// `assay serve` that runs for a test, and requests that it is asked.

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "testing/assay_program.h"
#include "tests/serve/raw_client.h"

namespace assay::serve_tests {

inline const std::string kStream =
    R"({"model":"mock","messages":[{"role":"user","content":"hi"}],"stream":true,)"
    R"("max_tokens":20,"ignore_eos":true,"seed":1,"stream_options":{"include_usage":true}})";
inline const std::string kWhole = R"({"messages":[{"role":"user","content":"hi"}],"max_tokens":4})";
inline constexpr std::string_view kChat = "/v1/chat/completions";

class Served {
 public:
  explicit Served(std::vector<std::string> more = {}, std::vector<std::string> wrapper = {})
      : running_(program_.start(words(std::move(more)), std::move(wrapper))) {
    EXPECT_TRUE(testing::wait_until([&] {
      const auto text = read_file(program_.file("port"));
      port_ = text ? static_cast<std::uint16_t>(std::strtoul(text->c_str(), nullptr, 10)) : 0;
      return port_ != 0;
    })) << running_.errors_so_far();
  }

  RawClient connect() const { return RawClient(port_); }
  std::string ask(std::string_view bytes) const {
    RawClient client = connect();
    client.send(bytes);
    return client.read_answer();
  }
  std::string metric(std::string_view name) const {
    const std::string text = ask(get("/metrics"));
    const auto at = text.find(fmt::format("\n{}{{", name));
    const auto value = text.find("} ", at) + 2;
    return at == std::string::npos ? "" : text.substr(value, text.find('\n', value) - value);
  }
  std::string content(std::string_view name) const {
    return read_file(program_.file(name)).value_or("");
  }
  testing::Running& running() { return running_; }
  std::uint16_t port() const { return port_; }

 private:
  static std::vector<std::string> words(std::vector<std::string> more) {
    std::vector<std::string> all = {"serve", "--port", "0", "--port-file", "port"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  testing::AssayProgram program_;
  std::uint16_t port_ = 0;
  testing::Running running_;
};

}  // namespace assay::serve_tests
