#include "gemm.h"

#include <algorithm>
#include <string>

#include "export.h"

namespace assay::blis {
namespace {

namespace cblas = gemm::cblas;
using gemm::Matrix;

void check_gemm(const gemm::View& view, Refusals& refusals) {
  check_matrix(matrix_a(view), "a", refusals);
  check_matrix(matrix_b(view), "b", refusals);
  check_matrix(matrix_out(view), "out", refusals);
}

void check_typed(const gemm::View& view, Refusals& refusals) {
  if (std::min(view.m, view.n) > 1)
    refusals.add(Reason::size, fmt::format("m={} and n={}: only with one row or column does "
                                           "bli_gemm do another thing than cblas_gemm",
                                           view.m, view.n));
  check_gemm(view, refusals);
}

// The typed call, whose operands say their strides.
template <class T>
struct Typed {
  std::shared_ptr<const Api> api;
  GemmFunction<T>* function = nullptr;  // Or, for `runtime`:
  ExpertFunction<T>* expert = nullptr;
  Runtime runtime;
  int threads = 1;
  gemm::View view;
  Matrix a, b, out;
  gemm::Places places;
  T alpha, beta;

  static int launch(const void* state, void* const* data) {
    const auto& call = *static_cast<const Typed*>(state);
    call.api->use_threads(call.threads);
    auto* const out = static_cast<T*>(data[call.places.out]);
    for (int64_t l = 0; l < call.view.l; ++l) {
      if (call.beta != 0) copy_c(call.view, data[call.places.c], out, l);
      call.run(static_cast<const T*>(data[call.places.a]) + l * call.view.a_l,
               static_cast<const T*>(data[call.places.b]) + l * call.view.b_l,
               out + l * call.view.out_l);
    }
    return 0;
  }

  void run(const T* from_a, const T* from_b, T* to) const {
    if (expert != nullptr)
      expert(kAsItIs, kAsItIs, view.m, view.n, view.k, &alpha, from_a, a.row_stride,
             a.column_stride, from_b, b.row_stride, b.column_stride, &beta, to, out.row_stride,
             out.column_stride, nullptr, &runtime);
    else
      function(kAsItIs, kAsItIs, view.m, view.n, view.k, &alpha, from_a, a.row_stride,
               a.column_stride, from_b, b.row_stride, b.column_stride, &beta, to, out.row_stride,
               out.column_stride);
  }
};

template <class T>
Result<std::shared_ptr<Typed<T>>> make_typed(const std::shared_ptr<const Api>& api,
                                             const Api::Functions<T>& functions,
                                             const Binding& binding) {
  auto call = std::make_shared<Typed<T>>();
  ASSAY_TRY(call->view, gemm::view(binding.problem));
  call->api = api;
  call->function = functions.typed;
  call->threads = binding.threads;
  call->a = matrix_a(call->view).plain();
  call->b = matrix_b(call->view).plain();
  call->out = matrix_out(call->view).plain();
  call->places = gemm::places_of(binding.problem);
  call->alpha = static_cast<T>(call->view.alpha);
  call->beta = call->view.has_c ? static_cast<T>(call->view.beta) : T{0};
  return call;
}

template <class T>
struct Cblas {
  std::shared_ptr<const Api> api;
  int threads;
  cblas::Gemm<T, T> call;

  static int launch(const void* state, void* const* data) {
    const auto& bound = *static_cast<const Cblas*>(state);
    bound.api->use_threads(bound.threads);
    bound.call.run(data);
    return 0;
  }
};

template <class T>
void add_routines(const std::shared_ptr<const Api>& api, const Api::Functions<T>& functions,
                  const std::string& name, DType dtype, std::vector<Routine>& routines) {
  const auto typed = [api, functions](const KernelMetadata&,
                                      const Binding& binding) -> Result<HostStep> {
    ASSAY_TRY(auto call, make_typed<T>(api, functions, binding));
    return HostStep{&Typed<T>::launch, std::move(call)};
  };
  const auto leave = [api, functions, name](bool through_cblas) {
    return [api, functions, name, through_cblas](
               const Problem& problem, const ExportOptions& options) -> Result<KernelExport> {
      ASSAY_TRY(const gemm::View view, gemm::view(problem));
      const bool cblas =
          through_cblas && functions.cblas != nullptr && cblas::layout_of(view).has_value();
      return export_call(*api, name, !cblas, problem, options);
    };
  };

  Routine standard = routine_of(name, dtype, check_gemm);
  standard.is_default = true;
  standard.bind = [api, functions, typed](const KernelMetadata& row,
                                          const Binding& binding) -> Result<HostStep> {
    ASSAY_TRY(const gemm::View view, gemm::view(binding.problem));
    const auto layout = cblas::layout_of(view);
    if (!layout || functions.cblas == nullptr) return typed(row, binding);
    return HostStep{&Cblas<T>::launch,
                    std::make_shared<Cblas<T>>(Cblas<T>{
                        api, binding.threads,
                        cblas::Gemm<T, T>(functions.cblas, binding.problem, view, *layout)})};
  };
  standard.export_call = leave(true);
  routines.push_back(std::move(standard));

  Routine direct = routine_of(name + "_typed", dtype, check_typed);
  direct.bind = typed;
  direct.export_call = leave(false);
  routines.push_back(std::move(direct));

  if (!api->can_always_pack()) return;
  Routine packed = routine_of(name + "_packed", dtype, check_gemm);
  packed.bind = [api, functions](const KernelMetadata&,
                                 const Binding& binding) -> Result<HostStep> {
    ASSAY_TRY(auto call, make_typed<T>(api, functions, binding));
    const auto runtime = api->always_packing(binding.threads);
    if (!runtime) return fail(ErrorCode::internal, "a row that this build does not offer");
    call->runtime = *runtime;
    call->expert = functions.expert;
    return HostStep{&Typed<T>::launch, std::move(call)};
  };
  routines.push_back(std::move(packed));
}

}  // namespace

std::shared_ptr<const Family> make_gemm_family(std::shared_ptr<const Api> api) {
  std::vector<Routine> routines;
  add_routines(api, api->f32, "sgemm", DType::f32, routines);
  add_routines(api, api->f64, "dgemm", DType::f64, routines);
  return make_library_family("gemm", api->facts(), std::move(routines));
}

}  // namespace assay::blis
