#include "assay/base/forked.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <limits>
#include <new>
#include <span>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace assay {
namespace {

// What children share with their parent: who takes which index, and what came of it.
class Board {
 public:
  explicit Board(size_t count) : bytes_(sizeof(std::atomic<size_t>) + count * sizeof(double)) {
    static_assert(std::atomic<size_t>::is_always_lock_free);
    void* const mapped =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return;
    next_ = new (mapped) std::atomic<size_t>(0);
    values_ = {reinterpret_cast<double*>(next_ + 1), count};
    std::ranges::fill(values_, std::numeric_limits<double>::quiet_NaN());
  }
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  ~Board() {
    if (next_ != nullptr) ::munmap(next_, bytes_);
  }

  bool is_mapped() const { return next_ != nullptr; }
  std::span<double> values() const { return values_; }

  size_t left() const { return values_.size() - std::min(values_.size(), next_->load()); }
  void work(const std::function<double(size_t)>& use) const {
    for (size_t i; (i = next_->fetch_add(1)) < values_.size();) values_[i] = use(i);
  }

 private:
  size_t bytes_;
  std::atomic<size_t>* next_ = nullptr;
  std::span<double> values_;
};

// Whether there was a child at all.
bool work_in_children(const Board& board, size_t how_many,
                      const std::function<double(size_t)>& use) {
  std::vector<pid_t> children;
  const pid_t parent = ::getpid();
  while (children.size() < how_many) {
    const pid_t child = ::fork();
    if (child < 0) break;
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() == parent) board.work(use);
      ::_exit(0);  // Nothing of the parent's is flushed or freed twice.
    }
    children.push_back(child);
  }
  for (const pid_t child : children)
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  return !children.empty();
}

}  // namespace

std::vector<double> for_each_forked(size_t count, const std::function<double(size_t i)>& use) {
  std::vector<double> values;
  if (count == 0) return values;
  values.push_back(use(0));
  if (count == 1) return values;
  const Board board(count - 1);
  const auto other = [&](size_t i) { return use(i + 1); };
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  // More than once only where children died: each has taken an index.
  while (board.is_mapped() && board.left() > 0)
    if (!work_in_children(board, std::min(cores, board.left()), other)) break;
  if (!board.is_mapped() || board.left() > 0) {
    for (size_t i = 1; i < count; ++i) values.push_back(use(i));
    return values;
  }
  values.insert(values.end(), board.values().begin(), board.values().end());
  return values;
}

}  // namespace assay
