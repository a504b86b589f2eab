#include "assay/process/messages/values.h"

#include "assay/process/messages/describe.h"

namespace assay::process {

Json write_value(const SentProblem& problem, RecordTag) {
  return {{"operation", problem->operation()}, {"fields", problem->to_json()}};
}

Status read_value(const JsonField& field, SentProblem& problem) {
  ASSAY_TRY(field.only_keys({"operation", "fields"}));
  ASSAY_TRY(const JsonField name, field.at("operation"));
  ASSAY_TRY(const std::string operation_name, name.as_string());
  ASSAY_TRY(const JsonField fields, field.at("fields"));
  const auto operation = find_operation(operation_name);
  if (!operation) return fail(in_field(name, operation.error()));
  auto made = (*operation)->problem(fields.json());
  if (!made) return fail(in_field(fields, made.error()));
  problem = SentProblem(*made);
  return {};
}

Status check_files(const std::vector<const SentOutput*>& outputs, const Files& files) {
  size_t next = 0;
  for (const SentOutput* output : outputs) {
    if (output->file.has_value() == output->gpu.has_value())
      return fail(ErrorCode::invalid_input, "an output is a file or memory of a GPU");
    if (output->file && *output->file != next++)
      return fail(ErrorCode::invalid_input, "an output is file {} where {} is next", *output->file,
                  next - 1);
  }
  if (next == files.size()) return {};
  return fail(ErrorCode::invalid_input, "{} outputs in files, and {} files", next, files.size());
}

}  // namespace assay::process

namespace assay::cuda {

Json write_value(const SharedMemory& memory, RecordTag) {
  std::array<uint64_t, sizeof(memory.allocation) / sizeof(uint64_t)> words;
  std::memcpy(words.data(), &memory.allocation, sizeof memory.allocation);
  return {{"allocation", words}, {"offset", memory.offset}, {"bytes", memory.bytes}};
}

Status read_value(const JsonField& field, SharedMemory& memory) {
  std::vector<uint64_t> words;
  RecordReader reader(field, archive::Fields::exactly);
  reader("allocation", words);
  // Of a GPU's memory.
  constexpr archive::Range kAddresses{0, 0x1p62};
  reader("offset", memory.offset, kAddresses);
  reader("bytes", memory.bytes, kAddresses);
  ASSAY_TRY(reader.status());
  if (words.size() * sizeof(uint64_t) != sizeof memory.allocation)
    return fail(field.error(ErrorCode::invalid_input, "an allocation of another length"));
  std::memcpy(&memory.allocation, words.data(), sizeof memory.allocation);
  return {};
}

}  // namespace assay::cuda
