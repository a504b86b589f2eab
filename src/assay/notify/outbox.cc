#include "assay/notify/outbox.h"

#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/text.h"

namespace assay::notify {
namespace {

constexpr std::size_t kMostWaiting = 100;
constexpr std::size_t kMostBytes = std::size_t{4} << 20;

Delivery gone() {
  return {false, false, false, "dead_404", "the webhook answered 404, and is not used again"};
}

}  // namespace

Result<std::vector<Notification>> Outbox::waiting() const {
  std::vector<Notification> all;
  const auto text = read_file(waiting_.string(), kMostBytes);
  if (!text && text.error().code == ErrorCode::not_found) return all;
  if (!text) return fail(text.error());
  int number = 0;
  for (const std::string_view line : split(*text, '\n')) {
    ++number;
    if (line.empty()) continue;
    const auto json = parse_json(line, waiting_.string());
    const auto one = json ? read_notification(*json) : Result<Notification>(fail(json.error()));
    if (!one)
      return fail(ErrorCode::invalid_input,
                  "{}:{}: {}; what waits there is unsent: mend the line, or remove the file",
                  sanitize(waiting_.string(), 300), number, one.error().message);
    all.push_back(*one);
  }
  return all;
}

Status Outbox::write(const std::vector<Notification>& waiting) const {
  std::string text;
  for (const Notification& one : waiting) text += canonical(to_json(one)) + '\n';
  ASSAY_TRY(make_directories(waiting_.parent_path().string()));
  return write_file_atomic(waiting_.string(), text);
}

Status Outbox::keep(const Notification& notification) {
  ASSAY_TRY(std::vector<Notification> all, waiting());
  all.push_back(notification);
  if (all.size() > kMostWaiting) all.erase(all.begin(), all.end() - kMostWaiting);
  return write(all);
}

std::filesystem::path Outbox::dead_mark(const Webhook& webhook) const {
  return dead_ / webhook.identity();
}

bool Outbox::is_dead(const Webhook& webhook) const {
  std::error_code ignored;
  return std::filesystem::exists(dead_mark(webhook), ignored);
}

Status Outbox::note_dead(const Webhook& webhook, const Delivery& delivery) const {
  if (delivery.status != "dead_404") return {};
  ASSAY_TRY(make_directories(dead_.string()));
  return write_file_atomic(dead_mark(webhook).string(), "");
}

Result<Delivery> Outbox::tell(Courier& courier, const Notification& notification,
                              const std::string& png) {
  if (is_dead(courier.webhook())) return gone();
  const Delivery delivery =
      courier.deliver(message_of(courier.webhook().preset, notification, png));
  ASSAY_TRY(note_dead(courier.webhook(), delivery));
  if (!delivery.sent && delivery.later) ASSAY_TRY(keep(notification));
  if (delivery.sent) ASSAY_TRY(flush(courier).map([](const Flushed&) {}));
  return delivery;
}

Result<Outbox::Flushed> Outbox::flush(Courier& courier) {
  ASSAY_TRY(std::vector<Notification> all, waiting());
  Flushed flushed;
  std::vector<Notification> left;
  for (std::size_t i = 0; i < all.size(); ++i) {
    flushed.last = is_dead(courier.webhook())
                       ? gone()
                       : courier.deliver(message_of(courier.webhook().preset, all[i], ""));
    ASSAY_TRY(note_dead(courier.webhook(), flushed.last));
    flushed.sent += flushed.last.sent ? 1 : 0;
    // What the service refuses as it is would be refused for ever.
    const bool refused = !flushed.last.sent && !flushed.last.later && flushed.last.attempted &&
                         flushed.last.status != "dead_404";
    if (flushed.last.sent || refused) continue;
    left.assign(all.begin() + static_cast<std::ptrdiff_t>(i), all.end());
    break;
  }
  flushed.left = static_cast<int>(left.size());
  if (left.size() != all.size()) ASSAY_TRY(write(left));
  return flushed;
}

}  // namespace assay::notify
