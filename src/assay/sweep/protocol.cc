#include "assay/sweep/protocol.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "assay/base/text.h"

namespace assay::sweep {
namespace {

constexpr size_t kMostNotes = 8;  // Of one answer.
constexpr size_t kMostNoteBytes = 600;

}  // namespace

Result<const Json*> member(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key))
    return fail(ErrorCode::internal, "a message lacks its field {}", key);
  return &object[key];
}

Result<int64_t> integer(const Json& object, const char* key) {
  ASSAY_TRY(const Json* value, member(object, key));
  if (!value->is_number_integer())
    return fail(ErrorCode::internal, "field {} of a message is no integer", key);
  return value->get<int64_t>();
}

Result<std::string> text(const Json& object, const char* key) {
  ASSAY_TRY(const Json* value, member(object, key));
  if (!value->is_string())
    return fail(ErrorCode::internal, "field {} of a message is no text", key);
  return value->get<std::string>();
}

double number_or(const Json& object, const char* key, double fallback) {
  const auto value = member(object, key);
  if (!value || !(*value)->is_number()) return fallback;
  const double number = (*value)->get<double>();
  return std::isfinite(number) ? number : fallback;
}

std::vector<std::string> notes_of(const Json& answer) {
  std::vector<std::string> notes;
  const auto given = member(answer, "notes");
  if (!given || !(*given)->is_array()) return notes;
  for (const Json& note : **given)
    if (note.is_string() && notes.size() < kMostNotes)
      notes.push_back(sanitize(note.get<std::string>(), kMostNoteBytes));
  return notes;
}

Result<Problem> problem_from(const Json& message) {
  ASSAY_TRY(const Json* fields, member(message, "problem"));
  ASSAY_TRY(const std::string name, text(message, "operation"));
  ASSAY_TRY(const Operation* operation, find_operation(name));
  return operation->problem(*fields);
}

Json to_json(const cuda::SharedMemory& memory) {
  std::array<uint64_t, sizeof(memory.allocation) / sizeof(uint64_t)> words;
  std::memcpy(words.data(), &memory.allocation, sizeof memory.allocation);
  return {{"allocation", words}, {"offset", memory.offset}, {"bytes", memory.bytes}};
}

Result<cuda::SharedMemory> shared_memory_from(const Json& json) {
  cuda::SharedMemory memory;
  std::array<uint64_t, sizeof(memory.allocation) / sizeof(uint64_t)> words;
  ASSAY_TRY(const Json* allocation, member(json, "allocation"));
  if (!allocation->is_array() || allocation->size() != words.size())
    return fail(ErrorCode::internal, "shared memory without an allocation");
  for (size_t i = 0; i < words.size(); ++i) {
    if (!(*allocation)[i].is_number_unsigned())
      return fail(ErrorCode::internal, "an allocation is of numbers");
    words[i] = (*allocation)[i].get<uint64_t>();
  }
  std::memcpy(&memory.allocation, words.data(), sizeof memory.allocation);
  ASSAY_TRY(const int64_t offset, integer(json, "offset"));
  ASSAY_TRY(const int64_t bytes, integer(json, "bytes"));
  if (offset < 0 || bytes < 0) return fail(ErrorCode::internal, "shared memory before its start");
  memory.offset = static_cast<uint64_t>(offset);
  memory.bytes = static_cast<uint64_t>(bytes);
  return memory;
}

Json to_json(HandedOut output, std::vector<UniqueFd>& fds) {
  if (output.card) return to_json(*output.card);
  fds.push_back(std::move(output.file));
  return nullptr;
}

Result<SeenOutput> output_from(const Json& json, const std::vector<UniqueFd>& fds, size_t& next) {
  if (!json.is_null()) {
    ASSAY_TRY(shared_memory_from(json).map([](const cuda::SharedMemory&) {}));
    return SeenOutput{json};
  }
  if (next >= fds.size()) return fail(ErrorCode::internal, "an output is missing");
  return SeenOutput{nullptr, fds[next++].get()};
}

namespace {

Json to_json(const MeanSquare& mean) { return {mean.elements, mean.sum}; }

// Of our own referee; nothing where it is none.
MeanSquare mean_from(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array() || found->size() != 2 ||
      !(*found)[0].is_number_integer() || !(*found)[1].is_number())
    return {};
  return {(*found)[0].get<int64_t>(), (*found)[1].get<double>()};
}

}  // namespace

Json to_json(const Check& check) {
  return {{"right", check.right},
          {"ordinary_lines", to_json(check.ordinary_lines)},
          {"wide_lines", to_json(check.wide_lines)},
          {"method", check.method},
          {"elements", check.elements},
          {"compared", check.compared},
          {"wrong", check.wrong},
          {"max_error", check.max_error},
          {"mean_error", check.mean_error},
          {"smallest_visible", check.smallest_visible},
          {"first_wrong", check.first_wrong},
          {"within_normwise", check.within_normwise ? Json(*check.within_normwise) : Json()}};
}

Result<Check> check_from_json(const Json& json) {
  Check check;
  ASSAY_TRY(const Json* right, member(json, "right"));
  if (!right->is_boolean()) return fail(ErrorCode::internal, "a check without a yes or no");
  check.right = right->get<bool>();
  ASSAY_TRY(check.method, text(json, "method"));
  ASSAY_TRY(check.elements, integer(json, "elements"));
  ASSAY_TRY(check.compared, integer(json, "compared"));
  ASSAY_TRY(check.wrong, integer(json, "wrong"));
  ASSAY_TRY(check.first_wrong, text(json, "first_wrong"));
  // A wrong output may have an infinite error, which JSON cannot carry: it reads as null.
  check.max_error = number_or(json, "max_error", HUGE_VAL);
  check.mean_error = number_or(json, "mean_error", HUGE_VAL);
  check.smallest_visible = number_or(json, "smallest_visible", 0);
  if (const auto within = json.find("within_normwise");
      within != json.end() && within->is_boolean())
    check.within_normwise = within->get<bool>();
  check.ordinary_lines = mean_from(json, "ordinary_lines");
  check.wide_lines = mean_from(json, "wide_lines");
  return check;
}

}  // namespace assay::sweep
