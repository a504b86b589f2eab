#pragma once

// The mock's vocabulary: every byte, and some words with the blank before them. So any text has
// ids, ids give back the text, and characters lie across the borders of tokens.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/random.h"
#include "assay/base/result.h"

namespace assay::serve {

int mock_vocabulary();
std::vector<int> mock_tokens(std::string_view text);  // The longest word at each place.
Result<std::string> mock_bytes(std::span<const int> tokens);
std::string_view mock_token_bytes(int token);

// Seeded text, one token after the other.
class MockText {
 public:
  MockText(std::uint64_t key, std::uint64_t stream) : random_{key, stream} {}

  // `left`: tokens that may still follow, this one included. No character is begun that would not
  // be whole by then.
  int next(int left);
  int other_word();  // One that might have stood there instead.

 private:
  CounterRandom random_;
  std::uint64_t drawn_ = 0;
  std::string_view character_;  // Bytes of one that was begun.
};

}  // namespace assay::serve
