// assay._native: kernels in the process that asks for them. What the program does (races, sweeps,
// comparisons) is left to the program: assay/_program.py.

#include <optional>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "assay/base/json.h"
#include "assay/base/version.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/op/gemm/epilogue.h"
#include "binding.h"
#include "bound_plan.h"
#include "failure.h"
#include "gemm_arrays.h"
#include "session.h"
#include "table.h"

namespace assay::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

py::list list_of(const Refusals& refusals) {
  py::list list;
  for (const Refusal& refusal : refusals)
    list.append(py::make_tuple(std::string(to_string(refusal.reason)), refusal.sentence));
  return list;
}

py::dict design_of(const Design& design) {
  py::dict dict;
  for (const auto& [name, value] : design) dict[py::str(name)] = py::cast(value);
  return dict;
}

py::tuple get_kernels(const Problem* problem, const std::string& filter,
                      const std::optional<std::string>& target,
                      std::vector<std::string> providers) {
  Found found;
  {
    const py::gil_scoped_release release;
    KernelQuery query;
    query.target = target ? take(Target::parse(*target)) : cpu::host_target();
    query.filter = filter;
    query.providers = std::move(providers);
    const Catalog& catalog = Session::get().catalog(query.providers);
    found = take(problem != nullptr ? catalog.get_kernels(*problem, query)
                                    : catalog.get_kernels(query));
  }
  py::dict refusals;
  for (const auto& [reason, refusal] : found.refusals)
    refusals[py::str(std::string(to_string(reason)))] =
        py::make_tuple(refusal.count, refusal.example);
  return py::make_tuple(py::cast(std::move(found.kernels)), refusals);
}

py::list providers() {
  py::list list;
  for (const auto& provider : Session::get().providers()) {
    const ProviderInfo& info = provider->info();
    Availability availability;
    {
      const py::gil_scoped_release release;
      availability = provider->availability({});
    }
    list.append(py::dict("name"_a = info.name, "role"_a = std::string(to_string(info.role)),
                         "summary"_a = info.summary, "available"_a = availability.available,
                         "reason"_a = availability.reason, "version"_a = availability.version,
                         "path"_a = availability.path));
  }
  return list;
}

std::shared_ptr<BoundPlan> plan(const Kernel& kernel, py::handle a, py::handle b, py::handle out,
                                const py::dict& options, int threads) {
  const GemmCall call = read_plan_call(a, b, out, options);
  const py::gil_scoped_release release;
  const Problem problem = problem_of(call);
  return BoundPlan::make(kernel, problem, call.arrays.list(problem), threads);
}

void rebind(BoundPlan& plan, py::handle a, py::handle b, py::handle out, py::handle c,
            const py::dict& epilogue_operands) {
  using namespace py::literals;
  GemmCall call =
      read_plan_call(a, b, out, py::dict("c"_a = c, "epilogue_operands"_a = epilogue_operands));
  const gemm::View view = take(gemm::view(plan.problem()));
  call.scalars = {.alpha = view.alpha,
                  .beta = view.beta,
                  .accumulate = view.accumulate,
                  .epilogue = std::string(take(gemm::epilogue_of(plan.problem())).text()),
                  .constant = {}};
  const py::gil_scoped_release release;
  const Problem problem = problem_of(call);
  plan.rebind(problem, call.arrays.list(problem));
}

void bind_problem(py::module_& module) {
  py::class_<Problem> type(
      module, "Problem", "One GEMM by its sizes, types and strides; no pointers.", py::is_final());
  forbid_new(type);
  type.def_property_readonly("name", &Problem::name)
      .def_property_readonly("key", &Problem::key)
      .def_property_readonly("layout", &Problem::layout)
      .def_property_readonly("dimensions",
                             [](const Problem& problem) {
                               py::dict dict;
                               for (const auto& [name, size] : problem.dimensions())
                                 dict[py::str(name)] = size;
                               return dict;
                             })
      .def_property_readonly("dtypes",
                             [](const Problem& problem) {
                               py::dict dict;
                               for (const Operand& operand : problem.operands())
                                 dict[py::str(operand.role)] =
                                     std::string(to_string(operand.dtype));
                               return dict;
                             })
      .def_property_readonly("shapes",
                             [](const Problem& problem) {
                               py::dict dict;
                               for (const Operand& operand : problem.operands())
                                 dict[py::str(operand.role)] = py::tuple(py::cast(operand.sizes));
                               return dict;
                             })
      .def("to_json", [](const Problem& problem) { return canonical(problem.to_json()); })
      .def("__repr__", [](const Problem& problem) { return "<Problem " + problem.key() + ">"; });
  module.def("problem_of_shape", &problem_of_shape, "text"_a);
  module.def(
      "problem_of_arrays",
      [](py::handle a, py::handle b, py::handle out, const py::dict& options) {
        return problem_of(read_call(a, b, out, options));
      },
      "a"_a, "b"_a, "out"_a, "options"_a);
}

void bind_kernel(py::module_& module) {
  py::class_<Kernel> type(module, "Kernel", "One fully specified implementation.", py::is_final());
  forbid_new(type);
  type.def_property_readonly("name", [](const Kernel& kernel) { return kernel.metadata().name(); })
      .def_property_readonly("provider",
                             [](const Kernel& kernel) { return kernel.metadata().provider(); })
      .def_property_readonly("family",
                             [](const Kernel& kernel) { return kernel.metadata().family(); })
      .def_property_readonly(
          "role",
          [](const Kernel& kernel) {
            return std::string(to_string(Session::get().role_of(kernel.metadata())));
          })
      .def_property_readonly("id", [](const Kernel& kernel) { return kernel.metadata().id(); })
      .def_property_readonly(
          "design", [](const Kernel& kernel) { return design_of(kernel.metadata().design); })
      .def_property_readonly("prepares",
                             [](const Kernel& kernel) { return kernel.metadata().prepares(); })
      .def_property_readonly("deterministic",
                             [](const Kernel& kernel) { return kernel.metadata().deterministic(); })
      .def("metadata_json",
           [](const Kernel& kernel) { return canonical(kernel.metadata().to_json()); })
      .def(
          "refusals",
          [](const Kernel& kernel, const Problem& problem) {
            return list_of(refusals_of(kernel, problem));
          },
          "problem"_a)
      .def("plan", &plan, "a"_a, "b"_a, "out"_a, "options"_a, "threads"_a);
  module.def("get_kernels", &get_kernels, "problem"_a.none(true), "filter"_a, "target"_a,
             "providers"_a);
  module.def("providers", &providers);
}

void bind_plan(py::module_& module) {
  py::class_<BoundPlan, std::shared_ptr<BoundPlan>> type(
      module, "Plan", "A kernel bound to arrays, which it keeps alive: ready to launch.",
      py::is_final());
  forbid_new(type);
  type.def("launch", &BoundPlan::launch, py::call_guard<py::gil_scoped_release>(),
           "Computes once. The interpreter is free for other threads meanwhile.")
      .def("rebind", &rebind, "a"_a, "b"_a, "out"_a, "c"_a = py::none(),
           "epilogue_operands"_a = py::dict(),
           "Other arrays of the same sizes, strides and types. One that was packed cannot change.")
      .def_property_readonly("kernel_name",
                             [](const BoundPlan& plan) { return plan.kernel().name(); })
      .def_property_readonly("provider",
                             [](const BoundPlan& plan) { return plan.kernel().provider(); })
      .def_property_readonly("problem", &BoundPlan::problem)
      .def_property_readonly("threads", &BoundPlan::threads)
      .def_property_readonly("choice", &BoundPlan::choice, "By which rule a table chose it.")
      .def_property_readonly("notes", &BoundPlan::notes, "What the table says besides.")
      .def_property_readonly("prepared_bytes",
                             [](BoundPlan& plan) { return plan.plan().prepared_bytes(); })
      .def_property_readonly("prepare_seconds",
                             [](BoundPlan& plan) { return plan.plan().prepare_seconds(); });
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  module.doc() = "Kernels of assay in this process. Use the package assay.";
  translate_failures();
  const BuildInfo& build = build_info();
  module.attr("version") = std::string(build.version);
  module.attr("revision") = std::string(build.revision);
  module.def("host_target", [] { return cpu::host_target().to_string(); });
  bind_problem(module);
  bind_kernel(module);
  bind_plan(module);
  bind_table(module);
}

}  // namespace assay::python
