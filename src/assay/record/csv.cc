#include "assay/record/csv.h"

#include <algorithm>
#include <charconv>

#include "assay/base/text.h"

namespace assay {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {}

  Result<std::vector<CsvRow>> read() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (!at_end()) ASSAY_TRY(read_row());
    return std::move(rows_);
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  bool is_next(char c) const { return !at_end() && text_[at_] == c; }

  void advance() {
    if (text_[at_++] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
  }

  tl::unexpected<Error> wrong(int line, int column, std::string_view sentence) const {
    return fail(ErrorCode::invalid_input, "{}:{}:{}: {}", origin_, line, column, sentence);
  }
  tl::unexpected<Error> not_text() const {
    return wrong(line_, column_, "a zero byte: this is not a text file");
  }

  Status read_row() {
    CsvRow row;
    for (;;) {
      ASSAY_TRY(CsvCell cell, read_cell());
      if (row.size() == kMaxCsvColumns || ++cells_ > kMaxCsvCells) {
        return wrong(cell.line, cell.column,
                     row.size() == kMaxCsvColumns
                         ? fmt::format("more than {} cells in one line", kMaxCsvColumns)
                         : fmt::format("more than {} cells; split the file", kMaxCsvCells));
      }
      row.push_back(std::move(cell));
      if (!is_next(',')) break;
      advance();
    }
    if (!at_end()) advance();
    const bool blank = row.size() == 1 && trim(row.front().text).empty();
    if (!blank) rows_.push_back(std::move(row));
    return {};
  }

  Result<CsvCell> read_cell() {
    const std::size_t first = text_.find_first_not_of(" \t", at_);
    if (first != std::string_view::npos && text_[first] == '"') {
      while (at_ < first) advance();
      return read_quoted();
    }
    CsvCell cell{{}, line_, column_};
    const std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
    while (at_ < end) {
      if (text_[at_] == '\0') return not_text();
      if (text_[at_] != '\r') cell.text += text_[at_];
      advance();
    }
    return cell;
  }

  Result<CsvCell> read_quoted() {
    CsvCell cell{{}, line_, column_};
    advance();
    for (;;) {
      if (at_end()) {
        return wrong(cell.line, cell.column, "this quoted cell has no closing quote; add it");
      }
      const char c = text_[at_];
      if (c == '\0') return not_text();
      advance();
      if (c == '"') {
        if (!is_next('"')) break;
        advance();
      }
      cell.text += c;
    }
    while (is_next(' ') || is_next('\t') || is_next('\r')) advance();
    if (!at_end() && !is_next(',') && !is_next('\n')) {
      return wrong(line_, column_,
                   "text follows a closing quote; a quote inside a cell is written twice");
    }
    return cell;
  }

  std::string_view text_, origin_;
  std::size_t at_ = 0, cells_ = 0;
  int line_ = 1, column_ = 1;
  std::vector<CsvRow> rows_;
};

// Guarded or not.
bool may_be_formula(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('\''), text.size()));
  return !text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos;
}

bool is_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<std::vector<CsvRow>> read_csv(std::string_view text, std::string_view origin) {
  return CsvReader(text, origin).read();
}

std::string csv_text(std::string_view text) {
  std::string safe = sanitize(text);
  return may_be_formula(safe) && !is_number(safe) ? "'" + safe : safe;
}

std::string_view without_csv_guard(std::string_view text) {
  const bool guarded = text.starts_with('\'') && may_be_formula(text.substr(1));
  return guarded ? text.substr(1) : text;
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos && text == trim(text)) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace assay
