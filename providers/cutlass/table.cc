#include "table.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "generation.h"

namespace assay::cutlass {
namespace {

constexpr size_t kMostDesigns = 1 << 16;  // A row's number has to stay below 2^32.

template <class Number>
bool read(std::string_view word, Number& number) {
  const char* const end = word.data() + word.size();
  const auto [behind, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && behind == end;
}

// One table while it is read; each line is what is wrong with it, or empty.
class Reader {
 public:
  Table table;

  std::string line(std::string_view text) {
    if (text.empty() || text.starts_with('#')) return {};
    const auto words = split(text, ' ');
    if (!headed_) return head(words);
    if (words[0] == table.generation->letter) return design(words);
    if (words[0] == "l") return list(words);
    if (words[0] == "g") return group(words);
    return fmt::format("it begins with none of {}, l and g", table.generation->letter);
  }

  std::string end() const {
    int64_t there = 0;
    for (const Group& group : table.groups)
      there += static_cast<int64_t>(table.lists[group.list].size());
    if (!headed_) return "it is no table";
    if (there == table.configurations) return {};
    return fmt::format("its head names {} configurations, and there are {}", table.configurations,
                       there);
  }

 private:
  using Words = std::vector<std::string_view>;

  std::string head(const Words& words) {
    if (words.size() != 6 || words[0] != "assay-cutlass-table" || words[2] != "nvidia-cutlass")
      return "it is no table of configurations";
    if (words[1] != "1") return "it is of a version that this program does not read";
    table.version = words[3];
    table.level = words[4];
    table.generation = generations().front();
    for (const Generation* generation : generations())
      if (generation->level == table.level) table.generation = generation;
    headed_ = read(words[5], table.configurations);
    return headed_ ? "" : "it does not say how many configurations there are";
  }

  std::string design(const Words& words) {
    Design made;
    if (std::string wrong = table.generation->read_design(words, made); !wrong.empty())
      return wrong;
    if (table.designs.size() == kMostDesigns) return "there are too many designs";
    table.designs.push_back(std::move(made));
    return {};
  }

  std::string list(const Words& words) {
    if (words.size() != 2) return "a list is one word";
    std::vector<uint32_t>& designs = table.lists.emplace_back();
    for (const std::string_view part : split(words[1], ',')) {
      const size_t dash = part.find('-');
      uint32_t first = 0, last = 0;
      if (!read(part.substr(0, dash), first)) return "a list is of numbers and ranges";
      last = first;
      if (dash != std::string_view::npos && !read(part.substr(dash + 1), last))
        return "a list is of numbers and ranges";
      if (last < first || last >= table.designs.size() ||
          (!designs.empty() && first <= designs.back()))
        return "a list names a design that is not there, or one twice";
      for (uint32_t i = first; i <= last; ++i) designs.push_back(i);
    }
    return {};
  }

  std::string group(const Words& words) {
    Group made;
    if (words.size() != 10) return "a set of operands has nine words";
    Operands& is = made.operands;
    is.generation = table.generation;
    const auto a = find_dtype(words[1]), d = find_dtype(words[3]),
               accumulate = find_dtype(words[4]);
    if (!a || !d || !accumulate) return "a type is not known";
    is.a = *a;
    is.d = *d;
    is.accumulate = *accumulate;
    is.reads_c = words[2] != "void";
    if (is.reads_c && words[2] != words[3]) return "c is of another type than d";
    for (const std::string_view layout : {words[5], words[6]})
      if (layout != "t" && layout != "n") return "a layout is neither t nor n";
    is.a_row_major = words[5] == "t";
    is.b_row_major = words[6] == "t";
    if (!read(words[7], is.alignment_in) || !read(words[8], is.alignment_out) ||
        is.alignment_in < 1 || is.alignment_in > 16 || is.alignment_out < 1 ||
        is.alignment_out > 16)
      return "an alignment is none";
    if (!read(words[9], made.list) || made.list >= table.lists.size())
      return "it names a list that is not there";
    table.groups.push_back(made);
    return {};
  }

  bool headed_ = false;
};

}  // namespace

bool Operands::d_row_major() const { return generation->d_row_major; }

Result<Table> Table::parse(std::string_view text, std::string_view name) {
  Reader reader;
  int number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    ++number;
    if (const std::string wrong = reader.line(text.substr(0, end)); !wrong.empty())
      return fail(ErrorCode::invalid_input, "{}:{}: {}", name, number, wrong);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (const std::string wrong = reader.end(); !wrong.empty())
    return fail(ErrorCode::invalid_input, "{}: {}", name, wrong);
  return std::move(reader.table);
}

}  // namespace assay::cutlass
