#pragma once

// A crew whose children are no processes. What a stage asks them goes, as bytes, through the
// messages' own descriptions, and is answered here: by a worker that knows some kernels and a
// referee that knows which of them are wrong, or by what a test says for one request.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "assay/base/json_bytes.h"
#include "assay/process/messages.h"
#include "assay/sweep/crew.h"

namespace assay::sweep::testing {

// What a kernel does, by its name.
struct FakeKernel {
  double launch_ns = 1e5;
  bool right = true;
  process::Prove::Answer::Launch facts;  // But for its outputs and times.
};

class FakeChildren {
 public:
  FakeChildren();

  StartChild starter();

  std::map<std::string, FakeKernel> kernels;
  std::vector<process::OfferedKernel> offered;  // As a discovery lists them.
  int64_t resident_bytes = 0;                   // Of each.
  // What was asked, by all children in turn: names of requests.
  std::vector<std::string> history;
  size_t count_asked(std::string_view what) const;

  // Answers such a request, from now on.
  template <class R>
  void on(std::function<CallResult<typename R::Answer>(const R& request)> answer) {
    methods_[R::kName] =
        [answer = std::move(answer)](process::ReadRequest request) -> CallResult<process::Reply> {
      auto read = process::Codec<R>::read(std::move(request.fields), std::move(request.files));
      if (!read) return tl::unexpected<CallFailure>(read.error());
      auto answered = answer(*read);
      if (!answered) return tl::unexpected(std::move(answered).error());
      process::Reply reply{process::Codec<typename R::Answer>::write(*answered), {}, {}};
      if constexpr (process::HasFiles<typename R::Answer>) reply.files = std::move(answered->files);
      return reply;
    };
  }
  // Says that, whatever it may be.
  template <class R>
  void lie(Json fields) {
    methods_[R::kName] = [fields = std::move(fields)](const process::ReadRequest&) {
      return CallResult<process::Reply>(process::Reply{fields, {}, {}});
    };
  }
  // Dies of it.
  template <class R>
  void die(Death death) {
    methods_[R::kName] = [death = std::move(death)](const process::ReadRequest&) {
      return CallResult<process::Reply>(tl::unexpected<CallFailure>(death));
    };
  }

 private:
  friend class FakeChild;
  CallResult<process::Reply> answer(process::ReadRequest request);
  void answer_as_worker();
  void answer_as_referee();
  const FakeKernel& kernel_at(int handle) const { return kernels.at(open_.at(handle)); }

  std::map<std::string, std::function<CallResult<process::Reply>(process::ReadRequest)>,
           std::less<>>
      methods_;
  std::map<int, std::string> open_;  // Kernels, by their handles.
  int64_t next_instance_ = 0;
  int next_handle_ = 0;
  uint64_t next_launch_ = 1, next_jitter_ = 0;
};

}  // namespace assay::sweep::testing
