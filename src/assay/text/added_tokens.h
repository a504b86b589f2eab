#pragma once

// Tokens that are found in a text before it is split into words: "<|im_end|>". Of those that begin
// at one place the longest is taken.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace assay::text {

struct AddedToken {
  int id = 0;
  std::string content;
  bool special = false;
  bool normalized = false;                       // It is looked for in normalized text.
  bool takes_left = false, takes_right = false;  // Blanks beside it belong to it.
};

class AddedTokens {
 public:
  void add(const AddedToken& token);

  struct Piece {
    std::string_view text;
    int id = -1;  // -1: text between them.
  };
  // `text` in pieces, none of them empty.
  std::vector<Piece> split(std::string_view text) const;

 private:
  struct Found {
    int token = -1;  // Its place in tokens_.
    std::size_t bytes = 0;
  };
  Found longest_at(std::string_view text) const;

  std::vector<AddedToken> tokens_;
  // A tree of bytes: (node, byte) to node, from 0; and which token ends at a node.
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
  std::vector<int> ends_{-1};
  bool begins_[256] = {};
};

}  // namespace assay::text
