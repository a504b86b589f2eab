#include "assay/net/sse_frame.h"

namespace assay::net {

std::string data_frame(std::string_view json) {
  std::string frame;
  frame.reserve(kFrameBegin.size() + json.size() + kFrameEnd.size());
  return frame.append(kFrameBegin).append(json).append(kFrameEnd);
}

}  // namespace assay::net
