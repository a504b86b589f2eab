#pragma once

// A *.test file: commands, and what they must say and leave behind.
//
//   # A comment.
//   file my.cc            Makes a file of the lines that follow, each after "| ".
//   | // assay: {...}
//   $ assay race my.cc    Runs the line with sh in the test's own folder. `assay` is the program.
//     --shape m=8         Indented lines go on with the command.
//   exit 1                Its exit code; 0 where this is left out.
//   out slower than * x   stdout holds this; * stands for anything. Runs of white space are one
//   out! winner           space, so that wrapped lines match. With !: it does not hold it.
//   err no such file      The same for stderr.
//   json                  stdout is one JSON value and nothing else.
//   json /results/0/name "m1"     And this is at that place (RFC 6901).
//   json /results *               Something is.
//   exists out/record.json
//   absent out/x
//
// Expectations follow the command that they are about.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::cli_tests {

struct Expectation {
  int line = 0;
  std::string kind;  // "exit", "out", "out!", "err", "err!", "json", "exists", "absent".
  std::string text;  // What follows it.
};

struct Step {
  int line = 0;
  std::string command;                                     // Empty for the files alone.
  std::vector<std::pair<std::string, std::string>> files;  // Made before the command.
  std::vector<Expectation> expectations;
};

struct Script {
  std::string path;
  std::vector<Step> steps;
};

Result<Script> read_script(const std::string& path);

// Every expectation that does not hold, with file, line and what was there instead. `program`: the
// binary under test.
std::vector<std::string> run_script(const Script& script, const std::string& program);

// Whether `pattern`, with * for anything, is somewhere in `text`; white space as said above.
bool holds(std::string_view text, std::string_view pattern);

}  // namespace assay::cli_tests
