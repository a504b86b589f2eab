#pragma once

// Finds the comments at a source file's head that describe its kernels. Not for use outside this
// folder.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::input {

enum class CommentStyle : uint8_t { c, python };

// By the extension: .py is python, all others c.
CommentStyle comment_style(const std::filesystem::path& path);

struct HeadComment {
  int line = 1;  // Of the word assay.
  std::string
      yaml;  // {assay: ...}, with blanks for all else, so that lines and columns are the file's.
};

struct HeadComments {
  std::vector<HeadComment> comments;
  int first_after_code = 0;  // Line of a comment that comes too late; 0: none.
};

// The head ends at the first line that is neither blank, nor a comment, nor (in C) a preprocessor
// line. A description goes on over the lines of the same comment that are indented deeper than the
// word assay; one in braces until they close.
HeadComments find_head_comments(std::string_view text, CommentStyle style);

}  // namespace assay::input
