#include "cli/mcp/tools.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"

namespace assay::cli {
namespace {

using Kind = ToolArgument::Kind;

const ToolArgument kShapes = {"shapes", Kind::list, "--shape",
                              "Shapes, such as \"m=16,n=4096,k=4096,dtype=f32\"; a field may be a "
                              "range, \"m=1:64:*2\". Fields that are left out are what the kernel "
                              "takes"};
const ToolArgument kSuite = {"suite", Kind::text, "--suite",
                             "A suite of shapes by its name, such as transformer_cpu, or a YAML "
                             "file"};
const ToolArgument kProviders = {"providers", Kind::list, "--provider",
                                 "Only kernels of these providers (default: all)"};
const ToolArgument kThreads = {"threads", Kind::number, "--threads",
                               "Cores that kernels may use (default: all physical cores)"};
const ToolArgument kCase = {"case", Kind::text, "--case",
                            "The case's folder (default: the one that the working folder is in)"};
const ToolArgument kAttempt = {"attempt", Kind::text, "",
                               "Its number, or the first letters of its id", true};

std::vector<Tool> make_tools() {
  return {
      {"race",
       "Race kernels of yours against every stock kernel that takes the shape. They are proven "
       "right first. The verdict says faster, same, slower or unsure, with the interval of the "
       "ratio. Takes about ten seconds a shape.",
       {"race"},
       {{"files", Kind::list, "",
         "Your kernels: C++, C, CUDA, PTX, Triton, manifest or plug-in files; FILE::ENTRY picks "
         "one kernel of a file",
         true},
        kShapes,
        kSuite,
        kProviders,
        kThreads,
        {"require", Kind::text, "--require",
         "A gate: faster, same, slower or within:3%; the exit code says whether it holds"}}},
      {"kernels",
       "List the kernels that can take a shape, and why others cannot. With files: what these "
       "became.",
       {"kernels"},
       {{"files", Kind::list, "", "Your kernels, as race takes them"},
        kShapes,
        kProviders,
        {"filter", Kind::text, "--filter",
         "Only kernels for which this holds: \"tile_m == 256\""}}},
      {"why",
       "Say what limits one kernel, or two side by side: time, share of the measured ceilings, "
       "cycles, and the ceiling that is nearest.",
       {"why"},
       {{"kernels", Kind::list, "",
         "One kernel or two: PROVIDER/NAME, the first digits of an id, or a file", true},
        kShapes,
        kThreads}},
      {"brief",
       "Say where a case's climb stands: best state, noise, what was tried, what is worth trying. "
       "Read it before each change.",
       {"lab", "brief"},
       {kCase}},
      {"evaluate",
       "Evaluate the case's workspace as it is: build, check, measure it against the best state, "
       "keep or discard. One change at a time.",
       {"lab", "eval"},
       {{"description", Kind::text, "--description", "What was changed, in a line", true},
        {"hypothesis", Kind::text, "--hypothesis", "Why it should help"},
        {"family", Kind::text, "--family", "The family of changes that it is of"},
        {"target", Kind::text, "--target", "What of the model it is about, such as mlp_boundary"},
        {"lane", Kind::text, "--lane", "Measure in this lane of case.yaml alone"},
        {"env", Kind::list, "--env", "NAME=VALUE: variables of the candidate alone"},
        {"again", Kind::truth, "--again", "Measure what was measured already"},
        kCase},
       true},
      {"profile",
       "See where the time of the case's workspace goes as it is: an attempt, measured and "
       "recorded "
       "as evaluate does, and the functions or shapes that take most of it.",
       {"lab", "eval", "--profile", "--again"},
       {{"description", Kind::text, "--description", "What was changed, in a line", true},
        {"family", Kind::text, "--family", "The family of changes that it is of"},
        {"lane", Kind::text, "--lane", "Measure in this lane of case.yaml alone"},
        kCase},
       true},
      {"history",
       "List the attempts of a case and what came of each.",
       {"lab", "history"},
       {{"outcome", Kind::text, "--outcome", "Only with this outcome: keep, discard ..."},
        {"family", Kind::text, "--family", "Only of this family"},
        {"where", Kind::text, "--where",
         "Only where this holds: \"ratio > 1.01 and family == 'tiles'\""},
        {"last", Kind::number, "--last", "So many at most, the newest (default: 50)"},
        kCase}},
      {"show", "Show one attempt: stages, metrics, claim.", {"lab", "show"}, {kAttempt, kCase}},
      {"diff",
       "Show what an attempt changed against its parent, as a patch.",
       {"lab", "diff"},
       {kAttempt, kCase}},
      {"status", "Say where a case stands, in a few lines.", {"lab", "status"}, {kCase}},
  };
}

std::string_view type_of(Kind kind) {
  switch (kind) {
    case Kind::text:
      return "string";
    case Kind::list:
      return "array";
    case Kind::number:
      return "integer";
    case Kind::truth:
      return "boolean";
  }
  return "string";
}

bool fits(const Json& value, Kind kind) {
  switch (kind) {
    case Kind::text:
      return value.is_string();
    case Kind::list:
      return value.is_array() && std::ranges::all_of(value, [](const Json& one) {
               return one.is_string() && !one.get_ref<const std::string&>().empty();
             });
    case Kind::number:
      return value.is_number_integer();
    case Kind::truth:
      return value.is_boolean();
  }
  return false;
}

}  // namespace

std::span<const Tool> tools() {
  static const std::vector<Tool> kTools = make_tools();
  return kTools;
}

const Tool* find_tool(std::string_view name) {
  const auto found = std::ranges::find_if(
      tools(), [&](const Tool& tool) { return std::string_view(tool.name) == name; });
  return found == tools().end() ? nullptr : &*found;
}

Json tool_json(const Tool& tool) {
  Json properties = Json::object(), required = Json::array();
  for (const ToolArgument& argument : tool.arguments) {
    Json& one = properties[argument.name] = {{"type", type_of(argument.kind)},
                                             {"description", argument.description}};
    if (argument.kind == Kind::list) one["items"] = {{"type", "string"}};
    if (argument.required) required.push_back(argument.name);
  }
  Json schema = {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = std::move(required);
  return {{"name", tool.name},
          {"description", tool.description},
          {"inputSchema", std::move(schema)},
          {"annotations", {{"readOnlyHint", !tool.changes}, {"openWorldHint", false}}}};
}

Result<std::vector<std::string>> command_line_of(const Tool& tool, const Json& arguments) {
  std::vector<std::string> known;
  for (const ToolArgument& argument : tool.arguments) known.emplace_back(argument.name);
  for (const auto& [name, value] : arguments.items())
    if (std::ranges::find(known, name) == known.end()) {
      const std::string close = did_you_mean(name, known);
      const std::string hint = close.empty() ? "; it has " + join(known, ", ") : close;
      return fail(ErrorCode::invalid_input, "{} has no argument '{}'{}", tool.name,
                  sanitize(name, 60), hint);
    }
  std::vector<std::string> words(tool.words.begin(), tool.words.end());
  std::vector<std::string> positional;
  for (const ToolArgument& argument : tool.arguments) {
    const auto value = arguments.find(argument.name);
    if (value == arguments.end() || value->is_null()) {
      if (argument.required)
        return fail(ErrorCode::invalid_input, "{} needs the argument '{}': {}", tool.name,
                    argument.name, argument.description);
      continue;
    }
    if (!fits(*value, argument.kind))
      return fail(ErrorCode::invalid_input, "{}: '{}' is {}, not {}", tool.name, argument.name,
                  argument.kind == Kind::list ? "an array of strings" : type_of(argument.kind),
                  sanitize(value->dump(-1, ' ', false, Json::error_handler_t::replace), 80));
    // A value never stands alone behind its flag: one that begins with a dash stays a value.
    const auto add = [&](const std::string& text) {
      if (*argument.flag == '\0')
        positional.push_back(text);
      else
        words.push_back(fmt::format("{}={}", argument.flag, text));
    };
    if (argument.kind == Kind::list)
      for (const Json& one : *value) add(one.get<std::string>());
    else if (argument.kind == Kind::text)
      add(value->get<std::string>());
    else if (argument.kind == Kind::number)
      add(value->dump());
    else if (value->get<bool>())
      words.emplace_back(argument.flag);
  }
  if (!positional.empty()) {
    words.emplace_back("--");
    words.insert(words.end(), positional.begin(), positional.end());
  }
  return words;
}

}  // namespace assay::cli
