#include "assay/serve/messages.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::serve {
namespace {

constexpr std::array<std::string_view, 6> kRoles = {"system",    "developer", "user",
                                                    "assistant", "tool",      "function"};

// None: a part that is no text.
std::optional<std::string> text_of_parts(const Json& parts) {
  std::string text;
  for (const Json& part : parts) {
    if (!part.is_object() || part.value("type", Json()) != "text") return std::nullopt;
    const auto found = part.find("text");
    if (found == part.end() || !found->is_string()) return std::nullopt;
    text += found->get_ref<const std::string&>();
  }
  return text;
}

std::optional<std::string> text_of(const Json& message) {
  const auto content = message.find("content");
  if (content == message.end() || content->is_null()) return std::string();  // Of a tool's call.
  if (content->is_string()) return content->get<std::string>();
  return content->is_array() ? text_of_parts(*content) : std::nullopt;
}

}  // namespace

std::string chat_text(BodyFields& fields, text::ChatTemplate form) {
  const Json* messages = fields.find("messages");
  if (messages == nullptr || !messages->is_array() || messages->empty()) {
    fields.wrong("messages", "must be a list of at least one message");
    return {};
  }
  std::vector<text::ChatMessage> chat;
  for (std::size_t i = 0; i < messages->size(); ++i) {
    const Json& message = (*messages)[i];
    const std::string name = fmt::format("messages[{}]", i);
    const auto role = message.is_object() ? message.find("role") : message.end();
    const std::string named =
        role != message.end() && role->is_string() ? role->get<std::string>() : std::string();
    if (std::ranges::find(kRoles, named) == kRoles.end()) {
      fields.wrong(name + ".role", "must be system, developer, user, assistant, tool or function");
      return {};
    }
    auto text = text_of(message);
    if (!text) {
      fields.wrong(name + ".content", "must be a string, null, or a list of parts of type text");
      return {};
    }
    chat.push_back({named, std::move(*text)});
  }
  return text::render_chat(form, chat);
}

}  // namespace assay::serve
