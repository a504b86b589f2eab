#include <fmt/format.h>

#include "assay/base/text.h"
#include "cli/export/export_mode.h"

namespace assay::cli {
namespace {

std::vector<std::unique_ptr<ExportMode>> all_modes() {
  std::vector<std::unique_ptr<ExportMode>> modes;
  modes.push_back(make_export_format());
  modes.push_back(make_export_winner());
  return modes;
}

class ExportCommand : public Command {
 public:
  const char* name() const override { return "export"; }
  const char* summary() const override { return "Hand on what a run found"; }
  const char* example() const override {
    return "assay export artifacts/decode --format cutlass-csv --output decode.csv";
  }

  void declare(Flags& app) override {
    app.add_option("source", request_.source,
                   "A run's folder or record, provider results, or a cutlass_profiler report")
        .type_name("RUN|FILE");
    app.add_option("--output", request_.output, "Where it goes; nothing is overwritten")
        .type_name("FILE");
    for (const auto& mode : modes_) mode->declare(app);
  }

  Result<int> run(Context& context) override {
    ExportMode* chosen = nullptr;
    std::vector<std::string> flags;
    for (const auto& mode : modes_) {
      flags.emplace_back(mode->flag());
      if (!mode->asked()) continue;
      if (chosen != nullptr)
        return fail(ErrorCode::invalid_input, "{} and {} exclude one another; give one of them",
                    chosen->flag(), mode->flag());
      chosen = mode.get();
    }
    if (chosen == nullptr)
      return fail(ErrorCode::invalid_input, "export: in which form? Give {}", join(flags, " or "));
    for (const auto& mode : modes_)
      if (mode.get() != chosen && mode->idle_flag() != nullptr)
        return fail(ErrorCode::invalid_input, "{} belongs to {}, and says nothing about {}",
                    mode->idle_flag(), mode->flag(), chosen->flag());
    return chosen->run(context, request_);
  }

 private:
  ExportRequest request_;
  std::vector<std::unique_ptr<ExportMode>> modes_ = all_modes();
};

}  // namespace

std::unique_ptr<Command> make_export_command() { return std::make_unique<ExportCommand>(); }

}  // namespace assay::cli
