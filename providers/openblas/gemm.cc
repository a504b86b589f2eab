#include "gemm.h"

#include "assay/op/gemm/cblas.h"
#include "export.h"

namespace assay::openblas {
namespace {

namespace cblas = gemm::cblas;

void check_gemm(const gemm::View& view, Refusals& refusals) {
  check_matrix(gemm::matrix_a(view), "a", refusals);
  check_matrix(gemm::matrix_b(view), "b", refusals);
  check_matrix(gemm::matrix_out(view), "out", refusals);
}

template <class In, class T>
struct Bound {
  std::shared_ptr<const Api> api;
  int threads;
  cblas::Gemm<In, T> call;

  static int launch(const void* state, void* const* data) {
    const auto& bound = *static_cast<const Bound*>(state);
    bound.api->use_threads(bound.threads);
    bound.call.run(data);
    return 0;
  }
};

template <class In, class T>
Routine gemm_routine(const std::shared_ptr<const Api>& api, const char* name, DType in, DType out,
                     cblas::GemmFunction<In, T>* function) {
  Routine routine = routine_of(name, in, out, check_gemm);
  routine.is_default = true;
  routine.export_call = [api, called = std::string(name)](const Problem& problem,
                                                          const ExportOptions& options) {
    return export_call(*api, called, problem, options);
  };
  routine.bind = [api, function](const KernelMetadata&,
                                 const Binding& binding) -> Result<HostStep> {
    ASSAY_TRY(const gemm::View view, gemm::view(binding.problem));
    const auto layout = cblas::layout_of(view);
    if (!layout) return fail(ErrorCode::internal, "strides that supports() refuses");
    using State = Bound<In, T>;
    api->use_threads(binding.threads);
    return HostStep{
        &State::launch,
        std::make_shared<State>(State{
            api, binding.threads, cblas::Gemm<In, T>(function, binding.problem, view, *layout)})};
  };
  return routine;
}

}  // namespace

std::shared_ptr<const Family> make_gemm_family(std::shared_ptr<const Api> api) {
  std::vector<Routine> routines = {gemm_routine(api, "sgemm", DType::f32, DType::f32, api->sgemm),
                                   gemm_routine(api, "dgemm", DType::f64, DType::f64, api->dgemm)};
  if (api->sbgemm != nullptr)
    routines.push_back(gemm_routine(api, "sbgemm", DType::bf16, DType::f32, api->sbgemm));
  return make_library_family("gemm", api->facts(), std::move(routines));
}

}  // namespace assay::openblas
