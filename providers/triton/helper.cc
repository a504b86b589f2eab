#include "helper.h"

#include <algorithm>

#include "assay/base/text.h"

namespace assay::triton {
namespace {

constexpr size_t kMostCubinBytes = size_t{32} << 20;
constexpr int64_t kMostBytes = int64_t{1} << 30;  // Of scratch memory of one block.
constexpr int kMostLines = 15;

int value_of(char letter) {
  if (letter >= 'A' && letter <= 'Z') return letter - 'A';
  if (letter >= 'a' && letter <= 'z') return letter - 'a' + 26;
  if (letter >= '0' && letter <= '9') return letter - '0' + 52;
  return letter == '+' ? 62 : letter == '/' ? 63 : -1;
}

// Base64 of RFC 4648; empty for what is none.
std::string decoded(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int held = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char letter : text) {
    const int value = value_of(letter);
    if (value < 0) return {};
    bits = bits << 6 | static_cast<uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<char>(bits >> held & 0xff));
  }
  return bytes;
}

Result<std::string> short_text(const JsonField& from, const char* name) {
  ASSAY_TRY(const JsonField field, from.at(name));
  ASSAY_TRY(const std::string text, field.as_string());
  return sanitize(text, 400);
}

Result<int64_t> number(const JsonField& from, const char* name, int64_t least, int64_t most) {
  ASSAY_TRY(const JsonField field, from.at(name));
  return field.as_int64(least, most);
}

// {"box": [128, 64], "swizzle": 128}, or as Triton has it: block_size, and a code for the swizzle.
Result<Descriptor> descriptor(const JsonField& field, bool of_triton) {
  Descriptor read;
  ASSAY_TRY(const JsonField box, field.at(of_triton ? "block_size" : "box"));
  ASSAY_TRY(const auto extents, box.items());
  if (extents.size() < 2 || extents.size() > 3)
    return fail(box.error(ErrorCode::invalid_input, "is no block of two or three extents"));
  for (const JsonField& extent : extents) {
    ASSAY_TRY(read.box.emplace_back(), extent.as_int64(1, 256));
  }
  ASSAY_TRY(read.swizzle, number(field, "swizzle", 0, of_triton ? 3 : 128));
  // CUtensorMapSwizzle: none, 32, 64, 128 bytes.
  if (of_triton && read.swizzle > 0) read.swizzle = int64_t{16} << read.swizzle;
  return read;
}

Status read_launch(const JsonField& from, bool of_triton, Compiled& into) {
  ASSAY_TRY(into.symbol, short_text(from, "symbol"));
  ASSAY_TRY(into.warps, number(from, "num_warps", 1, 32));
  ASSAY_TRY(into.shared_bytes, number(from, "shared_bytes", 0, int64_t{1} << 20));
  ASSAY_TRY(const JsonField cluster, from.at("cluster"));
  ASSAY_TRY(const auto extents, cluster.items());
  if (extents.size() != 3)
    return fail(cluster.error(ErrorCode::invalid_input, "is not three extents"));
  for (size_t i = 0; i < 3; ++i) {
    ASSAY_TRY(into.cluster[i], extents[i].as_int64(1, 16));
  }
  ASSAY_TRY(into.scratch_bytes, number(from, "global_scratch_bytes", 0, kMostBytes));
  ASSAY_TRY(into.scratch_alignment, number(from, "global_scratch_alignment", 1, 4096));
  ASSAY_TRY(into.profile_bytes, number(from, "profile_scratch_bytes", 0, kMostBytes));
  ASSAY_TRY(const JsonField parameters, from.at("parameters"));
  if (!parameters.is_null()) {
    ASSAY_TRY(into.parameters, parameters.as_int64(-1, 4096));
  }
  ASSAY_TRY(const JsonField descriptors, from.at("descriptors"));
  ASSAY_TRY(const auto each, descriptors.items());
  for (const JsonField& one : each) {
    ASSAY_TRY(into.descriptors.emplace_back(), descriptor(one, of_triton));
  }
  return {};
}

Result<Compiled> read_kernel(const JsonField& kernel) {
  Compiled compiled;
  ASSAY_TRY(read_launch(kernel, true, compiled));
  // An identifier of C: it goes to the driver, and into the record.
  if (compiled.symbol.empty() ||
      compiled.symbol.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") != std::string::npos)
    return fail(kernel.error(ErrorCode::invalid_input, "'symbol' is no function's name"));
  ASSAY_TRY(const JsonField cooperative, kernel.at("cooperative"));
  ASSAY_TRY(const bool waits_for_all, cooperative.as_bool());
  if (waits_for_all)
    return fail(kernel.error(ErrorCode::unsupported, "a cooperative grid is not launched here"));
  ASSAY_TRY(const JsonField cubin, kernel.at("cubin"));
  ASSAY_TRY(const std::string text, cubin.as_string());
  if (text.size() / 4 * 3 > kMostCubinBytes)
    return fail(cubin.error(ErrorCode::invalid_input, "is larger than code for a GPU ever is"));
  compiled.cubin = decoded(text);
  if (!compiled.cubin.starts_with("\x7f"
                                  "ELF") ||
      compiled.cubin.size() < 64)
    return fail(cubin.error(ErrorCode::invalid_input, "is no cubin"));
  ASSAY_TRY(const JsonField log, kernel.at("log"));
  ASSAY_TRY(compiled.log, log.as_string());
  Json& facts = compiled.facts;
  for (const char* name : {"triton", "python", "ptxas", "ptxas_release", "ptx_version"}) {
    ASSAY_TRY(facts[name], short_text(kernel, name));
  }
  ASSAY_TRY(facts["wgmma"], number(kernel, "wgmma", 0, int64_t{1} << 30));
  return compiled;
}

std::string last_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n'))
    if (!trim(line).empty()) lines.push_back("\n  " + sanitize(line, 400));
  const size_t first = lines.size() > kMostLines ? lines.size() - kMostLines : 0;
  std::string shown = first > 0 ? "\n  ..." : "";
  for (size_t i = first; i < lines.size(); ++i) shown += lines[i];
  return shown;
}

tl::unexpected<Error> users_error(const JsonField& error, const Question& question) {
  const auto text = [&](const char* name) {
    const auto field = error.find(name);
    return field && field->json().is_string() ? field->json().get<std::string>() : std::string();
  };
  const std::string place = sanitize(text("place"), 400), what = sanitize(text("what"), 2000);
  return fail(ErrorCode::build_failed, "{}: {}{}{}{}", question.origin, place,
              place.empty() ? "" : ": ", what.empty() ? "an error without a word" : what,
              place.empty() ? last_lines(text("trace")) : "");
}

tl::unexpected<Error> ended(const CommandOutput& output, const Question& question) {
  if (output.timed_out)
    return fail(ErrorCode::build_failed,
                "{}: compiling with Triton was stopped after {} (--compile-timeout)",
                question.origin, format_duration(question.timeout_seconds));
  const bool starved = output.err.find("MemoryError") != std::string::npos ||
                       output.err.find("bad_alloc") != std::string::npos ||
                       output.err.find("out of memory") != std::string::npos;
  if (question.memory_bytes > 0 && starved)
    return fail(ErrorCode::build_failed,
                "{}: compiling with Triton needs more than the {} MiB of memory that it may take "
                "(--memory-limit)",
                question.origin, question.memory_bytes >> 20);
  return fail(ErrorCode::build_failed, "{}: {} {} before it had compiled anything{}",
              question.origin, sanitize(question.program, 300), output.status.describe(),
              last_lines(output.err));
}

}  // namespace

Json Compiled::launch() const {
  Json list = Json::array();
  for (const Descriptor& one : descriptors)
    list.push_back({{"box", one.box}, {"swizzle", one.swizzle}});
  return {{"symbol", symbol},
          {"num_warps", warps},
          {"shared_bytes", shared_bytes},
          {"cluster", cluster},
          {"global_scratch_bytes", scratch_bytes},
          {"global_scratch_alignment", scratch_alignment},
          {"profile_scratch_bytes", profile_bytes},
          {"parameters", parameters},
          {"descriptors", std::move(list)}};
}

Result<Compiled> Compiled::from_launch(const Json& json) {
  ASSAY_TRY(const JsonDocument document,
            parse_json_document(canonical(json), "the artifact's launch"));
  Compiled compiled;
  ASSAY_TRY(read_launch(JsonField(document), false, compiled));
  return compiled;
}

Result<Compiled> read_answer(const CommandOutput& output, const Question& question) {
  if (output.timed_out) return ended(output, question);
  if (!output.status.success() || trim(output.out).empty()) return ended(output, question);
  const auto no_answer = [&](const Error& error) {
    return fail(ErrorCode::build_failed, "{}: what came back is no answer of the helper's: {}{}",
                question.origin, sanitize(error.message, 400), last_lines(output.err));
  };
  if (output.truncated) return no_answer({ErrorCode::invalid_input, "it is too long"});
  const auto document = parse_json_document(output.out, "answer");
  if (!document) return no_answer(document.error());
  const JsonField root(*document);
  if (const Status object = root.expect_object(); !object) return no_answer(object.error());
  if (const auto error = root.find("error")) return users_error(*error, question);
  const auto kernel = root.at("kernel");
  auto compiled = kernel ? read_kernel(*kernel) : fail(kernel.error());
  if (!compiled) return no_answer(compiled.error());
  return compiled;
}

}  // namespace assay::triton
