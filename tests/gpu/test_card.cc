// In gpu_test this stands for testing/test_card.cc.
#include "testing/test_card.h"

namespace assay::testing {

Result<std::unique_ptr<cuda::CudaDevice>> open_test_card() {
  ASSAY_TRY(const auto driver, cuda::Driver::open());
  ASSAY_TRY(const auto cards, cuda::list_cards(*driver));
  if (cards.empty()) return fail(ErrorCode::missing, "the driver lists no GPU");
  return cuda::open(driver, cards.front());
}

bool test_card_is_fake() { return false; }

}  // namespace assay::testing
