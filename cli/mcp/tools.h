#pragma once

// What an agent may ask this program for: each tool is one command line of it.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json_fwd.h"
#include "assay/base/result.h"

namespace assay::cli {

struct ToolArgument {
  enum class Kind : uint8_t { text, list, number, truth };
  const char* name;
  Kind kind;
  const char* flag;  // "--shape"; empty: a word of its own.
  const char* description;
  bool required = false;
};

struct Tool {
  const char* name;
  const char* description;
  std::vector<const char*> words;  // The command: {"lab", "eval"}.
  std::vector<ToolArgument> arguments;
  bool changes = false;  // Leaves something behind, other than a record of a run.
};

std::span<const Tool> tools();
const Tool* find_tool(std::string_view name);

// As the protocol lists it: name, description, the JSON Schema of its arguments.
Json tool_json(const Tool& tool);

// The words of the command line that these arguments ask for. Errors: an argument that the tool
// does not have, that is of another type, or that is missing, with what would be right.
Result<std::vector<std::string>> command_line_of(const Tool& tool, const Json& arguments);

}  // namespace assay::cli
