#pragma once

// How our processes ask one another: a request is a struct with a name and an Answer (messages.h),
// and this is how both travel. On the channel a request is {"do": name, "ticket": number, "with":
// fields}, and its answer repeats the ticket: {"ticket", "answer": fields, "notes": sentences}, or
// {"ticket", "error": {"code", "message"}}. Whoever reads one takes nothing for granted: the other
// process may run a user's code.

#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "assay/base/fd.h"
#include "assay/base/json.h"
#include "assay/base/message_channel.h"
#include "assay/base/result.h"

namespace assay::process {

// Descriptors beside a message. Whoever sends it may lend them; whoever receives it owns them.
class Files {
 public:
  Files() = default;
  explicit Files(std::vector<UniqueFd> received);
  void lend(int fd) { numbers_.push_back(fd); }
  void add(UniqueFd fd);
  size_t size() const { return numbers_.size(); }
  bool empty() const { return numbers_.empty(); }
  int operator[](size_t index) const { return numbers_[index]; }
  std::span<const int> numbers() const { return numbers_; }
  std::vector<UniqueFd> take();  // Those that are owned, in their order.

 private:
  std::vector<int> numbers_;
  std::vector<UniqueFd> owned_;
};

// A message that has a member `files` of this type takes descriptors along; no other may.
template <class M>
concept HasFiles = requires(M& message) {
  { message.files } -> std::same_as<Files&>;
};

// A message's fields as JSON, and back, by its one description (codec.h, used where the
// descriptions are). read() refuses fields that are missing, unknown, of another type or out of
// their range, and descriptors that belong to none: its sentence names the field.
template <class M>
struct Codec {
  static Json write(const M& message);
  static Result<M> read(Json fields, Files files = {});
};

// As it comes out of the channel.
struct ReadRequest {
  std::string what;
  uint64_t ticket = 0;
  Json fields;
  Files files;
};
Json write_request(std::string_view what, uint64_t ticket, Json fields);
Result<ReadRequest> read_request(Message message);

struct Reply {
  Json fields;
  std::vector<std::string> notes;  // For the user.
  Files files;
};
Json write_reply(uint64_t ticket, Reply& reply);
Json write_error(uint64_t ticket, const Error& error);

// An answer, or the error that was answered. Its notes, at most a few, are safe to show.
using ReadReply = Result<Reply>;
// ticket: of the request. An error of this itself says that the message is no answer to it.
Result<ReadReply> read_reply(Message message, uint64_t ticket);

// Requests that one process takes. Its handler has an `answer` for each of them:
// Result<R::Answer> answer(R request).
template <class... R>
struct Requests {
  static bool has(std::string_view what) { return ((what == R::kName) || ...); }

  template <class Handler>
  static Result<Reply> answer(Handler& handler, ReadRequest request) {
    Result<Reply> reply =
        fail(ErrorCode::internal, "this process is never asked to '{}'", request.what);
    (void)((request.what == R::kName && (reply = answer_one<R>(handler, request), true)) || ...);
    return reply;
  }

 private:
  template <class One, class Handler>
  static Result<Reply> answer_one(Handler& handler, ReadRequest& request) {
    auto asked = Codec<One>::read(std::move(request.fields), std::move(request.files));
    // Whoever asks is of ours, and runs no users' code.
    if (!asked) return fail(ErrorCode::internal, "{}", asked.error().message);
    ASSAY_TRY(auto answered, handler.answer(std::move(*asked)));
    Reply reply{Codec<typename One::Answer>::write(answered), {}, {}};
    if constexpr (HasFiles<typename One::Answer>) reply.files = std::move(answered.files);
    return reply;
  }
};

// Answers each request by `handle`, whose errors become error answers. Returns at end of file.
void serve(MessageChannel& channel, const std::function<Result<Reply>(ReadRequest)>& handle);

}  // namespace assay::process
