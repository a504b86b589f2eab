#pragma once

// The model that is served, as its endpoints tell it.

#include <optional>
#include <string_view>

#include "assay/net/http.h"
#include "assay/serve/routes.h"

namespace assay::serve {

// `context`: tokens of prompt and answer together; none: it is not known.
net::Response model_list_response(const Site& site, std::optional<int> context);
net::Response model_response(const Site& site, std::optional<int> context);
net::Response version_response(const Site& site, std::string_view backend);

}  // namespace assay::serve
