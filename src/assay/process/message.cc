#include "assay/process/message.h"

#include <algorithm>
#include <csignal>
#include <unistd.h>

#include "assay/base/archive.h"
#include "assay/base/text.h"

namespace assay::process {
namespace {

constexpr size_t kMostNotes = 8;  // Of one answer.
constexpr size_t kMostNoteBytes = 600;
// Of an error's message: what a compiler printed is in some.
constexpr size_t kMostErrorBytes = size_t{1} << 20;

tl::unexpected<Error> malformed(std::string_view what) {
  return fail(ErrorCode::invalid_input, "{}", what);
}

Result<uint64_t> ticket_of(const Json& json) {
  const auto ticket = json.is_object() ? json.find("ticket") : json.end();
  if (ticket == json.end() || !ticket->is_number_unsigned())
    return malformed("a message without a ticket");
  return ticket->get<uint64_t>();
}

// The error that a child tells, whatever its fields hold.
Result<Error> told_error(const Json& json) {
  const auto code = json.is_object() ? json.find("code") : json.end();
  const auto message = json.is_object() ? json.find("message") : json.end();
  if (code == json.end() || message == json.end() || json.size() != 2)
    return malformed("an error that is none");
  if (!code->is_number_unsigned() ||
      code->get<uint64_t>() > static_cast<uint64_t>(ErrorCode::internal))
    return malformed("an error of no kind");
  if (!message->is_string() || message->get_ref<const std::string&>().size() > kMostErrorBytes)
    return malformed("an error without a sentence");
  return Error{static_cast<ErrorCode>(code->get<uint64_t>()), message->get<std::string>()};
}

Result<std::vector<std::string>> told_notes(const Json& json) {
  if (!json.is_array()) return malformed("notes that are no list");
  std::vector<std::string> notes;
  for (const Json& note : json) {
    if (!note.is_string()) return malformed("a note that is no text");
    if (notes.size() < kMostNotes)
      notes.push_back(sanitize(note.get_ref<const std::string&>(), kMostNoteBytes));
  }
  return notes;
}

}  // namespace

Files::Files(std::vector<UniqueFd> received) : owned_(std::move(received)) {
  for (const UniqueFd& fd : owned_) numbers_.push_back(fd.get());
}

void Files::add(UniqueFd fd) {
  numbers_.push_back(fd.get());
  owned_.push_back(std::move(fd));
}

std::vector<UniqueFd> Files::take() {
  numbers_.clear();
  return std::exchange(owned_, {});
}

Json write_request(std::string_view what, uint64_t ticket, Json fields) {
  Json json = {{"do", what}, {"ticket", ticket}};
  json["with"] = std::move(fields);
  return json;
}

Result<ReadRequest> read_request(Message message) {
  ASSAY_TRY(const uint64_t ticket, ticket_of(message.json));
  const auto what = message.json.find("do"), fields = message.json.find("with");
  if (what == message.json.end() || !what->is_string() || fields == message.json.end() ||
      message.json.size() != 3)
    return malformed("a request that is none");
  ReadRequest request{what->get<std::string>(), ticket, std::move(*fields),
                      Files(std::move(message.fds))};
  // So that what is asked for does not lie about while it is done.
  message.json["ticket"] = nullptr;
  return request;
}

Json write_reply(uint64_t ticket, Reply& reply) {
  Json json = {{"ticket", ticket}};
  json["answer"] = std::move(reply.fields);
  json["notes"] = std::move(reply.notes);
  return json;
}

Json write_error(uint64_t ticket, const Error& error) {
  return {{"ticket", ticket},
          {"error",
           {{"code", static_cast<unsigned>(error.code)},
            {"message", error.message.substr(0, kMostErrorBytes)}}}};
}

Result<ReadReply> read_reply(Message message, uint64_t ticket) {
  Json& json = message.json;
  const auto answered = ticket_of(json);
  if (!answered || *answered != ticket) return malformed("an answer to nothing that was asked");
  if (const auto error = json.find("error"); error != json.end()) {
    ASSAY_TRY(Error told, told_error(*error));
    if (json.size() != 2 || !message.fds.empty())
      return malformed("an error and something besides");
    return ReadReply(fail(std::move(told)));
  }
  const auto fields = json.find("answer"), notes = json.find("notes");
  if (fields == json.end() || notes == json.end() || json.size() != 3)
    return malformed("an answer that is none");
  Reply reply;
  ASSAY_TRY(reply.notes, told_notes(*notes));
  reply.fields = std::move(*fields);
  reply.files = Files(std::move(message.fds));
  return ReadReply(std::move(reply));
}

void serve(MessageChannel& channel, const std::function<Result<Reply>(ReadRequest)>& handle) {
  const pid_t self = ::getpid();
  for (;;) {
    auto message = channel.receive();
    if (!message) return;
    auto request = read_request(std::move(*message));
    if (!request) return;
    const uint64_t ticket = request->ticket;
    auto reply = handle(std::move(*request));
    // A candidate forked, and went on in both: one of them answers.
    if (::getpid() != self) ::kill(::getpid(), SIGKILL);
    const Status sent = reply ? channel.send(write_reply(ticket, *reply), reply->files.numbers())
                              : channel.send(write_error(ticket, reply.error()));
    if (!sent) return;
  }
}

}  // namespace assay::process
