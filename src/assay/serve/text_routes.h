#pragma once

// The routes that make text, or tokens of it.

#include <string_view>

#include "assay/serve/routes.h"

namespace assay::serve {

Answer chat_completions(const RouteContext& context, const net::Request& request,
                        std::string_view rest);
Answer completions(const RouteContext& context, const net::Request& request, std::string_view rest);
Answer tokenize(const RouteContext& context, const net::Request& request, std::string_view rest);
Answer detokenize(const RouteContext& context, const net::Request& request, std::string_view rest);

Answer error_answer(const ApiError& error);
ApiError no_model(const Site& site, std::string_view asked);

}  // namespace assay::serve
