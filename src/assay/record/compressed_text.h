#pragma once

// Text compressed with zstd, piece by piece, and back.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay {

using TextSink = std::function<Status(std::string_view)>;

class Compressor {
 public:
  // Small, as records are kept for good; or quick, for what grows with each request.
  enum class Effort { small, quick };
  explicit Compressor(TextSink sink, Effort effort = Effort::small);
  ~Compressor();

  Status put(std::string_view text);
  Status end();  // Nothing follows.

 private:
  struct State;
  Status put(std::string_view text, bool last);

  std::unique_ptr<State> state_;
  TextSink sink_;
  std::string out_;
};

// Stops at `most_bytes` whatever the frame's header promises. `path` names the text in errors.
Result<std::string> decompress(std::string_view bytes, const std::string& path,
                               std::size_t most_bytes);

}  // namespace assay
