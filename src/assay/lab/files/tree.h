#pragma once

// What a folder holds at one moment, by content: an attempt is made again from it. Texts are kept
// once each, in runs/objects, so that any attempt can be made again with and without git.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::lab {

struct TreeFile {
  std::string path;    // In the folder.
  std::string kind;    // "file", "program", "link".
  std::string sha256;  // Of its bytes, or of what the link says.

  bool operator==(const TreeFile&) const = default;
};

struct Tree {
  std::vector<TreeFile> files;  // By path.

  std::string text() const;  // One line of JSON.
  std::string hash() const;  // SHA-256 of it.
  Tree only(const std::function<bool(std::string_view path)>& wanted) const;
};

// Names that are never part of a tree, wherever they stand: what tools make, and secrets.
bool is_left_out(std::string_view name);

// Of a folder, its own runs/ left out. invalid_input names a file that is too large to be kept, or
// is of a kind that cannot.
Result<Tree> read_tree(const std::filesystem::path& folder);

// The paths in which two differ, each behind +, - or ~ (in one alone, or with other bytes).
std::vector<std::string> differences(const Tree& before, const Tree& now);

class TreeStore {
 public:
  explicit TreeStore(std::filesystem::path objects) : objects_(std::move(objects)) {}

  // Keeps the texts and the tree itself, durably. `folder` is what it was read from; a file that
  // has changed since is an error (busy).
  Status put(const std::filesystem::path& folder, const Tree& tree) const;
  Result<Tree> get(std::string_view hash) const;
  Result<std::string> text_of(const TreeFile& file) const;
  // Its files below `folder`, which must not have them yet.
  Status write(const Tree& tree, const std::filesystem::path& folder) const;

 private:
  std::filesystem::path object(std::string_view hash) const;
  Status put_bytes(std::string_view hash, std::string_view bytes) const;

  std::filesystem::path objects_;
};

}  // namespace assay::lab
