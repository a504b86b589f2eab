#include "table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "assay/base/text.h"

namespace assay::cutlass {
namespace {

constexpr std::array<std::string_view, 6> kSchedules = {
    "auto", "tma", "pingpong", "cooperative", "cpasync", "cpasync_cooperative"};
constexpr std::array<std::string_view, 3> kEpilogues = {"auto", "direct", "tma"};
constexpr std::array<std::string_view, 2> kSchedulers = {"persistent", "stream_k"};
constexpr size_t kMostDesigns = 1 << 16;  // A row's number has to stay below 2^32.

template <class Number>
bool read(std::string_view word, Number& number) {
  const char* const end = word.data() + word.size();
  const auto [behind, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && behind == end;
}

template <size_t kCount>
bool is_one_of(const std::array<std::string_view, kCount>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// One table while it is read; each line is what is wrong with it, or empty.
class Reader {
 public:
  Table table;

  std::string line(std::string_view text) {
    if (text.empty() || text.starts_with('#')) return {};
    const auto words = split(text, ' ');
    if (!headed_) return head(words);
    if (words[0] == "d" && table.generation == Generation::sm90) return design(words);
    if (words[0] == "m" && table.generation == Generation::sm80) return multistage(words);
    if (words[0] == "l") return list(words);
    if (words[0] == "g") return group(words);
    return "it begins with none of d (m of sm80), l and g";
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
    if (table.level == "sm80") table.generation = Generation::sm80;
    headed_ = read(words[5], table.configurations);
    return headed_ ? "" : "it does not say how many configurations there are";
  }

  std::string design(const Words& words) {
    Design made;
    if (words.size() != 10) return "a design has nine words";
    int* const numbers[] = {&made.tile_m,    &made.tile_n,    &made.tile_k,
                            &made.cluster_m, &made.cluster_n, &made.stages};
    for (size_t i = 0; i < std::size(numbers); ++i)
      if (!read(words[i + 1], *numbers[i]) || *numbers[i] < (i == 5 ? 0 : 1) || *numbers[i] > 1024)
        return "a tile, cluster or number of stages is none";
    if (!is_one_of(kSchedules, words[7]) || !is_one_of(kEpilogues, words[8]) ||
        !is_one_of(kSchedulers, words[9]))
      return "a schedule, epilogue or tile scheduler is not known";
    made.schedule = words[7];
    made.epilogue = words[8];
    made.scheduler = words[9];
    if (table.designs.size() == kMostDesigns) return "there are too many designs";
    table.designs.push_back(std::move(made));
    return {};
  }

  std::string multistage(const Words& words) {
    Design made;
    if (words.size() != 7) return "a design has six words";
    int* const numbers[] = {&made.tile_m,  &made.tile_n,  &made.tile_k,
                            &made.warps_m, &made.warps_n, &made.stages};
    for (size_t i = 0; i < std::size(numbers); ++i)
      if (!read(words[i + 1], *numbers[i]) || *numbers[i] < 1 || *numbers[i] > 1024)
        return "a tile, number of warps or of stages is none";
    if (made.tile_m % made.warps_m != 0 || made.tile_n % made.warps_n != 0)
      return "warps do not divide their tile";
    made.schedule = "multistage";
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
