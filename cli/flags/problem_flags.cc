#include "cli/flags/problem_flags.h"

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/input/model_config.h"
#include "assay/input/shape_defaults.h"
#include "assay/input/shape_flag.h"
#include "cli/files/user_files.h"

namespace assay::cli {
namespace {

constexpr int kMostDevices = 1024;
constexpr size_t kMostBatches = 1000;

std::string suite_names() {
  std::vector<std::string> names;
  for (const auto& suite : input::embedded_suites()) names.emplace_back(suite.name);
  return join(names, ", ");
}

Result<std::optional<int64_t>> read_experts(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (text == "uniform") return 0;
  if (text.starts_with("tokens=")) {
    ASSAY_TRY(const auto sizes, input::parse_size_list(text.substr(7), "--experts"));
    if (sizes.size() == 1) return sizes.front();
  }
  return fail(ErrorCode::invalid_input,
              "--experts: '{}' is neither uniform nor tokens=N, as in --experts tokens=4",
              sanitize(text, 60));
}

}  // namespace

void ProblemFlags::declare(Flags& app) {
  app.set_group(FlagGroup::problem);
  app.add_option("--suite", suite, "A suite of shapes (" + suite_names() + "), or a YAML file")
      .type_name("SUITE|FILE");
  app.add_option("--shapes", names, "Only these shapes of the suite").type_name("NAME");
  app.add_option(
         "--shape", shapes,
         "A shape, such as m=16,n=4096,k=4096,dtype=f32. A field may be a range, 'm=1:256:*2', or "
         "alternatives, 'm=1|8'. Fields that are left out are what your kernel takes, if "
         "it takes one value alone; otherwise dtype=f32,layout=tn")
      .type_name("SHAPE")
      .several_words(false);
  app.add_option("--model", model,
                 "The problems of a model, read from its Hugging Face config.json; needs --batch")
      .type_name("FILE");
  app.add_option("--batch", batches,
                 "With --model: how many tokens a pass has (m), '1:256:*2' or 1,8,64")
      .type_name("SIZES");
  app.add_option(
         "--tp", tensor_parallel,
         "With --model: how many devices share it; the problems are those of one (default: 1)")
      .range(1, kMostDevices)
      .type_name("N");
  app.add_option("--dtype", dtype, "With --model: the type to use instead of the config's")
      .type_name("DTYPE");
  app.add_option("--experts", experts,
                 "With --model: tokens that an expert works on, tokens=N, or uniform: all experts "
                 "are visited alike (default: experts are left out)")
      .type_name("HOW");
}

Status ProblemFlags::complete(Console& console, std::span<const input::KernelSource> files) {
  if (shapes.empty() || files.empty()) return {};
  std::vector<KernelEntry> entries;
  for (const input::KernelSource& file : files)
    entries.insert(entries.end(), file.entries.begin(), file.entries.end());
  const input::ShapeFields only = input::only_fields(entries);
  std::string said;
  for (std::string& shape : shapes) {
    std::vector<std::string> added;
    for (const auto& [name, value] : input::open_fields(shape, only))
      added.push_back(name + '=' + value);
    if (added.empty()) continue;
    const std::string text = join(added, ",");
    shape += ',' + text;
    if (text != said)
      console.note(
          fmt::format("--shape is taken with {}, since {} allows nothing else", text,
                      files.size() == 1 ? sanitize(files.front().text(), 200) : "each file"));
    said = text;
  }
  return {};
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
  ASSAY_TRY(options.expert_tokens, read_experts(experts));
  notes_.clear();
  options.notes = &notes_;
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
        std::pair("--dtype", !dtype.empty()), std::pair("--experts", !experts.empty())})
    if (given)
      return fail(ErrorCode::invalid_input, "{} is of a model: give --model config.json too", flag);
  if (!shapes.empty()) return input::parse_shape_flags(shapes);
  ASSAY_TRY(const input::Suite found, input::find_suite(suite.empty() ? fallback : suite));
  return input::select(found, names);
}

Status ProblemFlags::fill(sweep::Request& request, const std::string& fallback,
                          Console& console) const {
  ASSAY_TRY(input::Suite found, read(fallback));
  for (const std::string& note : notes_) console.note(note);
  request.question.problems = std::move(found.problems);
  request.question.suite = std::move(found.name);
  request.question.model = model;
  request.question.tensor_parallel = tensor_parallel;
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
