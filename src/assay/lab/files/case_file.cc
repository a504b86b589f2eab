#include "assay/lab/files/case_file.h"

#include <algorithm>

#include "assay/base/text.h"
#include "assay/lab/files/form_pieces.h"
#include "assay/lab/files/forms.h"
#include "assay/lab/files/path_pattern.h"

namespace assay::lab {
namespace {

using input::YamlField;

class CaseReader {
 public:
  CaseReader(const Lab& lab, const std::filesystem::path& folder) : lab_(lab) {
    case_.folder = folder;
    case_.name = folder.parent_path().filename().string() + '/' + folder.filename().string();
  }

  Result<Case> read() {
    ASSAY_TRY(const YamlField root, input::read_yaml(case_.folder / "case.yaml"));
    ASSAY_TRY(only(root, case_form()));
    ASSAY_TRY(check_schema(root, "assay.case/1"));
    ASSAY_TRY(read_target(root));
    ASSAY_TRY(read_benchmarks(root));
    ASSAY_TRY(read_objective(root));
    ASSAY_TRY(read_guardrails(root));
    ASSAY_TRY(read_lanes(root));
    ASSAY_TRY(read_fixed(root));
    ASSAY_TRY(read_commands(root));
    ASSAY_TRY(read_confirm(root));
    ASSAY_TRY(read_agent(root));
    ASSAY_TRY(read_limits(root));
    ASSAY_TRY(case_.allowed_variables, texts_or_none(root, "env_allowed"));
    ASSAY_TRY(read_holdout(root));
    ASSAY_TRY(read_server(root));
    ASSAY_TRY(read_parity(root));
    ASSAY_TRY(case_.notify, read_notify_rules(root, lab_.notify));
    return std::move(case_);
  }

 private:
  Status read_target(const YamlField& root) {
    ASSAY_TRY(const YamlField model, root.at("model"));
    ASSAY_TRY(only(model, case_form().at("model")));
    ASSAY_TRY(case_.model_name, text_at(model, "name"));
    ASSAY_TRY(case_.model_path, text_at(model, "path"));
    ASSAY_TRY(const YamlField hardware, root.at("hardware"));
    ASSAY_TRY(only(hardware, case_form().at("hardware")));
    ASSAY_TRY(case_.hardware_name, text_at(hardware, "name"));
    ASSAY_TRY(case_.hardware_device, text_or(hardware, "device", ""));
    ASSAY_TRY(const auto required, hardware.find("require"));
    if (required) {
      ASSAY_TRY(case_.hardware_required, required->as_bool());
    }
    return {};
  }

  Status read_benchmarks(const YamlField& root) {
    ASSAY_TRY(const YamlField list, root.at("benchmarks"));
    ASSAY_TRY(const auto items, list.items());
    if (items.empty()) return fail(list.error("a case has at least one benchmark"));
    for (const YamlField& item : items) {
      ASSAY_TRY(const std::string file, as_inner_path(item));
      ASSAY_TRY(Benchmark benchmark, read_benchmark(case_.folder, file));
      if (case_.find_benchmark(benchmark.name) != nullptr)
        return fail(item.error(fmt::format("another benchmark is called {}, too", benchmark.name)));
      case_.benchmarks.push_back(std::move(benchmark));
    }
    return {};
  }

  // The metric's first word is its benchmark.
  Status check_metric(const YamlField& field, const std::string& metric) const {
    const std::string prefix = metric.substr(0, metric.find('.'));
    if (case_.find_benchmark(prefix) != nullptr && prefix.size() < metric.size()) return {};
    std::vector<std::string> names;
    for (const Benchmark& benchmark : case_.benchmarks) names.push_back(benchmark.name);
    return fail(field.error(fmt::format(
        "metric: '{}' begins with the name of no benchmark; expected one of {}, a dot, and what it "
        "measures",
        sanitize(metric, 100), join(names, ", "))));
  }

  Status read_objective(const YamlField& root) {
    ASSAY_TRY(const YamlField field, root.at("objective"));
    ASSAY_TRY(only(field, case_form().at("objective")));
    ASSAY_TRY(case_.objective.metric, text_at(field, "metric"));
    ASSAY_TRY(check_metric(field, case_.objective.metric));
    ASSAY_TRY(const YamlField direction, field.at("direction"));
    ASSAY_TRY(case_.objective.direction, as_direction(direction));
    ASSAY_TRY(case_.objective.unit, text_or(field, "unit", ""));
    ASSAY_TRY(const auto effect, field.find("min_effect"));
    if (!effect) return {};
    ASSAY_TRY(case_.objective.min_effect, as_fraction(*effect));
    if (case_.objective.min_effect > 0) return {};
    return fail(effect->error("the least gain must be above 0, or noise is climbed"));
  }

  Status read_guardrails(const YamlField& root) {
    ASSAY_TRY(const auto list, root.find("guardrails"));
    if (!list) return {};
    ASSAY_TRY(const auto items, list->items());
    for (const YamlField& item : items) {
      ASSAY_TRY(only(item, case_form().at("guardrails").item()));
      Guardrail guardrail;
      ASSAY_TRY(guardrail.metric, text_at(item, "metric"));
      ASSAY_TRY(check_metric(item, guardrail.metric));
      ASSAY_TRY(const YamlField direction, item.at("direction"));
      ASSAY_TRY(guardrail.direction, as_direction(direction));
      ASSAY_TRY(const YamlField tolerance, item.at("tolerance"));
      ASSAY_TRY(guardrail.tolerance, as_fraction(tolerance));
      ASSAY_TRY(const std::string against, text_or(item, "against", "incumbent"));
      if (against != "incumbent")
        return fail(item.error("against: a guardrail is held against the incumbent alone"));
      case_.guardrails.push_back(std::move(guardrail));
    }
    return {};
  }

  Status read_lanes(const YamlField& root) {
    ASSAY_TRY(const auto lanes, root.find("lanes"));
    if (!lanes) return {};
    ASSAY_TRY(const auto members, lanes->members());
    for (const auto& [name, field] : members) {
      ASSAY_TRY(only(field, case_form().at("lanes").item()));
      Lane& lane = case_.lanes[name];
      ASSAY_TRY(lane.benchmarks, texts_or_none(field, "benchmarks"));
      ASSAY_TRY(lane.kept_guardrails, texts_or_none(field, "keep_guardrails"));
      for (const std::string& benchmark : lane.benchmarks)
        if (case_.find_benchmark(benchmark) == nullptr)
          return fail(
              field.error(fmt::format("no benchmark is called '{}'", sanitize(benchmark, 80))));
      for (const std::string& metric : lane.kept_guardrails)
        if (std::ranges::find(case_.guardrails, metric, &Guardrail::metric) ==
            case_.guardrails.end())
          return fail(field.error(fmt::format("no guardrail watches '{}'", sanitize(metric, 80))));
      ASSAY_TRY(const auto environment, field.find("env"));
      if (environment) {
        ASSAY_TRY(lane.environment, as_environment(*environment));
      }
    }
    return {};
  }

  Status read_fixed(const YamlField& root) {
    ASSAY_TRY(const YamlField field, root.at("fixed"));
    ASSAY_TRY(case_.fixed, field.as_strings());
    for (const std::string& pattern : case_.fixed)
      if (matches("workspace/x", pattern))
        return fail(field.error(fmt::format(
            "'{}' holds files of workspace/, which may change: what judges lies outside",
            sanitize(pattern, 80))));
    for (const Benchmark& benchmark : case_.benchmarks)
      if (std::ranges::none_of(case_.fixed, [&](const std::string& pattern) {
            return matches(benchmark.file, pattern);
          }))
        return fail(field.error(fmt::format(
            "{} scores, and no pattern here holds it; add benchmarks/**", benchmark.file)));
    return {};
  }

  Status read_commands(const YamlField& root) {
    ASSAY_TRY(const auto field, root.find("commands"));
    if (!field) return {};
    ASSAY_TRY(only(*field, case_form().at("commands")));
    ASSAY_TRY(case_.setup, texts_or_none(*field, "setup"));
    ASSAY_TRY(case_.build, texts_or_none(*field, "build"));
    ASSAY_TRY(case_.tests, texts_or_none(*field, "tests"));
    return {};
  }

  Status read_parity(const YamlField& root) {
    ASSAY_TRY(const auto field, root.find("parity"));
    if (!field) return {};
    ASSAY_TRY(only(*field, case_form().at("parity")));
    Parity parity;
    ASSAY_TRY(parity.command, texts_or_none(*field, "command"));
    if (parity.command.empty() && !case_.server)
      return fail(field->error("needs a command, or a `server` of the case that can be asked"));
    ASSAY_TRY(const YamlField prompts, field->at("prompts"));
    ASSAY_TRY(parity.prompts, as_inner_path(prompts));
    ASSAY_TRY(const YamlField reference, field->at("reference"));
    ASSAY_TRY(parity.reference, as_inner_path(reference));
    ASSAY_TRY(parity.before, texts_or_none(*field, "before"));
    for (const std::string& name : parity.before)
      if (case_.find_benchmark(name) == nullptr)
        return fail(
            field->error(fmt::format("before: no benchmark is called '{}'", sanitize(name, 80))));
    case_.parity = std::move(parity);
    return {};
  }

  Status read_holdout(const YamlField& root) {
    ASSAY_TRY(const auto field, root.find("holdout"));
    if (!field) return {};
    ASSAY_TRY(only(*field, case_form().at("holdout")));
    Holdout holdout;
    ASSAY_TRY(const auto shapes, field->find("shapes"));
    ASSAY_TRY(const auto command, field->find("command"));
    if (shapes.has_value() == command.has_value())
      return fail(field->error("shapes, which are drawn, or a command: one of the two"));
    if (command) {
      ASSAY_TRY(holdout.command, command->as_strings());
      case_.holdout = std::move(holdout);
      return {};
    }
    ASSAY_TRY(const std::string text, shapes->as_string());
    auto ranges = ShapeRanges::parse(text);
    if (!ranges) return fail(shapes->error(ranges.error().message));
    holdout.ranges = std::move(*ranges);
    if (std::ranges::none_of(case_.benchmarks, [](const Benchmark& benchmark) {
          return std::holds_alternative<SweepRace>(benchmark.kind);
        }))
      return fail(
          shapes->error("kernels are raced on them, and no benchmark of the kind sweep "
                        "says which"));
    ASSAY_TRY(const auto draw, field->find("draw"));
    if (draw) {
      ASSAY_TRY(const int64_t draws, draw->as_int64(1, kMostHoldoutDraws));
      holdout.draws = static_cast<int>(draws);
    }
    ASSAY_TRY(const auto tolerance, field->find("tolerance"));
    if (tolerance) {
      ASSAY_TRY(holdout.tolerance, as_fraction(*tolerance));
    }
    case_.holdout = std::move(holdout);
    return {};
  }

  Status read_confirm(const YamlField& root) {
    ASSAY_TRY(const auto field, root.find("confirm"));
    if (!field) return {};
    ASSAY_TRY(only(*field, case_form().at("confirm")));
    ASSAY_TRY(case_.confirm_seconds, seconds_or(*field, "budget_s", case_.confirm_seconds));
    ASSAY_TRY(const auto looks, field->find("looks"));
    if (!looks) return {};
    ASSAY_TRY(const auto items, looks->items());
    case_.looks.clear();
    for (const YamlField& item : items) {
      const int64_t least = case_.looks.empty() ? kFewestPairs : case_.looks.back() + 1;
      ASSAY_TRY(const int64_t pairs, item.as_int64(least, kMostPairs));
      case_.looks.push_back(static_cast<int>(pairs));
    }
    if (case_.looks.empty()) return fail(looks->error("at least one look decides"));
    return {};
  }

  Status read_server(const YamlField& root) {
    ASSAY_TRY(const auto field, root.find("server"));
    if (!field) return {};
    ASSAY_TRY(only(*field, case_form().at("server")));
    CaseServer server;
    ASSAY_TRY(server.backend, text_at(*field, "backend"));
    ASSAY_TRY(const auto plugin, field->find("plugin"));
    ASSAY_TRY(const auto command, field->find("command"));
    ASSAY_TRY(server.ready_seconds, seconds_or(*field, "ready_timeout_s", server.ready_seconds));
    if (server.backend != "mock" && server.backend != "process" && server.backend != "plugin")
      return fail(field->error(fmt::format("backend: '{}' is none of mock, process and plugin",
                                           sanitize(server.backend, 80))));
    if ((server.backend == "plugin") != plugin.has_value())
      return fail(field->error("plugin: a file for the backend plugin, and for no other"));
    if (server.backend == "process" && !command)
      return fail(field->error("a process has a command: [sh, workspace/serve.sh, \"{port}\"]"));
    if (server.backend != "process" && command)
      return fail(field->error("command: words for the backend process, and for no other"));
    if (plugin) {
      ASSAY_TRY(server.plugin, as_inner_path(*plugin));
    }
    if (command) {
      ASSAY_TRY(server.command, command->as_strings());
    }
    case_.server = std::move(server);
    return {};
  }

  Status read_limits(const YamlField& root) {
    ASSAY_TRY(const auto field, root.find("limits"));
    if (!field) return {};
    ASSAY_TRY(only(*field, case_form().at("limits")));
    ASSAY_TRY(const YamlField disk, field->at("disk_mib"));
    ASSAY_TRY(const int64_t mib, disk.as_int64(1, kMostDiskMib));
    case_.disk_bytes = static_cast<std::uint64_t>(mib) << 20;
    return {};
  }

  Status read_agent(const YamlField& root) {
    ASSAY_TRY(const auto field, root.find("agent"));
    if (!field) return {};
    ASSAY_TRY(only(*field, case_form().at("agent")));
    Agent agent;
    ASSAY_TRY(const YamlField command, field->at("command"));
    ASSAY_TRY(agent.command, command.as_strings());
    ASSAY_TRY(agent.timeout_seconds, seconds_or(*field, "timeout_s", agent.timeout_seconds));
    ASSAY_TRY(agent.passed_variables, texts_or_none(*field, "pass_env"));
    case_.agent = std::move(agent);
    return {};
  }

  const Lab& lab_;
  Case case_;
};

}  // namespace

const Benchmark* Case::find_benchmark(std::string_view wanted) const {
  const auto found = std::ranges::find(benchmarks, wanted, &Benchmark::name);
  return found == benchmarks.end() ? nullptr : &*found;
}

Result<Case> find_case(const Lab& lab, const std::filesystem::path& from) {
  const std::filesystem::path folder = find_upward(from, "case.yaml");
  const std::filesystem::path within = folder.lexically_relative(lab.root);
  if (folder.empty() || within.empty() || *within.begin() == "..")
    return fail(
        ErrorCode::not_found,
        "no folder from '{}' upward holds a case.yaml; name the case's folder by --case, or "
        "make a case by `assay lab new`",
        sanitize(from.string(), 300));
  return read_case(lab, folder);
}

Result<Case> read_case(const Lab& lab, const std::filesystem::path& folder) {
  return CaseReader(lab, folder).read();
}

}  // namespace assay::lab
