// What our processes send one another, each message read as what it says it is: {"message": its
// name, "fields", "files": how many descriptors come along}.

#include "tests/fuzz/messages.h"

#include "assay/base/message_channel.h"
#include "assay/process/message.h"
#include "tests/fuzz/fuzz.h"

namespace assay {

ASSAY_FUZZ_TARGET(messages) {
  auto json = parse_json(bytes, "message");
  if (!json) return;
  // Whatever it is, it can pass for an answer, or a request, to whoever waits for one.
  if (const auto request = process::read_request({*json, {}}); !request)
    fuzz::expect_readable(request.error());
  if (const auto reply = process::read_reply({*json, {}}, 7); !reply)
    fuzz::expect_readable(reply.error());
  if (!json->is_object() || !json->contains("message") || !json->contains("fields")) return;
  const Json& name = (*json)["message"];
  const Json files = json->value("files", Json());
  if (!name.is_string()) return;
  fuzz::read_message(
      name.get<std::string>(), (*json)["fields"],
      files.is_number_unsigned() ? std::min(files.get<size_t>(), kMaxMessageFds) : 0);
}

}  // namespace assay
