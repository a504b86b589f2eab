#include "assay/op/gemm/epilogue_alone.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "assay/base/embedded.h"
#include "assay/op/gemm/element_wise.h"
#include "assay/op/gemm/epilogue.h"
#include "assay/op/gemm/matrix.h"

namespace assay {
namespace op_device_code {
std::span<const EmbeddedFile> embedded_files();
}

namespace gemm {
namespace {

constexpr int64_t kThreads = 256, kColumnsOfAThread = 8, kMostBlocks = 4096;

// As element_wise.cu has them.
std::optional<int> code_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 1;
    case DType::f16:
      return 2;
    case DType::bf16:
      return 3;
    default:
      return std::nullopt;
  }
}

std::string objection_to(const Problem& problem) {
  const auto view = gemm::view(problem);
  const auto epilogue = epilogue_of(problem);
  if (!view || !epilogue) return "it is no product with an epilogue";
  if (view->out_n != 1 && view->out_columns > 1)
    return "the element-wise kernel behind it writes rows of out";
  for (const EpilogueStep& step : epilogue->steps())
    if (step.has_operand() && !code_of(problem.find_operand(step.name())->dtype))
      return fmt::format("the element-wise kernel behind it reads no {} of {}", step.name(),
                         to_string(problem.find_operand(step.name())->dtype));
  if (!code_of(view->out))
    return fmt::format("the element-wise kernel behind it writes no {}", to_string(view->out));
  return {};
}

using Place = GpuLaunch::Place;

Result<GpuLaunch> launch_of(const Problem& problem, size_t sums_place) {
  if (const std::string why = objection_to(problem); !why.empty())
    return fail(ErrorCode::unsupported, "{}", why);
  ASSAY_TRY(const View v, view(problem));
  ASSAY_TRY(const Epilogue epilogue, epilogue_of(problem));
  const auto steps = epilogue.steps();
  const EpilogueStep* gate = epilogue.gate();
  const size_t out = places_of(problem).out;
  const bool apart = gate != nullptr;
  const auto integer = [](auto value) { return static_cast<int64_t>(value); };
  GpuLaunch launch;
  launch.arguments = {Place{apart ? sums_place : out},
                      Place{out},
                      v.l,
                      v.m,
                      v.n,
                      v.out_columns,
                      apart ? v.m * v.n : v.out_l,
                      apart ? v.n : v.out_m,
                      v.out_l,
                      v.out_m,
                      integer(*code_of(v.out)),
                      integer(std::ssize(steps)),
                      integer(gate == nullptr ? -1 : gate - steps.data())};
  bool gated = false;
  for (size_t i = 0; i < Epilogue::kMostSteps; ++i) {
    EpilogueStep step;
    Matrix matrix;
    size_t place = out;  // Of a step without an operand: not read.
    if (i < steps.size()) {
      step = steps[i];
      gated = gated || step.is_gate();
      const auto operands = problem.operands();
      const auto found = std::ranges::find(operands, step.name(), &Operand::role);
      if (step.has_operand()) {
        place = static_cast<size_t>(found - operands.begin());
        matrix = epilogue_matrix(step, *found, v, gated);
      }
    }
    launch.arguments.insert(
        launch.arguments.end(),
        {integer(step.kind), integer(code_of(matrix.dtype).value_or(0)), step.low, step.high,
         matrix.batch_stride, matrix.row_stride, matrix.column_stride, Place{place}});
  }
  const int64_t items = v.l * v.m * ((v.out_columns + kColumnsOfAThread - 1) / kColumnsOfAThread);
  launch.grid[0] =
      static_cast<uint32_t>(std::clamp<int64_t>((items + kThreads - 1) / kThreads, 1, kMostBlocks));
  launch.block[0] = static_cast<uint32_t>(kThreads);
  launch.text = op_device_code::embedded_files().front().content;
  launch.entry = "assay_element_wise";
  return launch;
}

class EpilogueAlone final : public LastPart {
 public:
  EpilogueAlone(Problem problem, ElementWise on_cpu)
      : problem_(std::move(problem)), on_cpu_(std::move(on_cpu)) {}

  size_t between_bytes() const override { return on_cpu_.sums_bytes(); }
  void run(void* const* data, const void* between) const override { on_cpu_.run(data, between); }
  Result<GpuLaunch> on_gpu(size_t between) const override { return launch_of(problem_, between); }

 private:
  Problem problem_;
  ElementWise on_cpu_;
};

}  // namespace

Result<std::shared_ptr<const LastPart>> epilogue_alone(const Problem& problem) {
  ASSAY_TRY(ElementWise on_cpu, ElementWise::of(problem));
  return std::make_shared<const EpilogueAlone>(problem, std::move(on_cpu));
}

}  // namespace gemm
}  // namespace assay
