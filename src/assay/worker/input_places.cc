#include "assay/worker/input_places.h"

namespace assay::sweep {

bool is_input(const Operand& operand) { return operand.access != Access::write; }

Result<InputPlaces> place_inputs(const Problem& problem, std::span<const MappedFile> instance) {
  const auto operands = problem.operands();
  if (instance.size() != operands.size())
    return fail(ErrorCode::internal, "an instance has {} operands, its problem {}", instance.size(),
                operands.size());
  InputPlaces places;
  for (size_t i = 0; i < operands.size(); ++i) {
    places.index.push_back(is_input(operands[i]) ? places.sizes.size() : kNowhere);
    if (!is_input(operands[i])) continue;
    if (instance[i].size() != static_cast<size_t>(operands[i].span_bytes))
      return fail(ErrorCode::internal, "operand {} has {} bytes, expected {}", operands[i].role,
                  instance[i].size(), operands[i].span_bytes);
    places.sizes.push_back(instance[i].size());
  }
  return places;
}

}  // namespace assay::sweep
