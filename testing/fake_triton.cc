#include "testing/fake_triton.h"

#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace assay::testing {
namespace {

namespace fs = std::filesystem;

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j)
      text += j > bytes.size() - i ? '=' : kLetters[bits >> (18 - 6 * j) & 63];
  }
  return text;
}

template <class T>
void put(std::string& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

void write(const std::string& path, std::string_view text) {
  const Status written = write_file_atomic(path, text);
  EXPECT_TRUE(written) << written.error().message;
}

}  // namespace

// A header of ELF64, its strings, and two sections: the strings' and ".text.SYMBOL".
std::string fake_cubin(std::string_view symbol) {
  const std::string names = fmt::format("{0}.shstrtab{0}.text.{1}{0}", '\0', symbol);
  const size_t sections = (64 + names.size() + 7) / 8 * 8;
  std::string bytes(sections + 2 * 64, '\0');
  bytes.replace(0, 5,
                "\x7f"
                "ELF\x02");
  bytes.replace(64, names.size(), names);
  put<uint64_t>(bytes, 0x28, sections);
  put<uint16_t>(bytes, 0x3a, 64);
  put<uint16_t>(bytes, 0x3c, 2);
  put<uint16_t>(bytes, 0x3e, 0);
  put<uint32_t>(bytes, sections, 1);
  put<uint64_t>(bytes, sections + 0x18, 64);
  put<uint32_t>(bytes, sections + 64, 11);
  return bytes;
}

FakeTriton::FakeTriton(const std::string& folder, const std::string& version)
    : folder_(folder), python_(folder + "/bin/python3") {
  const std::string packages = folder + "/lib/python3.11/site-packages";
  fs::create_directories(folder + "/bin");
  fs::create_directories(packages + "/triton");
  fs::create_directories(fmt::format("{}/triton-{}.dist-info", packages, version));
  write(fmt::format("{}/triton-{}.dist-info/RECORD", packages, version), "triton/__init__.py,,\n");
  run("exit 3");
}

void FakeTriton::run(std::string_view script) const {
  write(python_,
        fmt::format("#!/bin/sh\n"
                    "if test -w '{0}'; then cat > '{0}/request'; else cat > /dev/null; fi\n"
                    "{1}\n",
                    folder_, script));
  fs::permissions(python_, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                               fs::perms::others_read | fs::perms::others_exec);
}

void FakeTriton::answer(const Json& answer) const {
  write(folder_ + "/answer", answer.dump() + '\n');
  run(fmt::format("echo 'what it prints to stderr' >&2; cat '{}/answer'", folder_));
}

bool FakeTriton::was_asked() const { return fs::exists(folder_ + "/request"); }

Json FakeTriton::request() const {
  const auto text = read_file(folder_ + "/request");
  if (!text) return nullptr;
  fs::remove(folder_ + "/request");
  auto parsed = parse_json(*text, "request");
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? *parsed : Json();
}

Json FakeTriton::kernel(std::string_view symbol) {
  return {{"kernel",
           {{"triton", "3.9.0"},
            {"python", "3.11.7"},
            {"symbol", symbol},
            {"num_warps", 4},
            {"shared_bytes", 1024},
            {"num_ctas", 1},
            {"cluster", {1, 1, 1}},
            {"global_scratch_bytes", 0},
            {"global_scratch_alignment", 1},
            {"profile_scratch_bytes", 0},
            {"cooperative", false},
            {"descriptors", Json::array()},
            {"parameters", 8},
            {"wgmma", 0},
            {"ptx_version", "9.0"},
            {"ptxas", "/usr/local/cuda/bin/ptxas"},
            {"ptxas_release", "13.0"},
            {"log",
             "0 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
             "ptxas info    : Used 40 registers, used 1 barriers"},
            {"cubin", base64(fake_cubin(symbol))}}}};
}

}  // namespace assay::testing
