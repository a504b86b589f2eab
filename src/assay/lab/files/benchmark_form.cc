// A benchmark of a case, of each kind.

#include <array>

#include "assay/lab/files/form_pieces.h"
#include "assay/lab/files/forms.h"
#include "assay/lab/files/openai_http_fields.h"

namespace assay::lab {
namespace {

constexpr std::array<std::string_view, 3> kHazards = {"replay", "streamer", "mutating_buffer"};

// The fields of every kind, and `own`.
Form benchmark(const std::string& kind, const std::vector<input::FormField>& own) {
  std::vector<input::FormField> fields = {
      {"schema", schema_word("assay.benchmark/1"), Need::required},
      {"name", Form::text("^[A-Za-z0-9_-]{1,200}$"), Need::required, "The prefix of its metrics."},
      {"kind", Form::words({kind}), Need::required}};
  fields.insert(fields.end(), own.begin(), own.end());
  fields.insert(fields.end(), {{"timeout_s", seconds_form()},
                               {"env", environment_form()},
                               {"hazards", Form::texts(words_form(kHazards)), Need::optional,
                                "What of it a cheating attempt could use."},
                               {"metrics", Form::map(metric_form())}});
  return Form::fields(std::move(fields));
}

}  // namespace

std::span<const std::string_view> benchmark_hazards() { return kHazards; }

const Form& metric_form() {
  static const Form form =
      Form::fields({{"unit", Form::text()},
                    {"direction", direction_form()},
                    {"floor", Form::number(), Need::optional,
                     "No value can be better than this one; it needs a direction."},
                    {"reduce", Form::texts(Form::text("^(median|mean|min|max|p[0-9]{1,2})$"))}});
  return form;
}

const Form& output_file_form() {
  static const Form form = Form::fields({{"file", inner_path_form(), Need::required}});
  return form;
}

const Form& shell_json_form() {
  static const Form form = benchmark(
      "shell_json",
      {{"command", Form::texts(Form::text(), 1), Need::required, "Its folder is the case's."},
       {"output", Form::either({Form::words({"stdout"}), output_file_form()}), Need::optional,
        "Where the JSON object of metrics is."},
       {"require", Form::texts(), Need::optional, "Metrics that must be there."}});
  return form;
}

const Form& sweep_form() {
  static const Form form = benchmark(
      "sweep", {{"manifest", Form::text("^workspace/(?!(.*/)?\\.\\.(/|$))"), Need::required},
                {"arguments", Form::list(Form::text()), Need::required, "Words of `assay race`."}});
  return form;
}

const Form& openai_http_form() {
  static const Form form = benchmark("openai_http", openai_http_fields());
  return form;
}

Json benchmark_schema() {
  return input::file_schema("A benchmark of a case",
                            Form::either({shell_json_form(), sweep_form(), openai_http_form()}));
}

}  // namespace assay::lab
