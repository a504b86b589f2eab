#include <algorithm>
#include <bit>
#include <cstring>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/select/table_contents.h"
#include "assay/select/table_format.h"
#include "assay/select/table_head.h"

namespace assay {
namespace {

class Writer {
 public:
  template <class Number>
  void number(Number value) {
    auto bits = static_cast<uint64_t>(value);
    for (size_t i = 0; i < sizeof value; ++i, bits >>= 8)
      bytes_ += static_cast<char>(static_cast<unsigned char>(bits & 0xff));
  }
  void text(std::string_view value) { bytes_ += value; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

Status check(const TableContents& contents, const TableProblem& problem) {
  const auto known = [&](const TableChoice& choice) {
    return choice.kernel < contents.kernels.size();
  };
  if (problem.kind < contents.kinds.size() && !problem.choices.empty() &&
      problem.choices.size() <= kMostChoices &&
      problem.measures.size() == contents.kinds[problem.kind].measures &&
      std::all_of(problem.choices.begin(), problem.choices.end(), known))
    return {};
  return fail(ErrorCode::invalid_input,
              "problem {} of the table names a kind or a kernel that is not in it, or has no "
              "choice, or more than {}",
              problem.name, kMostChoices);
}

void write(Writer& out, const TableProblem& problem) {
  out.number(problem.kind);
  out.number(static_cast<uint32_t>(problem.name.size()));
  out.text(problem.name);
  out.number(problem.alignments);
  for (const uint64_t half : problem.signature) out.number(half);
  out.number(static_cast<uint32_t>(problem.measures.size()));
  for (const int64_t measure : problem.measures) out.number(measure);
  out.number(static_cast<uint32_t>(problem.choices.size()));
  for (const TableChoice& choice : problem.choices) {
    out.number(choice.kernel);
    out.number(std::bit_cast<uint64_t>(choice.median_us));
  }
}

}  // namespace

Result<std::string> table_bytes(const TableContents& contents) {
  if (contents.kernels.size() > kMostTableKernels)
    return fail(ErrorCode::invalid_input, "a table of {} kernels: there can be {}",
                contents.kernels.size(), kMostTableKernels);
  Writer body;
  const std::string head = canonical(head_of(contents));
  body.number(uint64_t{head.size()});
  body.text(head);
  body.number(uint64_t{contents.problems.size()});
  for (const TableProblem& problem : contents.problems) {
    ASSAY_TRY(check(contents, problem));
    write(body, problem);
  }
  uint64_t blobs = 0;
  for (const TableKernel& kernel : contents.kernels) blobs += kernel.blob ? 1 : 0;
  body.number(blobs);
  for (const TableKernel& kernel : contents.kernels) {
    if (!kernel.blob) continue;
    body.number(uint64_t{kernel.blob->bytes.size()});
    body.text(kernel.blob->bytes);
  }
  return seal_table(body.take());
}

std::string seal_table(std::string_view body) {
  Writer out;
  out.text(kTableMagic);
  out.number(kTableVersion);
  out.number(uint32_t{0});
  out.number(uint64_t{kTableHeaderBytes + body.size()});
  const Sha256Digest digest = sha256(std::as_bytes(std::span(body)));
  out.text({reinterpret_cast<const char*>(digest.data()), digest.size()});
  out.text(body);
  return out.take();
}

Status write_table(const std::string& path, const TableContents& contents) {
  ASSAY_TRY(const std::string bytes, table_bytes(contents));
  if (bytes.size() > kMostTableBytes)
    return fail(ErrorCode::invalid_input, "the table would have {} bytes, more than {}",
                bytes.size(), kMostTableBytes);
  return write_file_atomic(path, bytes);
}

}  // namespace assay
