#include "cli/problem_flags.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "assay/input/shape_flag.h"

namespace assay::cli {

void ProblemFlags::declare_shape(CLI::App& app) {
  app.add_option("--shape", shapes,
                 "m=16,n=4096,k=4096,dtype=f32; ranges such as 'm=1:256:*2', alternatives by |; "
                 "repeat for more")
      ->type_name("SHAPE")
      ->allow_extra_args(false);
}

void ProblemFlags::declare(CLI::App& app) {
  app.add_option("--suite", suite, "An embedded suite or a YAML file")->type_name("NAME|FILE");
  app.add_option("--shapes", names, "Only these shapes of the suite")->type_name("NAME");
  declare_shape(app);
}

Result<input::Suite> ProblemFlags::read(const std::string& fallback) const {
  if (!shapes.empty()) {
    if (!suite.empty() || !names.empty())
      return fail(ErrorCode::invalid_input,
                  "--shape stands for a suite: give it, or --suite and --shapes");
    return input::parse_shape_flags(shapes, "gemm");
  }
  ASSAY_TRY(const input::Suite found, input::find_suite(suite.empty() ? fallback : suite));
  return input::select(found, names);
}

}  // namespace assay::cli
