#include "assay/notify/message.h"

#include <nlohmann/json.hpp>

#include "assay/base/hash.h"
#include "assay/base/json.h"
#include "assay/base/text.h"

namespace assay::notify {
namespace {

constexpr std::size_t kMostTitle = 256, kMostDescription = 1000, kMostField = 1024;  // Discord's.
constexpr int kGreen = 0x2e9e5b, kGrey = 0x8a8f98, kRed = 0xc8443c;

std::string title_of(const Notification& notification) {
  std::string title = notification.case_name;
  if (notification.attempt > 0) title += fmt::format(", attempt {}", notification.attempt);
  return title + ": " + (notification.state.empty() ? notification.event : notification.state);
}

// With a backslash before whatever would be markup.
std::string plain(std::string_view text, std::size_t most) {
  std::string out;
  for (const char c : sanitize(text, most / 2)) {
    if (std::string_view("\\*_~`|<>[]()#@:").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

int colour_of(const Notification& notification) {
  if (notification.event == "keep" || notification.event == "baseline") return kGreen;
  return notification.event == "crash" ? kRed : kGrey;
}

Json discord_embed(const Notification& notification, bool has_image) {
  Json fields = Json::array();
  for (const auto& [name, value] :
       {std::pair<const char*, const std::string*>{"objective", &notification.primary},
        {"gain", &notification.claim},
        {"best", &notification.best},
        {"reason", &notification.reason},
        {"climb", &notification.run_tag}})
    if (!value->empty())
      fields.push_back({{"name", name}, {"value", plain(*value, kMostField)}, {"inline", true}});
  Json embed = {{"title", plain(title_of(notification), kMostTitle)},
                {"description", plain(notification.description, kMostDescription)},
                {"color", colour_of(notification)},
                {"timestamp", notification.at},
                {"fields", std::move(fields)}};
  if (has_image) embed["image"] = {{"url", "attachment://plot.png"}};
  return embed;
}

Message discord(const Notification& notification, const std::string& png) {
  Json payload = {{"embeds", Json::array({discord_embed(notification, !png.empty())})},
                  {"allowed_mentions", {{"parse", Json::array()}}}};
  if (png.empty()) return {"application/json", canonical(payload)};
  payload["attachments"] = Json::array({{{"id", 0}, {"filename", "plot.png"}}});
  const std::string text = canonical(payload);
  // What a part holds cannot hold the line between parts, by all odds: it is a digest of both.
  const std::string line = "assay-" + sha256_hex(text + png).substr(0, 32);
  return {"multipart/form-data; boundary=" + line,
          fmt::format("--{0}\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n"
                      "Content-Type: application/json\r\n\r\n{1}\r\n"
                      "--{0}\r\nContent-Disposition: form-data; name=\"files[0]\"; "
                      "filename=\"plot.png\"\r\nContent-Type: image/png\r\n\r\n",
                      line, text) +
              png + fmt::format("\r\n--{}--\r\n", line)};
}

// Slack's three characters are entities, so that no text is a link or calls anybody.
std::string slack_text(std::string_view text) {
  std::string out;
  for (const char c : sanitize(text, kMostField)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

Message slack(const Notification& notification) {
  std::string text = title_of(notification);
  for (const std::string* part : {&notification.description, &notification.primary,
                                  &notification.claim, &notification.reason})
    if (!part->empty()) text += "\n" + *part;
  if (!notification.best.empty()) text += "\nbest: " + notification.best;
  std::string shown;
  for (const std::string_view line : split(text, '\n'))
    shown += (shown.empty() ? "" : "\n") + slack_text(line);
  return {"application/json", canonical({{"text", shown}, {"mrkdwn", false}})};
}

}  // namespace

Message message_of(Preset preset, const Notification& notification, const std::string& png) {
  switch (preset) {
    case Preset::discord:
      return discord(notification, png);
    case Preset::slack:
      return slack(notification);
    case Preset::json:
      break;
  }
  return {"application/json", canonical(to_json(notification))};
}

}  // namespace assay::notify
