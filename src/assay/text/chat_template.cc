#include "assay/text/chat_template.h"

#include "assay/base/text.h"

namespace assay::text {
namespace {

std::string turn(ChatTemplate form, const ChatMessage& message) {
  switch (form) {
    case ChatTemplate::roles:
      return message.role + ": " + message.content + "\n";
    case ChatTemplate::chatml:
      return "<|im_start|>" + message.role + "\n" + message.content + "<|im_end|>\n";
    case ChatTemplate::llama3:
      return "<|start_header_id|>" + message.role + "<|end_header_id|>\n\n" +
             std::string(trim(message.content)) + "<|eot_id|>";
  }
  return {};
}

}  // namespace

std::optional<ChatTemplate> chat_template_named(std::string_view name) {
  if (name == "roles") return ChatTemplate::roles;
  if (name == "chatml") return ChatTemplate::chatml;
  if (name == "llama3") return ChatTemplate::llama3;
  return std::nullopt;
}

std::string render_chat(ChatTemplate form, std::span<const ChatMessage> messages) {
  std::string text = form == ChatTemplate::llama3 ? "<|begin_of_text|>" : "";
  for (const ChatMessage& message : messages) text += turn(form, message);
  switch (form) {
    case ChatTemplate::roles:
      return text + "assistant:";
    case ChatTemplate::chatml:
      return text + "<|im_start|>assistant\n";
    case ChatTemplate::llama3:
      return text + "<|start_header_id|>assistant<|end_header_id|>\n\n";
  }
  return text;
}

}  // namespace assay::text
