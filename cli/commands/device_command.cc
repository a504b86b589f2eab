#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/base/visible_gpus.h"
#include "assay/device/cuda/selection.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/flags/choose_device.h"
#include "cli/signals.h"

namespace assay::cli {
namespace {

constexpr int64_t kLookNs = 60'000'000'000;  // A driver's first start may take seconds.

class DeviceCommand : public Command {
 public:
  const char* name() const override { return "device"; }
  const char* summary() const override {
    return "The device that --device chooses; pins a shell or a program to it";
  }
  const char* example() const override { return "assay --device 1 device -- python serve.py"; }
  const char* description() const override {
    return "Without a program it lists the GPUs that there are, and which one is chosen. Behind "
           "-- it runs a program that sees the chosen GPU alone (CUDA_VISIBLE_DEVICES names its "
           "UUID), once a process that was started so has shown that the driver keeps to it. For "
           "a shell: eval \"$(assay device --export)\". What is chosen is --device, else "
           "ASSAY_DEVICE, which a project keeps in its .env; else the first GPU.";
  }

  void declare(Flags& app) override {
    const Flag exports = app.add_flag("--export", export_, "Print it as a line for a shell");
    app.add_option("program", program_, "Behind --: a program and its arguments")
        .type_name("PROGRAM...")
        .excludes(exports);
  }

  Result<int> run(Context& context) override {
    const GpuList list = list_gpus();
    std::string chosen = context.venue.gpu;
    if (!context.device_named && !list.gpus.empty()) chosen = list.gpus.front().uuid;
    if (!program_.empty() && context.console.json())
      return fail(ErrorCode::invalid_input,
                  "device: --json is of what assay prints, and behind -- {} prints",
                  sanitize(program_.front(), 100));
    if (!export_ && program_.empty()) return show(context.console, list, chosen);
    if (chosen.empty() && !context.device_named)
      return fail(ErrorCode::unsupported, "there is no GPU to choose: {}", list.why_none);
    if (!chosen.empty()) ASSAY_TRY(check_pin(context.settings, chosen));
    if (export_) {
      context.console.result(context.console.json()
                                 ? dump_pretty({{"schema", "assay.device/1"}, {"visible", chosen}})
                                 : fmt::format("export {}={}\n", kVisibleGpus, chosen));
      return kDone;
    }
    return become(chosen);
  }

 private:
  static Result<int> show(Console& console, const GpuList& list, const std::string& chosen) {
    if (console.json()) {
      const Json gpus = gpus_json(list);
      console.result(dump_pretty({{"schema", "assay.device/1"},
                                  {"chosen", chosen.empty() ? "cpu" : chosen},
                                  {"gpus", gpus},
                                  {"why_none", list.why_none}}));
      return kDone;
    }
    std::string text = fmt::format("{} cpu\n", chosen.empty() ? '>' : ' ');
    for (const cuda::Gpu& gpu : list.gpus)
      text += fmt::format("{} {}\n", gpu.uuid == chosen ? '>' : ' ', cuda::gpu_line(gpu));
    if (list.gpus.empty()) text += fmt::format("no GPU: {}\n", list.why_none);
    console.result(text);
    return kDone;
  }

  // This program, with the pin set, says what the driver shows.
  static Status check_pin(const Settings& settings, const std::string& uuid) {
    SubprocessOptions options;
    options.argv = {"/proc/self/exe", "device", "--json", "--device", "gpu"};
    options.env = settings.child_environment;
    set_variable(options.env, kVisibleGpus, uuid);
    ASSAY_TRY(const CommandOutput output, run_command(options, {.timeout_ns = kLookNs}));
    const Json seen = Json::parse(output.out, nullptr, false);
    const auto gpus = seen.is_object() ? seen.value("gpus", Json::array()) : Json::array();
    if (output.status.success() && gpus.size() == 1 &&
        gpus.front().value("uuid", std::string()) == uuid)
      return {};
    std::vector<std::string> shown;
    for (const Json& gpu : gpus) shown.push_back(gpu.value("uuid", std::string()));
    const std::string what = !shown.empty()       ? join(shown, ", ")
                             : output.err.empty() ? "no GPU"
                                                  : output.err;
    return fail(ErrorCode::machine, "with {}={} the driver shows {}", kVisibleGpus, uuid,
                sanitize(what, 400));
  }

  // Does not return where it works.
  Result<int> become(const std::string& uuid) {
    std::vector<char*> words;
    for (std::string& word : program_) words.push_back(word.data());
    words.push_back(nullptr);
    if (::setenv(kVisibleGpus.data(), uuid.c_str(), 1) != 0)
      return fail(ErrorCode::machine, "cannot set {}: {}", kVisibleGpus, errno_text(errno));
    give_back_signals();
    ::execvp(words.front(), words.data());
    return fail(errno == ENOENT ? ErrorCode::not_found : ErrorCode::invalid_input,
                "cannot run '{}': {}", sanitize(program_.front(), 300), errno_text(errno));
  }

  bool export_ = false;
  std::vector<std::string> program_;
};

}  // namespace

std::unique_ptr<Command> make_device_command() { return std::make_unique<DeviceCommand>(); }

}  // namespace assay::cli
