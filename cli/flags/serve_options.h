#pragma once

// The flags of `assay serve`.

#include <memory>
#include <string>
#include <vector>

#include "assay/net/server.h"
#include "assay/serve/mock_backend.h"
#include "assay/serve/plugin_backend.h"
#include "assay/serve/service.h"
#include "assay/serve/upstream.h"
#include "cli/command.h"
#include "cli/lab/lab_place.h"

namespace assay::cli {

class ServeOptions {
 public:
  void declare(Flags& app);

  // What the case's `server:` says, where no flag says otherwise. Errors: a case without one.
  Status take_case(const LabPlace& place, Context& context);
  Status check() const;  // Of flags that do not go together.
  std::string backend() const { return backend_.empty() ? "mock" : backend_; }
  std::string model() const { return model_.empty() ? "mock" : model_; }
  Result<net::ServerOptions> server() const;
  Result<serve::UpstreamOptions> upstream(const Context& context) const;
  Result<serve::PluginOptions> plugin(const Context& context) const;
  Result<serve::MockOptions> mock() const;
  // Without its log. Errors: a key that cannot be had, or a host that others reach without one.
  Result<serve::DeskOptions> desk(const Settings& settings) const;
  // Of --tokenizer; the mock's own without it.
  Result<std::shared_ptr<const serve::Vocabulary>> vocabulary() const;
  Result<double> drain_seconds() const;

  std::string port_file, stamps, log;

 private:
  void declare_mock(Flags& app);
  std::vector<std::string> child_environment(const Context& context) const;
  Result<std::string> key(const Settings& settings) const;

  std::string backend_, host_ = "127.0.0.1", model_, key_file_;
  std::string drain_ = "30", body_mib_ = "4";
  std::string tokenizer_, chat_template_ = "roles";
  std::string folder_, workspace_, model_folder_;  // Of a case; absolute.
  std::vector<std::string> case_environment_;
  std::string plugin_, ready_, step_ = "30";
  std::vector<std::string> origins_, command_;
  std::string head_seconds_ = "10", body_seconds_ = "30", idle_seconds_ = "75";
  int port_ = 8000, connections_ = 16384, choices_ = 64;
  bool strict_ = false, no_retries_ = false;
  std::string ttft_ = "0", ttft_std_ = "0", itl_ = "0", itl_std_ = "0", output_std_ = "0";
  std::string error_rate_ = "0", stall_rate_ = "0", disconnect_rate_ = "0", miscount_rate_ = "0";
  int output_tokens_ = 128, seed_ = 0, slots_ = 1024, queue_ = 4096, context_ = 32768;
};

}  // namespace assay::cli
