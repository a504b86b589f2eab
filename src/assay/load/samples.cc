#include "assay/load/samples.h"

#include "assay/base/file.h"
#include "assay/base/text.h"
#include "assay/load/result.h"
#include "assay/record/compressed_text.h"

namespace assay::load {
namespace {

constexpr std::size_t kMostBytes = std::size_t{2} << 30;

}  // namespace

Status write_samples(const std::string& path, std::span<const Trace> traces,
                     std::int64_t begin_ns) {
  ASSAY_TRY(AtomicFile file, AtomicFile::create(path));
  Compressor compressor([&](std::string_view text) { return file.write(text); },
                        Compressor::Effort::quick);
  for (const Trace& trace : traces) ASSAY_TRY(compressor.put(trace_line(trace, begin_ns) + '\n'));
  ASSAY_TRY(compressor.end());
  return file.commit();
}

Result<std::vector<Trace>> read_samples(const std::string& path) {
  ASSAY_TRY(const std::string bytes, read_file(path));
  ASSAY_TRY(const std::string text, decompress(bytes, sanitize(path, 200), kMostBytes));
  std::vector<Trace> traces;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    ASSAY_TRY(const JsonDocument document,
              parse_json_document(line, fmt::format("{}, line {}", sanitize(path, 200), number)));
    ASSAY_TRY(Trace trace, read_trace(JsonField(document)));
    traces.push_back(std::move(trace));
  }
  return traces;
}

}  // namespace assay::load
