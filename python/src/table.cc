#include "table.h"

#include <memory>
#include <string>
#include <vector>

#include <pybind11/stl.h>

#include "assay/select/tuned_table.h"
#include "binding.h"
#include "bound_plan.h"
#include "failure.h"
#include "session.h"

namespace assay::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

struct Table {
  std::shared_ptr<Device> device;
  TunedTable table;
};

// threads: 0 for those that it was tuned with, or, on a machine of fewer cores, the usual ones.
std::shared_ptr<Device> device_for(const TableContents& contents, int threads) {
  Session& session = Session::get();
  if (threads != 0) return session.device(threads);
  try {
    return session.device(contents.origin.threads);
  } catch (const Failure&) {
    return session.device(0);
  }
}

Table load(const std::string& path, const std::string& folder, int threads,
           const std::vector<std::string>& kernels) {
  const py::gil_scoped_release release;
  TableContents contents = take(read_table_file(path));
  auto device = device_for(contents, threads);
  TableOptions options;
  options.folder = folder;
  options.device = device.get();
  std::unique_ptr<Catalog> own;
  if (!kernels.empty()) own = take(Session::get().catalog_with(kernels));
  const Catalog& catalog = own ? *own : Session::get().catalog({});
  TunedTable table = take(TunedTable::create(std::move(contents), catalog, options));
  return {std::move(device), std::move(table)};
}

py::dict choose(const Table& table, const Problem& problem) {
  const Choice choice = take(table.table.choose(problem, table.device->target()));
  return py::dict("kernel"_a = *choice.kernel, "rule"_a = std::string(to_string(choice.rule)),
                  "tuned"_a = table.table.contents().problems.at(choice.problem).name,
                  "rank"_a = choice.rank, "distance"_a = choice.distance,
                  "tuned_us"_a = choice.tuned_us);
}

std::shared_ptr<BoundPlan> plan(const Table& table, py::handle a, py::handle b, py::handle out,
                                const py::dict& options) {
  const GemmCall call = read_plan_call(a, b, out, options);
  const py::gil_scoped_release release;
  const Problem problem = problem_of(call);
  return BoundPlan::choose(table.table, problem, call.arrays.list(problem), table.device);
}

std::vector<std::string> problems_of(const Table& table) {
  std::vector<std::string> names;
  for (const TableProblem& problem : table.table.contents().problems) names.push_back(problem.name);
  return names;
}

}  // namespace

void bind_table(py::module_& module) {
  py::class_<Table> type(module, "Table", "What a sweep found fastest, problem by problem.",
                         py::is_final());
  forbid_new(type);
  type.def_property_readonly("staleness",
                             [](const Table& table) { return table.table.staleness(); })
      .def_property_readonly("problems", &problems_of)
      .def_property_readonly("threads", [](const Table& table) { return table.device->threads(); })
      .def("choose", &choose, "problem"_a)
      .def("plan", &plan, "a"_a, "b"_a, "out"_a, "options"_a);
  module.def("load_table", &load, "path"_a, "folder"_a, "threads"_a, "kernels"_a);
}

}  // namespace assay::python
