#pragma once

// How events of a stream are framed (text/event-stream): one line of data each. sse_reader.h
// reads them.

#include <string>
#include <string_view>

namespace assay::net {

inline constexpr std::string_view kFrameBegin = "data: ", kFrameEnd = "\n\n";
inline constexpr std::string_view kDoneFrame = "data: [DONE]\n\n";

std::string data_frame(std::string_view json);

}  // namespace assay::net
