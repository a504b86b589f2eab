#include "assay/serve/model_list.h"

#include <fmt/format.h>

#include "assay/serve/api_error.h"
#include "assay/serve/utf8.h"

namespace assay::serve {
namespace {

std::string model_json(const Site& site, std::optional<int> context) {
  const std::string name = json_text(site.model);
  return fmt::format(
      R"({{"id":{},"object":"model","created":{},"owned_by":"assay","root":{},"parent":null,)"
      R"("max_model_len":{},"permission":[]}})",
      name, site.created_s, name, context ? std::to_string(*context) : "null");
}

}  // namespace

net::Response model_list_response(const Site& site, std::optional<int> context) {
  return json_response(
      fmt::format(R"({{"object":"list","data":[{}]}})", model_json(site, context)));
}

net::Response model_response(const Site& site, std::optional<int> context) {
  return json_response(model_json(site, context));
}

net::Response version_response(const Site& site, std::string_view backend) {
  return json_response(
      fmt::format(R"({{"version":{},"backend":{}}})", json_text(site.version), json_text(backend)));
}

}  // namespace assay::serve
