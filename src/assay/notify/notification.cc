#include "assay/notify/notification.h"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

namespace assay::notify {
namespace {

template <class Of>
auto texts_of(Of& notification) {
  using Text = decltype(&notification.event);
  return std::array<std::pair<const char*, Text>, 9>{{{"event", &notification.event},
                                                      {"case", &notification.case_name},
                                                      {"run_tag", &notification.run_tag},
                                                      {"state", &notification.state},
                                                      {"description", &notification.description},
                                                      {"reason", &notification.reason},
                                                      {"primary", &notification.primary},
                                                      {"claim", &notification.claim},
                                                      {"best", &notification.best}}};
}

}  // namespace

Json to_json(const Notification& notification) {
  Json json = {
      {"schema", kNotificationSchema}, {"attempt", notification.attempt}, {"at", notification.at}};
  for (const auto& [name, text] : texts_of(notification)) json[name] = *text;
  return json;
}

Result<Notification> read_notification(const Json& json) {
  try {
    if (json.at("schema").get<std::string>() != kNotificationSchema)
      return fail(ErrorCode::invalid_input, "it is no notification of this version");
    Notification notification;
    notification.attempt = json.at("attempt").get<std::int64_t>();
    notification.at = json.at("at").get<std::string>();
    for (const auto& [name, text] : texts_of(notification))
      *text = json.at(name).get<std::string>();
    return notification;
  } catch (const Json::exception&) {
    return fail(ErrorCode::invalid_input, "it lacks what a notification has");
  }
}

}  // namespace assay::notify
