
#include "cli/exit_code.h"
#include "cli/flags/race_options.h"
#include "cli/show/provider_list.h"

namespace assay::cli {
namespace {

class ProvidersCommand : public Command {
 public:
  const char* name() const override { return "providers"; }
  const char* summary() const override {
    return "Where kernels come from, and what this machine has of each";
  }
  const char* example() const override {
    return "assay providers --library openblas=/opt/lib/libopenblas.so.0";
  }
  void declare(Flags& app) override { pool_.declare(app); }

  Result<int> run(Context& context) override {
    ASSAY_TRY(sweep::Request request, pool_.make_request(context, "providers"));
    if (pool_.providers.empty()) {
      // The reference too: it is a provider, if not one that races.
      for (const auto& provider : built_in_providers())
        if (provider->info().role == ProviderRole::reference)
          request.pool.providers.push_back({provider->info().name, "", {}});
    }
    ASSAY_TRY(const sweep::MachineReport report, sweep::inspect(request, sweep::Inspection::brief));
    const Console& console = context.console;
    const report::TextStyle style{console.width_out(), console.colour_out()};
    context.console.result(console.json()
                               ? dump_pretty({{"schema", "assay.providers/1"},
                                              {"providers", providers_json(report.providers)},
                                              {"rankers", rankers_json(report.rankers)}})
                               : providers_text(report.providers, style) + '\n' +
                                     rankers_text(report.rankers, style));
    return kDone;
  }

 private:
  PoolOptions pool_;
};

}  // namespace

std::unique_ptr<Command> make_providers_command() { return std::make_unique<ProvidersCommand>(); }

}  // namespace assay::cli
