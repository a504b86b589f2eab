#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/report/width.h"
#include "assay/verify/audit.h"
#include "cli/commands/machine_checks.h"
#include "cli/exit_code.h"
#include "cli/flags/choose_device.h"
#include "cli/flags/problem_flags.h"
#include "cli/flags/race_options.h"
#include "cli/show/provider_list.h"
#include "cli/show/race_text.h"

namespace assay::cli {
namespace {

std::string ceiling_text(const Ceiling& ceiling) {
  return fmt::format("{} {}", ceiling.name,
                     format_si(ceiling.value, ceiling.unit == "byte/s" ? "B/s" : "FLOP/s"));
}

std::string latest_of(const std::vector<Ceiling>& ceilings) {
  std::string latest;
  for (const Ceiling& ceiling : ceilings) latest = std::max(latest, ceiling.until);
  return sanitize(latest, 40);
}

std::string ceilings_text(const sweep::MachineReport& machine) {
  if (!machine.not_measured.empty()) return "not measured: " + sanitize(machine.not_measured, 600);
  const Environment& environment = machine.environment;
  std::vector<std::string> ceilings;
  for (const Ceiling& ceiling : environment.ceilings) ceilings.push_back(ceiling_text(ceiling));
  return fmt::format(
      "{} ({} thread{}; the second largest readings of all runs, the latest of {}; "
      "--measure begins anew)",
      join(ceilings, ", "), environment.threads, environment.threads == 1 ? "" : "s",
      latest_of(environment.ceilings));
}

// Features on their own, so that lines can break between them.
std::string spaced(const std::string& target) {
  std::string text;
  for (const char c : target) text += c == '+' ? std::string(" +") : std::string(1, c);
  return text;
}

class DoctorCommand : public Command {
 public:
  const char* name() const override { return "doctor"; }
  const char* summary() const override {
    return "What this machine has, what is missing, and what to install";
  }
  const char* example() const override { return "assay doctor --json"; }
  void declare(Flags& app) override {
    pool_.declare(app);
    app.add_flag("--measure", renew_,
                 "Measure this machine's ceilings anew: what earlier runs reached counts no more");
    app.add_option("--suite", suite_.suite,
                   "Instead: whether each problem of a suite tells right kernels from trivial ones")
        .type_name("SUITE|FILE");
  }

  Result<int> run(Context& context) override {
    if (!suite_.suite.empty()) return audit(context.console);
    ASSAY_TRY(sweep::Request request, pool_.make_request(context, "doctor"));
    ASSAY_TRY(const sweep::MachineReport machine,
              sweep::inspect(request,
                             renew_ ? sweep::Inspection::renewing : sweep::Inspection::thorough));
    auto checks = check_machine(context, request.pool.cxx, request.keep.cache);
    checks.push_back(check_isolation(machine));
    const cpu::Topology topology = cpu::read_topology();
    const GpuList gpus = list_gpus();
    context.console.result(context.console.json()
                               ? dump_pretty(json(machine, checks, topology, gpus))
                               : text(context.console, machine, checks, topology, gpus));
    return kDone;
  }

 private:
  // Refused is a problem that some trivial kernel passes: whatever is raced on it proves nothing.
  Result<int> audit(Console& console) {
    ASSAY_TRY(const input::Suite suite, suite_.read(""));
    Json list = Json::array();
    std::string out;
    int refused = 0;
    for (const Problem& problem : suite.problems) {
      const auto tried = verify::audit(problem);
      if (!tried && tried.error().code != ErrorCode::invalid_input) return fail(tried.error());
      if (!tried) {
        ++refused;
        const std::string why = sanitize(tried.error().message, 1000);
        list.push_back({{"problem", problem.name()}, {"refused", why}});
        out += fmt::format("REFUSED {}: {}\n", problem.name(), why);
        continue;
      }
      const verify::Audit& found = *tried;
      refused += found.passed.empty() ? 0 : 1;
      list.push_back({{"problem", problem.name()},
                      {"failed", found.failed},
                      {"passed", found.passed},
                      {"would_be_right", found.honest}});
      if (!found.passed.empty())
        out += fmt::format("REFUSED {}: passed by {}\n", problem.name(), join(found.passed, ", "));
      else if (found.failed.empty())
        out +=
            fmt::format("ok      {}: trivial outputs are told from right ones\n", problem.name());
      else
        out += fmt::format("ok      {}: {} trivial kernels fail\n", problem.name(),
                           found.failed.size());
    }
    console.result(console.json() ? dump_pretty({{"schema", "assay.audit/1"},
                                                 {"suite", suite.name},
                                                 {"refused", refused},
                                                 {"problems", std::move(list)}})
                                  : out);
    return refused > 0 ? kBadInput : kDone;
  }

  static Json json(const sweep::MachineReport& machine, const std::vector<MachineCheck>& checks,
                   const cpu::Topology& topology, const GpuList& gpus) {
    Json list = Json::array();
    for (const MachineCheck& check : checks)
      list.push_back({{"what", check.what},
                      {"fine", check.fine},
                      {"found", check.found},
                      {"remedy", check.remedy}});
    return {{"schema", "assay.doctor/1"},
            {"target", machine.target},
            {"environment", to_json(machine.environment)},
            {"not_measured", machine.not_measured},
            {"cpu",
             {{"model", topology.model},
              {"logical", topology.logical},
              {"physical", topology.physical_cores.size()},
              {"l1d_bytes", topology.l1d_bytes},
              {"l2_bytes", topology.l2_bytes},
              {"l3_bytes", topology.l3_bytes},
              {"memory_bytes", topology.memory_bytes},
              {"cpu_quota", topology.cpu_quota}}},
            {"gpus", gpus_json(gpus)},
            {"providers", providers_json(machine.providers)},
            {"rankers", rankers_json(machine.rankers)},
            {"checks", std::move(list)}};
  }

  static std::string text(const Console& console, const sweep::MachineReport& machine,
                          const std::vector<MachineCheck>& checks, const cpu::Topology& topology,
                          const GpuList& gpus) {
    const report::TextStyle style{console.width_out(), console.colour_out()};
    const Environment& environment = machine.environment;
    const auto bytes = [](size_t count) {
      return count == 0 ? std::string("unknown") : format_bytes(static_cast<double>(count));
    };
    std::string out;
    const auto line = [&](const char* label, const std::string& what) {
      out += line_text({label, what}, style);
    };
    line("machine", fmt::format("{}, {} logical CPUs, {} physical cores, {} for kernels",
                                sanitize(topology.model, 200), topology.logical,
                                topology.physical_cores.size(), environment.threads));
    line("caches", fmt::format("L1d {}, L2 {}, L3 {}", bytes(topology.l1d_bytes),
                               bytes(topology.l2_bytes), bytes(topology.l3_bytes)));
    line("memory",
         fmt::format(
             "{}, huge pages {}", bytes(topology.memory_bytes),
             environment.huge_pages.empty() ? "unknown" : sanitize(environment.huge_pages, 200)));
    for (const cuda::Gpu& gpu : gpus.gpus)
      line("GPU", fmt::format("{}, {}, {}, {}", gpu.ordinal, sanitize(gpu.name, 100), gpu.uuid,
                              bytes(gpu.memory_bytes)));
    if (gpus.gpus.empty()) line("GPU", "none: " + sanitize(gpus.why_none, 400));
    line("target", spaced(sanitize(machine.target, 2000)));
    line("system", fmt::format("{}, Linux {}", sanitize(environment.system, 200),
                               sanitize(environment.os_kernel, 200)));
    line("governor", environment.governor.empty()
                         ? "not told by the system (usual in virtual machines)"
                         : sanitize(environment.governor, 80));
    if (topology.cpu_quota > 0)
      line("quota", fmt::format("{:.2f} CPUs' worth of time", topology.cpu_quota));
    line("ceilings", ceilings_text(machine));
    for (const std::string& warning : environment.warnings) line("warning", sanitize(warning, 400));
    out += '\n' + providers_text(machine.providers, style) + '\n';
    out += rankers_text(machine.rankers, style) + '\n';
    for (const MachineCheck& check : checks)
      out += report::wrap(
          fmt::format("{} {} {}{}", report::pad(check.what, 13), check.fine ? "ok  " : "BAD ",
                      sanitize(check.found, 1000), check.remedy.empty() ? "" : ": " + check.remedy),
          style.width, 19);
    return out;
  }

  PoolOptions pool_;
  ProblemFlags suite_;
  bool renew_ = false;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace assay::cli
