#pragma once

// The flags that say what load is: server, requests, data and times.

#include <memory>
#include <string>
#include <vector>

#include "assay/load/dataset.h"
#include "assay/load/metrics.h"
#include "assay/load/plan.h"
#include "assay/load/ready.h"
#include "cli/command.h"

namespace assay::cli {

// Which flags a command has beside those that all have.
struct LoadFlagChoice {
  bool base_url = true;
  bool sends = true;  // Rate, concurrency and how long: else the command chooses them.
};

class LoadFlags {
 public:
  void declare(Flags& app, const LoadFlagChoice& choice = {});

  // Waits until the server is ready, as long as it may get ready, and asks for its model, if none
  // is named.
  Result<load::LoadPlan> plan(Context& context, const std::string& base_url,
                              const load::MayGetReady& may_get_ready = {}) const;
  Result<std::string> base_url() const;  // Empty where no flag says it.
  // Which prompts; counts their tokens by the server's /tokenize if that is there.
  Result<std::unique_ptr<load::Dataset>> dataset(Context& context, const load::LoadPlan& plan,
                                                 std::uint64_t seed) const;
  // By the tokenizer that --tokenizer names; empty where it names none.
  Result<load::TokenCount> token_count() const;
  Result<std::vector<load::Objective>> objectives() const;

 private:
  void declare_data(Flags& app);
  void declare_sends(Flags& app);
  void declare_requests(Flags& app);
  Status read_shape(load::RequestShape& shape) const;
  Status read_sends(load::LoadPlan& plan) const;
  Result<load::ArrivalPlan> arrivals() const;
  Result<std::string> key() const;
  Result<load::WordText> word_text(Context& context, const load::LoadPlan& plan) const;

  std::string base_url_, host_, model_, served_model_, endpoint_ = "chat", ca_file_, key_file_,
                                                       ready_ = "0";
  std::string rate_, arrivals_ = "poisson", burstiness_ = "1", ramp_to_, ramp_seconds_ = "0";
  std::string ramp_shape_ = "linear", duration_ = "0", grace_ = "30", timeout_ = "600";
  std::string temperature_, extra_body_, tokenizer_, cancellation_rate_ = "0",
                                                     cancellation_delay_ = "0";
  std::string dataset_ = "random", dataset_path_, prompt_ = "Say something about matrices.";
  std::string input_std_ = "0", output_std_ = "0", spread_ = "0", replay_speed_ = "1";
  std::vector<std::string> headers_, goodput_;
  int port_ = 0, concurrency_ = 0, requests_ = 0, warmups_ = 0, seed_ = 0, retries_ = 0;
  int input_ = 512, output_ = 128, prefix_ = 0, prefix_pool_ = 1;
  bool no_stream_ = false, ignore_eos_ = false;
};

}  // namespace assay::cli
