#include "assay/lab/files/history_index.h"

#include <cstring>
#include <type_traits>

#include "assay/base/hash.h"

namespace assay::lab {
namespace {

constexpr std::string_view kMagic = "assay.lab_index/2\n";
constexpr std::size_t kMostHistoryBytes = std::size_t{1} << 30;  // Beyond, there is no index.

// One description of what is written and read: `a` is a Writer or a Reader.
template <class A>
void describe(A& a, Cost& cost) {
  a(cost.usd);
  a(cost.tokens);
}
template <class A>
void describe(A& a, Primary& primary) {
  a(primary.key);
  a(primary.value);
  a(primary.unit);
}
template <class A>
void describe(A& a, Claim& claim) {
  a(claim.word);
  a(claim.ratio);
  a(claim.low);
  a(claim.high);
  a(claim.pairs);
}
template <class A>
void describe(A& a, std::pair<std::string, std::string>& pair) {
  a(pair.first);
  a(pair.second);
}
template <class A>
void describe(A& a, Attempt& attempt) {
  for (std::string* text :
       {&attempt.id, &attempt.run_tag, &attempt.series, &attempt.parent, &attempt.tree,
        &attempt.lane, &attempt.family, &attempt.target, &attempt.description, &attempt.hypothesis,
        &attempt.started, &attempt.reason, &attempt.ended, &attempt.record})
    a(*text);
  a(attempt.seq);
  a(attempt.env);
  a(attempt.env_only);
  a(attempt.outcome);
  a(attempt.stages);
  a(attempt.primary);
  a(attempt.claim);
  a(attempt.baseline);
  a(attempt.cost);
  a(attempt.by_hand);
}
template <class A>
void describe(A& a, Skip& skip) {
  for (std::string* text : {&skip.run_tag, &skip.reason, &skip.of, &skip.at}) a(*text);
  a(skip.cost);
  a(skip.by_hand);
}
template <class A>
void describe(A& a, HistoryIndex& index) {
  a(index.bytes);
  a(index.lines);
  a(index.content.attempts);
  a(index.content.skips);
}

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Writer {
 public:
  template <Plain T>
  void operator()(T& value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void operator()(std::string& text) {
    size(text.size());
    text_ += text;
  }
  template <class T>
  void operator()(std::optional<T>& value) {
    size(value ? 1 : 0);
    if (value) (*this)(*value);
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    size(list.size());
    for (T& item : list) (*this)(item);
  }
  void operator()(std::map<std::string, std::string>& map) {
    size(map.size());
    for (const auto& [name, value] : map) {
      std::pair<std::string, std::string> pair(name, value);
      describe(*this, pair);
    }
  }
  template <class T>
  requires(!Plain<T>) void operator()(T& value) { describe(*this, value); }
  const std::string& text() const { return text_; }

 private:
  void size(std::size_t count) {
    auto number = static_cast<std::uint32_t>(count);
    (*this)(number);
  }
  std::string text_;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  template <Plain T>
  void operator()(T& value) {
    const std::string_view bytes = take(sizeof value);
    if (!failed_) std::memcpy(&value, bytes.data(), sizeof value);
  }
  void operator()(std::string& text) { text = take(size()); }
  template <class T>
  void operator()(std::optional<T>& value) {
    if (size() == 0) return value.reset();
    (*this)(value.emplace());
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    const std::size_t count = size();
    // Each takes a byte at least: a count beyond that is damage.
    if (count > rest_.size()) failed_ = true;
    for (std::size_t i = 0; i < count && !failed_; ++i) (*this)(list.emplace_back());
  }
  void operator()(std::map<std::string, std::string>& map) {
    const std::size_t count = size();
    for (std::size_t i = 0; i < count && !failed_; ++i) {
      std::pair<std::string, std::string> pair;
      describe(*this, pair);
      map.insert(std::move(pair));
    }
  }
  template <class T>
  requires(!Plain<T>) void operator()(T& value) { describe(*this, value); }
  bool is_whole() const { return !failed_ && rest_.empty(); }

 private:
  std::size_t size() {
    std::uint32_t number = 0;
    (*this)(number);
    return number;
  }
  std::string_view take(std::size_t count) {
    if (failed_ || count > rest_.size()) {
      failed_ = true;
      return {};
    }
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }

  std::string_view rest_;
  bool failed_ = false;
};

std::string digest_of(std::string_view text) {
  const FastDigest digest = fast_digest(text);
  return {reinterpret_cast<const char*>(digest.data()), sizeof digest};
}

}  // namespace

std::filesystem::path index_file(const std::filesystem::path& cache,
                                 const std::filesystem::path& case_folder) {
  constexpr std::size_t kDigits = 16;
  return cache / "lab" / "index" / sha256_hex(case_folder.string()).substr(0, kDigits);
}

std::optional<HistoryIndex> load_history_index(const std::filesystem::path& index,
                                               const std::filesystem::path& history) {
  const auto stored = read_file(index.string(), kMostHistoryBytes);
  constexpr std::size_t kDigest = sizeof(FastDigest);
  if (!stored || !stored->starts_with(kMagic) || stored->size() < kMagic.size() + 2 * kDigest)
    return std::nullopt;
  const std::string_view rest = std::string_view(*stored).substr(kMagic.size());
  const std::string_view payload = rest.substr(2 * kDigest);
  if (rest.substr(0, kDigest) != digest_of(payload)) return std::nullopt;
  HistoryIndex known;
  Reader reader(payload);
  reader(known);
  if (!reader.is_whole()) return std::nullopt;
  const auto text = read_file(history.string(), kMostHistoryBytes);
  if (!text || text->size() < known.bytes) return std::nullopt;
  if (rest.substr(kDigest, kDigest) != digest_of(std::string_view(*text).substr(0, known.bytes)))
    return std::nullopt;
  return known;
}

Status save_history_index(const std::filesystem::path& index, const std::filesystem::path& history,
                          const HistoryIndex& content) {
  ASSAY_TRY(const std::string text, read_file(history.string(), kMostHistoryBytes));
  if (text.size() < content.bytes)
    return fail(ErrorCode::machine, "{}: it became shorter", history.string());
  HistoryIndex copy = content;
  Writer writer;
  writer(copy);
  ASSAY_TRY(make_directories(index.parent_path().string()));
  return write_file_atomic(index.string(),
                           std::string(kMagic) + digest_of(writer.text()) +
                               digest_of(std::string_view(text).substr(0, content.bytes)) +
                               writer.text());
}

}  // namespace assay::lab
