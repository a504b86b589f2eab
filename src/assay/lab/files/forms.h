#pragma once

// What a lab's files may hold: their readers take the names of fields and words from here, and the
// handbook's JSON Schemas are written from it.

#include <span>
#include <string_view>

#include "assay/input/form.h"

namespace assay::lab {

const input::Form& case_form();         // case.yaml
const input::Form& lab_form();          // lab.yaml
const input::Form& packs_form();        // refs/packs.yaml
const input::Form& notify_form();       // The field `notify` of either.
const input::Form& shell_json_form();   // A benchmark of this kind.
const input::Form& sweep_form();        // A benchmark of this kind.
const input::Form& openai_http_form();  // A benchmark of this kind.
const input::Form& output_file_form();  // Of shell_json: {file: NAME}.
const input::Form& metric_form();       // Of each of a benchmark's `metrics`.

Json case_schema();
Json lab_schema();
Json packs_schema();
Json benchmark_schema();

// Words of their fields.
std::span<const std::string_view> notify_events();
std::span<const std::string_view> notify_presets();
std::span<const std::string_view> benchmark_hazards();

}  // namespace assay::lab
