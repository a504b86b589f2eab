// case.yaml, lab.yaml and refs/packs.yaml.

#include <array>

#include "assay/lab/files/form_pieces.h"
#include "assay/lab/files/forms.h"

namespace assay::lab {
namespace {

constexpr std::array<std::string_view, 7> kEvents = {
    "baseline", "keep", "near_tie", "discard", "crash", "interrupted", "end"};
constexpr std::array<std::string_view, 3> kPresets = {"discord", "slack", "json"};

Form model() {
  return Form::fields({{"name", filled_text(), Need::required},
                       {"path", filled_text(), Need::required, "The model's folder or file."}});
}

Form hardware() {
  return Form::fields({{"name", filled_text(), Need::required},
                       {"device", Form::text(), Need::optional, "As --device has it."},
                       {"require", Form::truth(), Need::optional,
                        "Whether an attempt on another device is refused."}});
}

Form objective() {
  return Form::fields(
      {{"metric", filled_text(), Need::required, "BENCHMARK.METRIC"},
       {"direction", direction_form(), Need::required},
       {"unit", Form::text()},
       {"min_effect", share_form(), Need::optional, "The least gain that is kept: above 0."}});
}

Form guardrail() {
  return Form::fields({{"metric", filled_text(), Need::required, "BENCHMARK.METRIC"},
                       {"direction", direction_form(), Need::required},
                       {"tolerance", share_form(), Need::required},
                       {"against", Form::words({"incumbent"})}});
}

Form lane() {
  return Form::fields(
      {{"benchmarks", Form::texts(), Need::optional, "Names of those that it runs."},
       {"env", environment_form()},
       {"keep_guardrails", Form::texts(), Need::optional, "Metrics of those that stay."}});
}

Form commands() {
  return Form::fields(
      {{"setup", Form::texts()}, {"build", Form::texts()}, {"tests", Form::texts()}});
}

Form parity() {
  return Form::fields(
      {{"prompts", inner_path_form(), Need::required},
       {"reference", inner_path_form(), Need::required},
       {"command", Form::texts(), Need::optional, "Needed unless the case has a server."},
       {"before", Form::texts(), Need::optional, "Names of benchmarks."}});
}

Form holdout() {
  return Form::fields({{"shapes", Form::text(), Need::optional, "Ranges that are drawn from."},
                       {"draw", Form::integer(1, kMostHoldoutDraws)},
                       {"tolerance", share_form()},
                       {"command", Form::texts()}})
      .with_one_of({{"shapes"}, {"command"}});
}

Form server() {
  return Form::fields({{"backend", Form::words({"mock", "process", "plugin"}), Need::required},
                       {"plugin", inner_path_form(), Need::optional, "Of the backend plugin."},
                       {"command", Form::texts(), Need::optional, "Of the backend process."},
                       {"ready_timeout_s", seconds_form()}});
}

Form confirm() {
  return Form::fields(
      {{"looks", Form::list(Form::integer(kFewestPairs, kMostPairs), 1), Need::optional,
        "Numbers of pairs after which it is decided, each above the one before."},
       {"budget_s", seconds_form()}});
}

Form limits() {
  return Form::fields({{"disk_mib", Form::integer(1, kMostDiskMib), Need::required,
                        "That one turn of an agent, or one command, may add to the disk."}});
}

Form agent() {
  return Form::fields({{"command", Form::texts(), Need::required},
                       {"timeout_s", seconds_form()},
                       {"pass_env", Form::texts(), Need::optional, "Names of variables."}});
}

}  // namespace

Form seconds_form() { return Form::number(kLeastSeconds, kMostSeconds); }
Form share_form() { return Form::either({Form::number(0, 1), Form::text("%$")}); }
Form direction_form() { return Form::words({"minimize", "maximize"}); }
Form inner_path_form() { return Form::text("^(?!/)(?!(.*/)?\\.\\.(/|$)).+$"); }
Form environment_form() { return Form::map(Form::scalar()); }

std::span<const std::string_view> notify_events() { return kEvents; }
std::span<const std::string_view> notify_presets() { return kPresets; }

const Form& notify_form() {
  static const Form form = Form::fields({{"enabled", Form::truth()},
                                         {"preset", words_form(kPresets)},
                                         {"on", Form::texts(words_form(kEvents)), Need::optional,
                                          "Which outcomes of attempts are told."}});
  return form;
}

const Form& case_form() {
  static const Form form = Form::fields(
      {{"schema", schema_word("assay.case/1"), Need::required},
       {"model", model(), Need::required},
       {"hardware", hardware(), Need::required},
       {"benchmarks", Form::list(inner_path_form(), 1), Need::required, "Files of benchmarks."},
       {"objective", objective(), Need::required},
       {"guardrails", Form::list(guardrail())},
       {"lanes", Form::map(lane())},
       {"fixed", Form::texts(), Need::required, "Patterns of files that no attempt may change."},
       {"commands", commands()},
       {"parity", parity()},
       {"holdout", holdout()},
       {"server", server()},
       {"confirm", confirm()},
       {"env_allowed", Form::texts(), Need::optional, "Names of variables, or PREFIX_*."},
       {"agent", agent()},
       {"limits", limits()},
       {"notify", notify_form()}});
  return form;
}

const Form& lab_form() {
  static const Form form =
      Form::fields({{"schema", schema_word("assay.lab/1"), Need::required},
                    {"device", Form::text(), Need::optional, "As --device has it."},
                    {"cases_dir", inner_path_form()},
                    {"store", Form::text(), Need::optional, "As --store has it."},
                    {"notify", notify_form()}});
  return form;
}

const Form& packs_form() {
  static const Form source =
      Form::fields({{"url", Form::text("^(https://|file:///)"), Need::required},
                    {"commit", Form::text("^[0-9a-f]{40}$"), Need::required},
                    {"files", Form::list(inner_path_form()), Need::required}});
  static const Form form = Form::fields({{"schema", schema_word("assay.packs/1"), Need::required},
                                         {"packs", Form::map(Form::list(source)), Need::required}});
  return form;
}

Json case_schema() { return input::file_schema("A case of a lab (case.yaml)", case_form()); }
Json lab_schema() { return input::file_schema("A lab (lab.yaml)", lab_form()); }
Json packs_schema() {
  return input::file_schema("References of a lab (refs/packs.yaml)", packs_form());
}

}  // namespace assay::lab
