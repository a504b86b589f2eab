#pragma once

// What YamlField points into: the file's values in one array. Not for use outside this folder.

#include <string>
#include <vector>

#include "assay/input/yaml.h"

namespace assay::input {

struct YamlKey {
  std::string text;
  int line = 1, column = 1;
};

struct YamlNode {
  YamlField::Kind kind = YamlField::Kind::null;
  bool plain = true;  // Scalars: not in quotes, so that it may be a number or a truth value.
  int line = 1, column = 1;
  int height = 0;             // Containers below this one, aliases followed.
  size_t weight = 1;          // This value and all below, aliases expanded.
  std::string text;           // Scalars.
  std::vector<YamlKey> keys;  // Maps: one for each child.
  std::vector<uint32_t> children;
};

struct YamlField::Tree {
  std::string origin;
  std::vector<YamlNode> nodes;
};

}  // namespace assay::input
