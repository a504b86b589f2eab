#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/select/table_contents.h"
#include "assay/select/table_format.h"
#include "assay/select/table_head.h"

namespace assay {
namespace {

constexpr size_t kSmallestProblem = 4 + 4 + 8 + 16 + 4 + 4;
constexpr uint64_t kMostAlignment = 40;  // log2: no machine has pages of more.

// Takes numbers and texts off the front; what is not there is an error with its place.
class Reader {
 public:
  Reader(std::string_view bytes, std::string_view origin) : bytes_(bytes), origin_(origin) {}

  template <class Number>
  Status number(Number& value) {
    if (left() < sizeof value) return cut_off();
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof value; ++i)
      bits |= uint64_t{static_cast<unsigned char>(bytes_[at_ + i])} << 8 * i;
    value = static_cast<Number>(bits);
    at_ += sizeof value;
    return {};
  }
  Result<std::string_view> text(uint64_t size) {
    if (size > left()) return cut_off();
    const std::string_view taken = bytes_.substr(at_, size);
    at_ += size;
    return taken;
  }
  // How many things follow, each of at least `smallest` bytes: so that no number makes us reserve
  // more than the file holds.
  Result<size_t> count(uint64_t number, size_t smallest, std::string_view what) {
    if (number > left() / smallest)
      return wrong(
          fmt::format("it says that {} {} follow, and is too short for them", number, what));
    return static_cast<size_t>(number);
  }
  size_t left() const { return bytes_.size() - at_; }
  tl::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorCode::invalid_input, "{}: not a tuned table: at byte {}: {}",
                sanitize(origin_, 400), at_, what);
  }

 private:
  tl::unexpected<Error> cut_off() const { return wrong("it ends where more should follow"); }

  std::string_view bytes_;
  std::string_view origin_;
  size_t at_ = 0;
};

Result<std::string_view> checked_body(std::string_view bytes, std::string_view origin) {
  Reader in(bytes, origin);
  if (!bytes.starts_with(kTableMagic))
    return in.wrong("it does not begin as one; `assay sweep --save-table FILE` makes them");
  ASSAY_TRY(in.text(kTableMagic.size()).map([](auto) {}));
  uint32_t version = 0, zero = 0;
  uint64_t size = 0;
  ASSAY_TRY(in.number(version));
  if (version != kTableVersion)
    return fail(ErrorCode::invalid_input,
                "{}: a tuned table of format version {}; this assay reads version {}",
                sanitize(origin, 400), version, kTableVersion);
  ASSAY_TRY(in.number(zero));
  if (zero != 0) return in.wrong("a reserved field is not zero");
  ASSAY_TRY(in.number(size));
  if (size != bytes.size())
    return in.wrong(fmt::format("it has {} bytes and says that it has {}", bytes.size(), size));
  ASSAY_TRY(const std::string_view checksum, in.text(32));
  const std::string_view body = bytes.substr(kTableHeaderBytes);
  const Sha256Digest digest = sha256(std::as_bytes(std::span(body)));
  if (checksum != std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()))
    return in.wrong("its checksum is not that of its bytes: it was damaged or changed");
  return body;
}

Status read_measures(Reader& in, const TableKind& kind, TableProblem& problem) {
  uint32_t count = 0;
  ASSAY_TRY(in.number(count));
  if (count != kind.measures)
    return in.wrong(fmt::format("{} measures, where its kind has {}", count, kind.measures));
  for (uint32_t i = 0; i < count; ++i) {
    int64_t& measure = problem.measures.emplace_back();
    ASSAY_TRY(in.number(measure));
    const int64_t least = i < kind.dimensions.size() ? 1 : 0;
    if (measure < least) return in.wrong(fmt::format("a size or stride of {}", measure));
  }
  return {};
}

Status read_choices(Reader& in, size_t kernels, TableProblem& problem) {
  uint32_t count = 0;
  ASSAY_TRY(in.number(count));
  if (count == 0 || count > kMostChoices)
    return in.wrong(fmt::format("{} choices: there must be 1 to {}", count, kMostChoices));
  for (uint32_t i = 0; i < count; ++i) {
    TableChoice& choice = problem.choices.emplace_back();
    ASSAY_TRY(in.number(choice.kernel));
    if (choice.kernel >= kernels)
      return in.wrong(fmt::format("kernel {} of {}", choice.kernel, kernels));
    uint64_t bits = 0;
    ASSAY_TRY(in.number(bits));
    choice.median_us = std::bit_cast<double>(bits);
    if (!std::isfinite(choice.median_us) || choice.median_us < 0)
      return in.wrong("a time that is none");
  }
  return {};
}

Status read_problem(Reader& in, const TableContents& contents, TableProblem& problem) {
  ASSAY_TRY(in.number(problem.kind));
  if (problem.kind >= contents.kinds.size())
    return in.wrong(fmt::format("kind {} of {}", problem.kind, contents.kinds.size()));
  uint32_t name = 0;
  ASSAY_TRY(in.number(name));
  ASSAY_TRY(const std::string_view text, in.text(name));
  if (!matches_name_rule(text)) return in.wrong("a problem's name that is none");
  problem.name = text;
  ASSAY_TRY(in.number(problem.alignments));
  for (uint64_t rest = problem.alignments; rest != 0; rest >>= 8)
    if ((rest & 0xff) > kMostAlignment) return in.wrong("an alignment that no operand can have");
  for (uint64_t& half : problem.signature) ASSAY_TRY(in.number(half));
  ASSAY_TRY(read_measures(in, contents.kinds[problem.kind], problem));
  return read_choices(in, contents.kernels.size(), problem);
}

Status read_problems(Reader& in, TableContents& contents) {
  uint64_t number = 0;
  ASSAY_TRY(in.number(number));
  ASSAY_TRY(const size_t count, in.count(number, kSmallestProblem, "problems"));
  contents.problems.reserve(count);
  std::set<std::pair<uint32_t, std::vector<int64_t>>> seen;
  for (size_t i = 0; i < count; ++i) {
    TableProblem& problem = contents.problems.emplace_back();
    ASSAY_TRY(read_problem(in, contents, problem));
    if (!seen.emplace(problem.kind, problem.measures).second)
      return in.wrong(fmt::format("problem {} stands there twice", problem.name));
  }
  return {};
}

Status read_blobs(Reader& in, TableHead& head) {
  uint64_t number = 0;
  ASSAY_TRY(in.number(number));
  ASSAY_TRY(const size_t count, in.count(number, sizeof(uint64_t), "blobs"));
  std::vector<std::string_view> blobs;
  for (size_t i = 0; i < count; ++i) {
    uint64_t size = 0;
    ASSAY_TRY(in.number(size));
    ASSAY_TRY(blobs.emplace_back(), in.text(size));
  }
  if (in.left() != 0) return in.wrong("more bytes follow the end");
  size_t next = 0;  // Each blob is of one kernel, in their order.
  for (size_t i = 0; i < head.blob_of.size(); ++i) {
    if (!head.blob_of[i]) continue;
    TableKernel& kernel = head.contents.kernels[i];
    if (*head.blob_of[i] != next || next >= count)
      return in.wrong(fmt::format("{} says that its code is blob {}, where blob {} of {} is next",
                                  sanitize(kernel.label(), 200), *head.blob_of[i], next, count));
    const std::string_view bytes = blobs[next++];
    const std::string hash =
        sha256_hex(canonical({{"bytes", sha256_hex(bytes)}, {"facts", kernel.artifact_facts}}));
    if (hash != kernel.artifact_hash)
      return in.wrong(fmt::format("the code of {} does not have the hash in the table",
                                  sanitize(kernel.label(), 200)));
    kernel.blob->bytes = bytes;
  }
  if (next != count) return in.wrong("there is code of no kernel");
  return {};
}

}  // namespace

Result<TableContents> parse_table(std::string_view bytes, std::string_view origin) {
  ASSAY_TRY(const std::string_view body, checked_body(bytes, origin));
  Reader in(body, origin);
  uint64_t size = 0;
  ASSAY_TRY(in.number(size));
  ASSAY_TRY(const std::string_view text, in.text(size));
  ASSAY_TRY(TableHead head, read_head(text, origin));
  ASSAY_TRY(read_problems(in, head.contents));
  ASSAY_TRY(read_blobs(in, head));
  return std::move(head.contents);
}

bool is_table_file(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return false;
  std::string start(kTableMagic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(start.data(), static_cast<std::streamsize>(start.size())) &&
         start == kTableMagic;
}

Result<TableContents> read_table_file(const std::string& path) {
  ASSAY_TRY(const std::string bytes, read_file(path, kMostTableBytes));
  return parse_table(bytes, path);
}

}  // namespace assay
