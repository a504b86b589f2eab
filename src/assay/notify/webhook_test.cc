#include "assay/notify/webhook.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/notify/message.h"

namespace assay::notify {
namespace {

TEST(WebhookTest, AUrlWithItsQueryAndWithoutShowingIt) {
  const auto webhook =
      parse_webhook("https://discord.com/api/webhooks/1/s3cret?thread_id=7", Preset::discord);
  ASSERT_TRUE(webhook) << webhook.error().message;
  EXPECT_TRUE(webhook->url.tls);
  EXPECT_EQ(webhook->path("wait=true"), "/api/webhooks/1/s3cret?thread_id=7&wait=true");
  EXPECT_EQ(masked("https://discord.com/api/webhooks/1/s3cret?x=1"), "https://discord.com/…");
  EXPECT_EQ(webhook->identity().find("s3cret"), std::string::npos);
}

// Errors reach logs and records.
TEST(WebhookTest, NoErrorRepeatsTheSecret) {
  for (const char* text :
       {"ftp://host/s3cret", "https://user:s3cret@host/x", "s3cret", "https://host:port/s3cret",
        "https://host/s3cret#part", "http://example.com/s3cret", "https://host/x?s3cret\n"}) {
    const auto webhook = parse_webhook(text, Preset::slack);
    ASSERT_FALSE(webhook) << text;
    EXPECT_EQ(webhook.error().message.find("s3cret"), std::string::npos) << text;
    EXPECT_EQ(masked(text).find("s3cret"), std::string::npos) << text;
  }
}

TEST(WebhookTest, UnencryptedToThisMachineAlone) {
  for (const char* host : {"127.0.0.1:80", "localhost", "[::1]:8080"})
    EXPECT_TRUE(parse_webhook("http://" + std::string(host) + "/x", Preset::json)) << host;
  for (const char* host : {"127.0.0.1.example.com", "10.0.0.1", "localhost.example.com"})
    EXPECT_FALSE(parse_webhook("http://" + std::string(host) + "/x", Preset::json)) << host;
}

Notification hostile() {
  Notification told;
  told.event = "keep";
  told.state = "keep";
  told.case_name = "toy/case";
  told.attempt = 2;
  told.at = "2025-01-31T00:00:00Z";
  told.description = "@everyone [here](https://evil) <!channel> & " + std::string(9000, '*');
  told.primary = "80.0 us";
  return told;
}

TEST(MessageTest, DiscordMentionsNobodyAndKeepsItsLimits) {
  const Message message = message_of(Preset::discord, hostile(), "");
  EXPECT_EQ(message.content_type, "application/json");
  const auto json = parse_json(message.body, "body");
  ASSERT_TRUE(json);
  EXPECT_TRUE((*json)["allowed_mentions"]["parse"].empty());
  const Json& embed = (*json)["embeds"][0];
  const std::string description = embed["description"].get<std::string>();
  EXPECT_TRUE(description.starts_with("\\@everyone \\[here\\]\\(https\\:")) << description;
  EXPECT_LE(description.size(), 4096U);
  EXPECT_LE(embed["title"].get<std::string>().size(), 256U);
  EXPECT_FALSE(embed.contains("image"));
}

TEST(MessageTest, APlotIsAPartOfItsOwn) {
  const std::string png = "\x89PNG\r\n--not-the-line\r\n";
  const Message message = message_of(Preset::discord, hostile(), png);
  const std::string kind = "multipart/form-data; boundary=";
  ASSERT_TRUE(message.content_type.starts_with(kind));
  const std::string line = "--" + message.content_type.substr(kind.size());
  EXPECT_TRUE(message.body.starts_with(line + "\r\n"));
  EXPECT_TRUE(message.body.ends_with("\r\n" + line + "--\r\n"));
  EXPECT_NE(message.body.find("\r\n\r\n" + png + "\r\n" + line), std::string::npos);
  EXPECT_NE(message.body.find("attachment://plot.png"), std::string::npos);
}

TEST(MessageTest, SlackCallsNobody) {
  const auto json = parse_json(message_of(Preset::slack, hostile(), "png").body, "body");
  ASSERT_TRUE(json);
  const std::string text = (*json)["text"].get<std::string>();
  EXPECT_NE(text.find("&lt;!channel&gt; &amp;"), std::string::npos) << text;
  EXPECT_EQ(text.find('<'), std::string::npos);
}

TEST(MessageTest, JsonIsReadAgain) {
  const auto json = parse_json(message_of(Preset::json, hostile(), "png").body, "body");
  ASSERT_TRUE(json);
  const auto read = read_notification(*json);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(hostile()));
  EXPECT_FALSE(read_notification(Json::object()));
}

}  // namespace
}  // namespace assay::notify
