#include "cli/export/export_files.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "assay/base/embedded.h"
#include "assay/base/operation_name.h"
#include "assay/base/text.h"
#include "assay/op/export_front.h"
#include "assay/op/operation.h"
#include "assay/report/words.h"
#include "assay/worker/gpu/chain.h"
#include "cli/export/export_interface.h"

namespace assay::cli_export {
std::span<const EmbeddedFile> embedded_files();
}  // namespace assay::cli_export

namespace assay::cli {
namespace {

// A kernel's name is the record's word, and stands in comments and texts of C.
std::string harmless(std::string label) {
  for (char& c : label)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
          std::string_view("_-./:+<>=, ").find(c) != std::string_view::npos))
      c = '_';
  return label;
}

// To make and to a shell.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_=./+,:").find(c) != std::string_view::npos;
}

// A word of a shell in a line of make.
std::string word(const std::string& flag) {
  std::string out;
  for (const char c : flag) {
    if (c == '$')
      out += "$$";
    else if (c == '#')
      out += "\\#";
    else if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return !flag.empty() && std::ranges::all_of(flag, is_plain) ? out : "'" + out + "'";
}
std::string words(const std::vector<std::string>& flags) {
  std::vector<std::string> list;
  for (const std::string& flag : flags) list.push_back(word(flag));
  return join(list, " ");
}

std::string makefile(const ExportSubject& subject, const std::vector<ReferenceFile>& reference) {
  // All that the kernel ships: which of it a source includes only a compiler knows. What make would
  // read otherwise than as a name is left out.
  std::string objects = "caller.o launch.o", rules, shipped;
  for (const ExportFile& file : subject.made.files)
    if (std::ranges::all_of(file.path, is_plain) &&
        file.path.find_first_of("=:") == std::string::npos)
      shipped += " " + file.path;
  const auto compile = [&](const std::string& source, std::string_view needs,
                           std::string_view flags) {
    const std::string object = source.substr(0, source.rfind('.')) + ".o";
    objects += " " + object;
    rules +=
        fmt::format("{}: {}{}\n\t$(CXX) {} -c -o $@ {}\n", object, source, needs, flags, source);
  };
  for (const std::string& source : subject.made.sources) compile(source, " $(SHIPPED)", "$(FLAGS)");
  for (const ReferenceFile& file : reference)
    if (file.compiled) compile(file.path, "", "-std=c++20 -O2 -w");
  return fmt::format(
      "# make run: builds the caller and runs it. Needs a C++20 compiler.\n"
      "MAKEFLAGS += -j4\nFLAGS = {}\nLINK = {}\nOBJECTS = {}\nSHIPPED ={}\n\n"
      "caller: $(OBJECTS)\n\t$(CXX) -o $@ $(OBJECTS) $(LINK)\n"
      "caller.o: caller.cc check.h numbers.h problem.h reference.h {}.h\n"
      "\t$(CXX) -std=c++20 -O2 -c -o $@ caller.cc\n"
      "launch.o: launch.cc {}.h $(SHIPPED)\n\t$(CXX) $(FLAGS) -c -o $@ launch.cc\n{}"
      "run: caller\n\t./caller\nclean:\n\trm -f caller $(OBJECTS)\n.PHONY: run clean\n",
      words(subject.made.compile_flags), words(subject.made.link_flags), objects, shipped,
      subject.name, subject.name, rules);
}

// What a program of one's own does not take.
std::string callers_own(const std::vector<ReferenceFile>& reference) {
  std::vector<std::string> list = {"`caller.cc`", "`check.h`", "`numbers.h`", "`problem.h`"};
  for (const ReferenceFile& file : reference) list.push_back("`" + file.path + "`");
  return join(list, ", ");
}

std::string readme(const ExportSubject& subject, const std::vector<ReferenceFile>& reference) {
  const RunRecord& run = subject.facts.run;
  std::string text =
      fmt::format("# {}\n\n{}, {}, by `{}`: {:.4g} us.\n\n", subject.problem.name(),
                  subject.formula, subject.sizes(), subject.label, subject.facts.median_us);
  text += fmt::format(
      "This is {}. `make run` checks it against a plain reference on random "
      "inputs and times it. Into a program of yours take all files but those of the caller ({}). "
      "Compile and link them with the flags of the Makefile, and include `{}.h`.\n\n",
      subject.made.what, callers_own(reference), subject.name);
  text += fmt::format(
      "- measured: {}, {}{}, weights and caches as the caller makes "
      "them; in a process of its own a kernel may differ from a race by a few "
      "per cent\n",
      subject.facts.problem.condition.to_string(), subject.facts.problem.race_class.to_string(),
      subject.made.on_gpu
          ? ""
          : fmt::format(", {} thread{}", run.options.threads, run.options.threads == 1 ? "" : "s"));
  if (const PairVerdict* headline = subject.facts.problem.headline();
      headline != nullptr && headline->candidate == subject.facts.kernel.id)
    text += fmt::format(
        "- verdict: {}, {}{}\n",
        report::against(headline->verdict.word, subject.facts.problem.label(headline->other)),
        report::ratio_times(headline->verdict),
        subject.facts.kernel.is_normwise() ? " (right, normwise)" : "");
  text += fmt::format("- record: {}, {}, assay {}\n- machine: {}\n", sanitize(run.id, 200),
                      sanitize(run.created, 40), sanitize(run.assay_version, 40),
                      sanitize(run.environment.device.name, 200));
  return text;
}

}  // namespace

std::string c_name(const std::string& shape) {
  std::string name = shape;
  for (char& c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))) c = '_';
  // problem.h stands beside it.
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') || name[0] == '_' || name == "problem")
    name = "shape_" + name;
  return name;
}

Result<std::vector<ExportFile>> export_files(const Problem& problem, const KernelExport& made,
                                             const WinnerFacts& facts) {
  ASSAY_TRY(const Operation* const operation, find_operation(problem.operation()));
  const ExportFront* const front = operation->export_front();
  if (front == nullptr)
    return fail(ErrorCode::unsupported,
                "{}: {} says nothing that an exported caller could check by, so its kernels are "
                "not exported",
                problem.name(), operation_title(problem.operation()));
  const ErrorBound bound =
      facts.kernel.is_normwise() ? ErrorBound::normwise : ErrorBound::elementwise;
  ASSAY_TRY(const auto reference, front->reference(problem, bound));
  const ExportSubject subject{.problem = problem,
                              .made = made,
                              .facts = facts,
                              .name = c_name(problem.name()),
                              .label = harmless(facts.kernel.label()),
                              .formula = front->formula(problem)};
  std::vector<ExportFile> files = made.files;
  files.push_back({subject.name + ".h", c_header(subject)});
  files.push_back({"launch.cc", launch_file(subject)});
  files.push_back({"problem.h", problem_file(subject)});
  for (const ReferenceFile& file : reference) files.push_back({file.path, file.text});
  const std::string_view caller = made.on_gpu ? "gpu_caller.cpp" : "caller.cpp";
  for (const EmbeddedFile& file : cli_export::embedded_files()) {
    if (file.name == caller) files.push_back({"caller.cc", std::string(file.content)});
    if (file.name == "check.hpp") files.push_back({"check.h", std::string(file.content)});
    if (file.name == "numbers.hpp") files.push_back({"numbers.h", std::string(file.content)});
  }
  // The caller's neighbours in a chain are the race's own.
  if (made.on_gpu) files.push_back({"chain.ptx", sweep::chain_code(made.dependent_launch)});
  files.push_back({"Makefile", makefile(subject, reference)});
  files.push_back({"README.md", readme(subject, reference)});
  return files;
}

}  // namespace assay::cli
