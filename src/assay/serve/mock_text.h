#pragma once

// The mock's vocabulary: every byte, and some words with the blank before them. So any text has
// ids, ids give back the text, and characters lie across the borders of tokens.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "assay/base/random.h"
#include "assay/serve/vocabulary.h"

namespace assay::serve {

std::shared_ptr<const Vocabulary> mock_vocabulary();

// Seeded text, one token after the other: of the mock's words, or of a model's.
class MockText {
 public:
  MockText(std::uint64_t key, std::uint64_t stream, std::span<const int> words = {})
      : random_{key, stream}, words_(words) {}

  // `left`: tokens that may still follow, this one included. No character is begun that would not
  // be whole by then.
  int next(int left);
  int other_word();  // One that might have stood there instead.

 private:
  CounterRandom random_;
  std::span<const int> words_;  // A model's; empty: the mock's own.
  std::uint64_t drawn_ = 0;
  std::string_view character_;  // Bytes of one that was begun.
};

}  // namespace assay::serve
