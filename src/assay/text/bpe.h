#pragma once

// Byte-pair encoding: a word becomes the symbols of its bytes or characters, and the pair that was
// learned first is merged until no pair is left.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assay/base/result.h"

namespace assay::text {

struct BpeParts {
  std::vector<std::pair<std::string, int>> vocabulary;      // As written, and the id.
  std::vector<std::pair<std::string, std::string>> merges;  // In the order that counts.
  bool bytes = true;           // Words are bytes, and the vocabulary writes bytes as characters.
  bool byte_fallback = false;  // What has no symbol becomes <0xHH>, if the vocabulary has those.
  bool ignore_merges = false;  // A word that is in the vocabulary is one token.
  std::string unknown;         // Stands for what has no symbol; empty: that is left out.
  bool fuse_unknown = false;
};

class Bpe {
 public:
  // Errors: ids twice, merges of what the vocabulary does not have.
  static Result<Bpe> create(const BpeParts& parts);

  // The ids of one word, appended. One thread at a time: words are remembered.
  void encode(std::string_view word, std::vector<int>& ids) const;
  std::optional<int> find(std::string_view written) const;

 private:
  struct Merge {
    std::uint64_t key = 0;  // 0: an empty place.
    int rank = 0, id = 0;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using Ids = std::unordered_map<std::string, int, Hash, std::equal_to<>>;

  Status add_merges(const BpeParts& parts);
  const Merge* merge_of(int left, int right) const;
  void insert(const Merge& merge);
  std::vector<int> symbols_of(std::string_view character) const;
  void begin(std::string_view word, std::vector<int>& symbols) const;
  void merge_few(std::vector<int>& symbols) const;
  void merge_many(std::vector<int>& symbols) const;

  Ids written_;  // The vocabulary.
  Ids words_;    // Whole words, as bytes where the words are bytes.
  std::array<std::vector<int>, 256> byte_symbols_;
  std::vector<Merge> merges_;
  int shift_ = 0;
  bool bytes_ = true, ignore_merges_ = false, byte_fallback_ = false, fuse_unknown_ = false;
  int unknown_ = -1;
  mutable std::unordered_map<std::string, std::vector<int>, Hash, std::equal_to<>> remembered_;
};

}  // namespace assay::text
