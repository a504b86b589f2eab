#include "assay/record/compressed_text.h"

#include <zstd.h>

#include "assay/base/text.h"

namespace assay {
namespace {

// Level 9 halves a record of integers again for a few milliseconds; higher levels gain little.
constexpr int kSmallLevel = 9, kQuickLevel = 1;

}  // namespace

struct Compressor::State {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context{ZSTD_createCCtx(), &ZSTD_freeCCtx};
};

Compressor::Compressor(TextSink sink, Effort effort)
    : state_(std::make_unique<State>()), sink_(std::move(sink)), out_(ZSTD_CStreamOutSize(), '\0') {
  if (state_->context != nullptr)
    ZSTD_CCtx_setParameter(state_->context.get(), ZSTD_c_compressionLevel,
                           effort == Effort::small ? kSmallLevel : kQuickLevel);
}

Compressor::~Compressor() = default;

Status Compressor::put(std::string_view text) { return put(text, false); }
Status Compressor::end() { return put({}, true); }

Status Compressor::put(std::string_view text, bool last) {
  if (state_->context == nullptr) return fail(ErrorCode::machine, "no memory to compress");
  ZSTD_inBuffer input{text.data(), text.size(), 0};
  for (;;) {
    ZSTD_outBuffer output{out_.data(), out_.size(), 0};
    const std::size_t left = ZSTD_compressStream2(state_->context.get(), &output, &input,
                                                  last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left)) return fail(ErrorCode::machine, "zstd: {}", ZSTD_getErrorName(left));
    ASSAY_TRY(sink_(std::string_view(out_).substr(0, output.pos)));
    const bool done = last ? left == 0 : input.pos == input.size;
    if (done) return {};
  }
}

Result<std::string> decompress(std::string_view bytes, const std::string& path,
                               std::size_t most_bytes) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                     &ZSTD_freeDCtx);
  if (context == nullptr) return fail(ErrorCode::machine, "{}: no memory to decompress", path);
  std::string out;
  std::string chunk(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  std::size_t wanted = 1;
  // Also what the decoder still holds back once the input is used up.
  while (input.pos < input.size || wanted != 0) {
    const bool used_up = input.pos == input.size;
    ZSTD_outBuffer output{chunk.data(), chunk.size(), 0};
    wanted = ZSTD_decompressStream(context.get(), &output, &input);
    if (ZSTD_isError(wanted))
      return fail(ErrorCode::invalid_input, "{}: not zstd, or damaged: {}", path,
                  ZSTD_getErrorName(wanted));
    if (used_up && output.pos == 0) return fail(ErrorCode::invalid_input, "{}: cut short", path);
    if (out.size() + output.pos > most_bytes)
      return fail(ErrorCode::invalid_input, "{}: more than {} once decompressed", path,
                  format_bytes(static_cast<double>(most_bytes)));
    out.append(chunk.data(), output.pos);
  }
  return out;
}

}  // namespace assay
