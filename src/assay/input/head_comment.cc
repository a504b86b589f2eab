#include "assay/input/head_comment.h"

#include <algorithm>

#include "assay/base/text.h"

namespace assay::input {
namespace {

constexpr std::string_view kWord = "assay:";

// A comment's line without its marks: blanks stand for them, so that columns stay what they were.
struct CommentLine {
  int line;
  int comment;  // Lines of one comment have the same number.
  std::string text;

  size_t indent() const { return std::min(text.find_first_not_of(' '), text.size()); }
  bool blank() const { return indent() == text.size(); }
  bool begins() const { return text.compare(indent(), kWord.size(), kWord) == 0; }
};

// Blanks for the first `marks` bytes and for tabs that indent what follows.
std::string blanked(std::string_view line, size_t marks) {
  std::string text(line);
  std::fill_n(text.begin(), std::min(marks, text.size()), ' ');
  for (char& character : text) {
    if (character == '\t') character = ' ';
    if (character != ' ') break;
  }
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

class HeadScanner {
 public:
  HeadScanner(std::string_view text, CommentStyle style) : style_(style) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    lines_ = split(text, '\n');
  }

  std::vector<CommentLine> scan() {
    while (next_ < lines_.size()) {
      const std::string_view line = lines_[next_];
      const std::string_view inner = trim(line);
      const size_t indent = inner.empty() ? 0 : static_cast<size_t>(inner.data() - line.data());
      if (inner.empty()) {
        ++comment_;
        ++next_;
      } else if (style_ == CommentStyle::python) {
        if (!inner.starts_with('#')) break;
        add(line, indent + inner.find_first_not_of('#'), inner);
      } else if (inner.starts_with("//")) {
        add(line, indent + inner.find_first_not_of("/!"), inner);
      } else if (inner.starts_with("/*")) {
        if (!block(indent)) break;
      } else if (inner.starts_with('#')) {
        preprocessor();
      } else {
        break;
      }
    }
    return std::move(comments_);
  }

  // Where a description stands below the head, if one does.
  int late() const {
    for (size_t i = next_; i < lines_.size(); ++i) {
      const std::string_view inner = trim(lines_[i]);
      const size_t word = inner.find(kWord);
      if (word == std::string_view::npos || word == 0) continue;
      const std::string_view marks = trim(inner.substr(0, word));
      if (marks == (style_ == CommentStyle::python ? "#" : "//") || marks == "/*") {
        return static_cast<int>(i) + 1;
      }
    }
    return 0;
  }

 private:
  void add(std::string_view line, size_t marks, std::string_view inner) {
    const bool only_marks = marks == std::string_view::npos || inner.empty();
    comments_.push_back({static_cast<int>(++next_), comment_,
                         blanked(line, only_marks ? line.size() : std::min(marks, line.size()))});
  }

  // A block comment from its first line. False if code follows it on its last line.
  bool block(size_t indent) {
    ++comment_;
    size_t marks = indent + 2;
    for (; next_ < lines_.size(); ++next_) {
      std::string_view line = lines_[next_];
      const size_t end = line.find("*/", marks);
      const bool last = end != std::string_view::npos;
      const std::string_view rest = last ? trim(line.substr(end + 2)) : std::string_view();
      if (last) line = line.substr(0, end);
      // The row of stars that some put down the left side; *name is an alias and stays.
      const size_t star = line.find_first_not_of(" \t", std::min(marks, line.size()));
      if (star != std::string_view::npos && (line[star] == '*' || line[star] == '!') &&
          (star + 1 == line.size() || line[star + 1] == ' ' || line[star + 1] == '\r')) {
        marks = star + 1;
      }
      comments_.push_back({static_cast<int>(next_) + 1, comment_, blanked(line, marks)});
      marks = 0;
      if (last) {
        ++next_;
        ++comment_;
        return rest.empty();
      }
    }
    return false;
  }

  void preprocessor() {
    ++comment_;
    while (next_ < lines_.size() && trim(lines_[next_]).ends_with('\\')) ++next_;
    ++next_;
  }

  CommentStyle style_;
  std::vector<std::string_view> lines_;
  size_t next_ = 0;
  int comment_ = 0;
  std::vector<CommentLine> comments_;
};

// Follows brackets over lines, outside of quotes and of YAML's own comments.
class Brackets {
 public:
  void read(std::string_view text) {
    char previous = ' ';
    for (const char character : text) {
      if (quote_ != 0) {
        if (character == quote_ && !(quote_ == '"' && previous == '\\')) quote_ = 0;
      } else if ((character == '"' || character == '\'') &&
                 std::string_view(" {[,:").find(previous) != std::string_view::npos) {
        quote_ = character;
      } else if (character == '#' && previous == ' ') {
        return;
      } else if (character == '{' || character == '[') {
        ++depth_;
      } else if (character == '}' || character == ']') {
        --depth_;
      }
      previous = character;
    }
  }
  bool open() const { return depth_ > 0; }

 private:
  int depth_ = 0;
  char quote_ = 0;
};

// How many lines of `lines` from `begin` on belong to the description that begins there.
size_t extent(const std::vector<CommentLine>& lines, size_t begin) {
  const CommentLine& first = lines[begin];
  const std::string_view value =
      trim(std::string_view(first.text).substr(first.indent() + kWord.size()));
  const bool braces = value.starts_with('{');
  Brackets brackets;
  brackets.read(value);
  size_t end = begin + 1;
  for (; end < lines.size() && lines[end].comment == first.comment; ++end) {
    const CommentLine& line = lines[end];
    if (braces && !brackets.open()) break;
    if (line.begins() && line.indent() <= first.indent()) break;
    if (!braces && !line.blank() && line.indent() <= first.indent()) break;
    brackets.read(line.text);
  }
  return end - begin;
}

}  // namespace

CommentStyle comment_style(const std::filesystem::path& path) {
  return path.extension() == ".py" ? CommentStyle::python : CommentStyle::c;
}

HeadComments find_head_comments(std::string_view text, CommentStyle style) {
  HeadScanner scanner(text, style);
  const std::vector<CommentLine> lines = scanner.scan();
  HeadComments found;
  found.first_after_code = scanner.late();
  for (size_t i = 0; i < lines.size();) {
    if (!lines[i].begins()) {
      ++i;
      continue;
    }
    HeadComment comment{.line = lines[i].line, .yaml = std::string(lines[i].line - 1, '\n')};
    const size_t count = extent(lines, i);
    for (size_t end = i + count; i < end; ++i) comment.yaml += lines[i].text + "\n";
    found.comments.push_back(std::move(comment));
  }
  return found;
}

}  // namespace assay::input
