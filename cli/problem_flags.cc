#include "cli/problem_flags.h"

#include <fmt/format.h>

#include "assay/input/model_config.h"
#include "assay/input/shape_flag.h"

namespace assay::cli {
namespace {

constexpr int kMostDevices = 1024;
constexpr size_t kMostBatches = 1000;

}  // namespace

void ProblemFlags::declare_shape(Flags& app) {
  app.add_option("--shape", shapes,
                 "m=16,n=4096,k=4096,dtype=f32; ranges such as 'm=1:256:*2', alternatives by |; "
                 "repeat for more")
      .type_name("SHAPE")
      .several_words(false);
  app.add_option("--model", model,
                 "The GEMMs of a model, from its Hugging Face config.json; needs --batch")
      .type_name("FILE");
  app.add_option("--batch", batches, "With --model: m of each pass, '1:256:*2' or 1,8,64")
      .type_name("SIZES");
  app.add_option("--tp", tensor_parallel,
                 "With --model: devices that share it; the problems are one's (default: 1)")
      .range(1, kMostDevices)
      .type_name("N");
  app.add_option("--dtype", dtype, "With --model: instead of the type that the config names")
      .type_name("DTYPE");
}

void ProblemFlags::declare(Flags& app) {
  app.add_option("--suite", suite, "An embedded suite or a YAML file").type_name("SUITE|FILE");
  app.add_option("--shapes", names, "Only these shapes of the suite").type_name("NAME");
  declare_shape(app);
}

Result<input::Suite> ProblemFlags::read_model() const {
  if (batches.empty())
    return fail(ErrorCode::invalid_input,
                "--model: for how many tokens at once? Give --batch 16, or --batch '1:256:*2'");
  input::ModelOptions options;
  options.tensor_parallel = tensor_parallel;
  ASSAY_TRY(options.batches, input::parse_size_list(batches, "--batch"));
  if (options.batches.size() > kMostBatches)
    return fail(ErrorCode::invalid_input, "--batch: {} sizes; at most {}", options.batches.size(),
                kMostBatches);
  if (!dtype.empty()) {
    auto known = parse_dtype(dtype);
    if (!known) return fail(ErrorCode::invalid_input, "--dtype: {}", known.error().message);
    options.dtype = *known;
  }
  return input::read_model(model, options);
}

Result<input::Suite> ProblemFlags::read(const std::string& fallback) const {
  const bool by_suite = !suite.empty() || !names.empty();
  if (!shapes.empty() && by_suite)
    return fail(ErrorCode::invalid_input,
                "--shape stands for a suite: give it, or --suite and --shapes");
  if (!model.empty() && (by_suite || !shapes.empty()))
    return fail(ErrorCode::invalid_input,
                "--model stands for a suite: give it without --suite, --shapes and --shape");
  if (!model.empty()) return read_model();
  for (const auto& [flag, given] :
       {std::pair("--batch", !batches.empty()), std::pair("--tp", tensor_parallel != 1),
        std::pair("--dtype", !dtype.empty())})
    if (given)
      return fail(ErrorCode::invalid_input, "{} is of a model: give --model config.json too", flag);
  if (!shapes.empty()) return input::parse_shape_flags(shapes);
  ASSAY_TRY(const input::Suite found, input::find_suite(suite.empty() ? fallback : suite));
  return input::select(found, names);
}

Status ProblemFlags::fill(sweep::Request& request, const std::string& fallback) const {
  ASSAY_TRY(input::Suite found, read(fallback));
  request.problems = std::move(found.problems);
  request.suite = std::move(found.name);
  request.model = model;
  request.tensor_parallel = tensor_parallel;
  return {};
}

Result<std::vector<NamedSizes>> named_sizes(const std::string& suite) {
  std::vector<NamedSizes> names;
  if (suite.empty()) return names;
  ASSAY_TRY(const input::Suite found, input::find_suite(suite));
  for (const Problem& problem : found.problems)
    names.push_back({problem.name(), problem.dimension("m"), problem.dimension("n"),
                     problem.dimension("k"), problem.dimension("l")});
  return names;
}

}  // namespace assay::cli
