#include "cli/export_files.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "assay/base/embedded.h"
#include "assay/base/text.h"
#include "assay/op/gemm/epilogue.h"
#include "assay/report/words.h"
#include "assay/worker/gpu/chain.h"
#include "cli/export_interface.h"

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

// A word of a shell in a line of make.
std::string word(const std::string& flag) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_=./+,:").find(c) != std::string_view::npos;
  };
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
  return !flag.empty() && std::all_of(flag.begin(), flag.end(), plain) ? out : "'" + out + "'";
}
std::string words(const std::vector<std::string>& flags) {
  std::vector<std::string> list;
  for (const std::string& flag : flags) list.push_back(word(flag));
  return join(list, " ");
}

std::string makefile(const ExportSubject& subject) {
  std::string objects = "caller.o launch.o", rules;
  for (const std::string& source : subject.made.sources) {
    const std::string object = source.substr(0, source.rfind('.')) + ".o";
    objects += " " + object;
    rules += fmt::format("{}: {}\n\t$(CXX) $(FLAGS) -c -o $@ {}\n", object, source, source);
  }
  return fmt::format(
      "# make run: builds the caller and runs it. Needs a C++20 compiler.\n"
      "MAKEFLAGS += -j4\nFLAGS = {}\nLINK = {}\nOBJECTS = {}\n\n"
      "caller: $(OBJECTS)\n\t$(CXX) -o $@ $(OBJECTS) $(LINK)\n"
      "caller.o: caller.cc check.h problem.h {}.h\n\t$(CXX) -std=c++20 -O2 -c -o $@ caller.cc\n"
      "launch.o: launch.cc {}.h\n\t$(CXX) $(FLAGS) -c -o $@ launch.cc\n{}"
      "run: caller\n\t./caller\nclean:\n\trm -f caller $(OBJECTS)\n.PHONY: run clean\n",
      words(subject.made.compile_flags), words(subject.made.link_flags), objects, subject.name,
      subject.name, rules);
}

std::string readme(const ExportSubject& subject) {
  const RunRecord& run = subject.facts.run;
  std::string text =
      fmt::format("# {}\n\n{}, m {}, n {}, k {}, batch {}, by `{}`: {:.4g} us.\n\n",
                  subject.problem.name(), formula_of(subject), subject.view.m, subject.view.n,
                  subject.view.k, subject.view.l, subject.label, subject.facts.median_us);
  text += fmt::format(
      "This is {}. `make run` checks it against a plain reference on random "
      "inputs and times it. Into a program of yours take all files but `caller.cc` and "
      "`check.h`, compile and link them with the flags of the Makefile, and include `{}.h`.\n\n",
      subject.made.what, subject.name);
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
  const auto view = gemm::view(problem);
  if (!view)
    return fail(ErrorCode::unsupported, "{}: only gemm is exported: {}", problem.name(),
                view.error().message);
  if (const auto epilogue = gemm::epilogue_of(problem); epilogue && !epilogue->empty())
    return fail(ErrorCode::unsupported,
                "{}: kernels with an epilogue ({}) are not exported yet; a tuned table ships them "
                "(sweep --save-table, then TunedTable in the program)",
                problem.name(), epilogue->text());
  const ExportSubject subject{
      problem, *view, made, facts, c_name(problem.name()), harmless(facts.kernel.label())};
  std::vector<ExportFile> files = made.files;
  files.push_back({subject.name + ".h", c_header(subject)});
  files.push_back({"launch.cc", launch_file(subject)});
  files.push_back({"problem.h", problem_file(subject)});
  const std::string_view caller = made.on_gpu ? "gpu_caller.cpp" : "caller.cpp";
  for (const EmbeddedFile& file : cli_export::embedded_files()) {
    if (file.name == caller) files.push_back({"caller.cc", std::string(file.content)});
    if (file.name == "check.hpp") files.push_back({"check.h", std::string(file.content)});
  }
  // The caller's neighbours in a chain are the race's own.
  if (made.on_gpu) files.push_back({"chain.ptx", sweep::chain_code(made.dependent_launch)});
  files.push_back({"Makefile", makefile(subject)});
  files.push_back({"README.md", readme(subject)});
  return files;
}

}  // namespace assay::cli
