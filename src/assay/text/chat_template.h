#pragma once

// The messages of a chat as one text, as models were trained on it.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace assay::text {

struct ChatMessage {
  std::string role, content;
};

enum class ChatTemplate {
  roles,   // "user: ..." on lines: for models without a template of their own.
  chatml,  // Qwen's, SmolLM2's and others'.
  llama3,
};

std::optional<ChatTemplate> chat_template_named(std::string_view name);
// The text ends where the assistant's answer begins.
std::string render_chat(ChatTemplate form, std::span<const ChatMessage> messages);

}  // namespace assay::text
