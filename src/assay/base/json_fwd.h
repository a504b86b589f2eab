#pragma once

// The JSON type without its 20,000 lines, for headers that only pass it along.

#include <nlohmann/json_fwd.hpp>

namespace assay {

using Json = nlohmann::json;  // Objects keep their keys sorted, so equal values print equally.

}  // namespace assay
