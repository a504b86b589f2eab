#pragma once

// The flags of `assay serve`.

#include <memory>
#include <string>
#include <vector>

#include "assay/net/server.h"
#include "assay/serve/mock_backend.h"
#include "assay/serve/service.h"
#include "cli/command.h"

namespace assay::cli {

class ServeOptions {
 public:
  void declare(Flags& app);

  Result<net::ServerOptions> server() const;
  Result<serve::MockOptions> mock() const;
  // Without its logs. Errors: a key that cannot be had, or a host that others reach without one.
  Result<serve::ServiceOptions> service(const Settings& settings) const;
  // Of --tokenizer; the mock's own without it.
  Result<std::shared_ptr<const serve::Vocabulary>> vocabulary() const;
  Result<double> drain_seconds() const;

  std::string port_file, stamps, log;

 private:
  void declare_mock(Flags& app);
  Result<std::string> key(const Settings& settings) const;

  std::string backend_ = "mock", host_ = "127.0.0.1", model_ = "mock", key_file_;
  std::string drain_ = "30", body_mib_ = "4";
  std::string tokenizer_, chat_template_ = "roles";
  std::vector<std::string> origins_;
  int port_ = 8000, connections_ = 16384, choices_ = 64;
  bool strict_ = false, no_retries_ = false;
  std::string ttft_ = "0", ttft_std_ = "0", itl_ = "0", itl_std_ = "0", output_std_ = "0";
  std::string error_rate_ = "0", stall_rate_ = "0", disconnect_rate_ = "0", miscount_rate_ = "0";
  int output_tokens_ = 128, seed_ = 0, slots_ = 1024, queue_ = 4096, context_ = 32768;
};

}  // namespace assay::cli
