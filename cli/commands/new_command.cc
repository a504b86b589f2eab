#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "assay/base/json.h"
#include "assay/base/operation_name.h"
#include "assay/base/shell_word.h"
#include "assay/base/text.h"
#include "assay/input/operation_file.h"
#include "assay/input/shape_flag.h"
#include "assay/op/first_kernel.h"
#include "assay/op/operation.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/files/new_file.h"
#include "cli/show/race_text.h"

namespace assay::cli {
namespace {

struct Language {
  std::string_view extension;
  SourceLanguage language;
};
constexpr Language kLanguages[] = {{".cc", SourceLanguage::cpp},
                                   {".cpp", SourceLanguage::cpp},
                                   {".cxx", SourceLanguage::cpp},
                                   {".c", SourceLanguage::c},
                                   {".cu", SourceLanguage::cuda}};

// A function can be called so: letters, digits and underscores, no digit first.
std::string entry_of(const std::string& stem) {
  std::string name;
  for (const char c : stem)
    name += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  return name.empty() || (name[0] >= '0' && name[0] <= '9') ? "kernel_" + name : name;
}

class NewCommand : public Command {
 public:
  const char* name() const override { return "new"; }
  const char* summary() const override {
    return "Write a kernel to begin with: naive, right, and ready to race";
  }
  const char* example() const override {
    return "assay new my_gemm.cc --shape m=4,n=512,k=512,dtype=bf16";
  }
  const char* description() const override {
    return "The file gets a head comment, by which assay knows how to call the function, and a "
           "body of a few loops. Its name says the language: .cc, .cpp or .cxx for C++, .c for C, "
           ".cu for CUDA. A file that is there already is left alone.";
  }

  void declare(Flags& app) override {
    app.add_option("file", file_, "The file to write: my_gemm.cc, my_gemm.c or my_gemm.cu")
        .required()
        .type_name("FILE");
    app.add_option("--shape", shape_,
                   "What it computes: types, layout and batch are taken from here (default: f32 "
                   "in rows)")
        .type_name("SHAPE");
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const SourceLanguage language, language_of(file_));
    ASSAY_TRY(const FirstKernel* first, first_kernel_of(shape_));
    const std::string shape = shape_.empty() ? first->first_shape() : shape_;
    ASSAY_TRY(const Problem problem, problem_of(first->complete(shape)));
    const std::string race =
        fmt::format("assay race {} --shape {}", shell_word(sanitize(file_, 1000)),
                    shell_word(sanitize(shape, 1000)));
    ASSAY_TRY(const std::string text,
              first->first_kernel({.language = language,
                                   .entry = entry_of(std::filesystem::path(file_).stem().string()),
                                   .command = race,
                                   .operation = operation_of(shape, file_)},
                                  problem));
    ASSAY_TRY(write_new_file(file_, text, "new"));
    const report::TextStyle style{context.console.width_out(), context.console.colour_out()};
    context.console.result(
        context.console.json()
            ? dump_pretty({{"schema", "assay.new/1"}, {"file", file_}, {"next", race}})
            : line_text({"wrote", sanitize(file_, 300)}, style) + line_text({"next", race}, style));
    return kDone;
  }

 private:
  static Result<SourceLanguage> language_of(const std::string& file) {
    const std::string extension = std::filesystem::path(file).extension().string();
    for (const Language& one : kLanguages)
      if (one.extension == extension) return one.language;
    return fail(ErrorCode::invalid_input,
                "new: '{}' names no language that is written here; end it in .cc, .c or .cu",
                sanitize(file, 200));
  }

  // Of the operation that the shape names.
  static Result<const FirstKernel*> first_kernel_of(const std::string& shape) {
    std::string name(default_operation());
    if (!shape.empty()) {
      ASSAY_TRY(const auto problems, input::parse_shape_flag(shape));
      name = problems.front().operation();
    }
    ASSAY_TRY(const Operation* operation, find_operation(name));
    if (const FirstKernel* first = operation->first_kernels()) return first;
    return fail(ErrorCode::invalid_input, "new: there is no kernel to begin with for {}",
                operation_title(name));
  }

  // As the shape names it; a file as it is found from where the kernel will lie.
  static std::string operation_of(const std::string& shape, const std::string& kernel) {
    constexpr std::string_view kField = "operation=";
    namespace fs = std::filesystem;
    for (size_t at = 0; at <= shape.size();) {
      const size_t end = std::min(shape.find(',', at), shape.size());
      const std::string_view pair = trim(std::string_view(shape).substr(at, end - at));
      at = end + 1;
      if (!pair.starts_with(kField)) continue;
      const fs::path named(trim(pair.substr(kField.size())));
      if (!input::is_operation_file(named.string()) || named.is_absolute()) return named.string();
      std::error_code none;
      const fs::path found = fs::relative(named, fs::absolute(kernel, none).parent_path(), none);
      return found.empty() ? named.string() : found.string();
    }
    return std::string(default_operation());
  }

  static Result<Problem> problem_of(const std::string& shape) {
    ASSAY_TRY(const auto problems, input::parse_shape_flag(shape));
    for (const Problem& problem : problems)
      if (problem.layout() != problems.front().layout() || !have_same_types(problem, problems[0]))
        return fail(ErrorCode::invalid_input,
                    "--shape: a naive kernel has one type for each operand, and one layout; name "
                    "one of each");
    return problems.back();  // Of several sizes the greatest batch.
  }

  static bool have_same_types(const Problem& one, const Problem& other) {
    return std::ranges::equal(one.operands(), other.operands(), {}, &Operand::dtype,
                              &Operand::dtype);
  }

  std::string file_, shape_;
};

}  // namespace

std::unique_ptr<Command> make_new_command() { return std::make_unique<NewCommand>(); }

}  // namespace assay::cli
