#include "assay/input/yaml.h"

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"

namespace assay::input {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(std::string_view text, const YamlLimits& limits = {}) {
  const auto field = parse_yaml(text, "f.yaml", limits);
  return field ? "no error" : field.error().message;
}

YamlField parsed(std::string_view text) {
  auto field = parse_yaml(text, "f.yaml");
  if (!field) throw std::runtime_error(field.error().message);
  return *field;
}

TEST(Yaml, ReadsEveryKindWithItsPlace) {
  const YamlField file = parsed("a: 64\nb:\n  - 1.5\n  - 'x y'\n  - true\nc: {d: e}\n");
  EXPECT_EQ(*file.at("a")->as_int64(), 64);
  const auto items = *file.at("b")->items();
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(*items[0].as_double(), 1.5);
  EXPECT_EQ(*items[1].as_string(), "x y");
  EXPECT_TRUE(*items[2].as_bool());
  EXPECT_EQ(items[1].path(), "b[1]");
  EXPECT_EQ(items[1].line(), 4);
  EXPECT_EQ(items[1].column(), 5);
  EXPECT_EQ(file.at("c")->at("d")->path(), "c.d");
  EXPECT_FALSE(file.find("z")->has_value());
}

TEST(Yaml, RefusesWhatIsNotOneDocumentOfText) {
  struct Case {
    std::string text, place, part;
  };
  using namespace std::string_literals;
  const Case cases[] = {
      {"", "f.yaml:1:1: ", "nothing in it"},
      {"# only a comment\n", "f.yaml:1:1: ", "nothing in it"},
      {"~\n", "f.yaml:1:1: ", "nothing in it"},
      {"a: 1\n---\nb: 2\n", "f.yaml:2:", "second document"},
      {"a: 1\n\tb: 2\n", "f.yaml:2:1: ", "use spaces"},
      {"a: 1\n  \tb: 2\n", "f.yaml:2:3: ", "use spaces"},
      {"a: \0\n"s, "f.yaml:1:4: ", "NUL"},
      {"\x7f"
       "ELF\x02\x01\x01\0\0"s,
       "f.yaml:1:5: ", "control character"},
      {"a: b\nc: \xc3\x28\n", "f.yaml:2:4: ", "UTF-8"},
      {"a: \xe2\x82", "f.yaml:1:4: ", "UTF-8"},
      {"a: \xed\xa0\x80\n", "f.yaml:1:4: ", "UTF-8"},
      {"a: \xc0\xaf\n", "f.yaml:1:4: ", "UTF-8"},
      {"a: \xf4\x90\x80\x80\n", "f.yaml:1:4: ", "UTF-8"},
      {"a: \x1b[2J\n", "f.yaml:1:4: ", "control character"},
      {"a: 1\rb: 2\n", "f.yaml:1:5: ", "control character"},
      {"a: {b: 1\nc: 2\n", "f.yaml:", "'}'"},
      {"a: [1, 2\n", "f.yaml:", "']'"},
      {"a: 'b\n", "f.yaml:1:4: ", "quote"},
      {"a: \"b\\\"\nc: 1\n", "f.yaml:1:4: ", "quote"},
      {"a: 'b''\n", "f.yaml:1:4: ", "quote"},
      {"a: b: c\n", "f.yaml:1:5: ", "quotes"},
      {"a: 1\n b: 2\n", "f.yaml:2:", "not valid YAML"},
      {"a: @b\n", "f.yaml:1:4: ", "quotes"},
      {"a: 1\nb: 2\na: 3\n", "f.yaml:3:1: ", "given twice, first in line 1"},
      {"a: {b: 1, b: 2}\n", "f.yaml:1:11: ", "given twice"},
      {"a: &x 1\n<<: *x\n", "f.yaml:2:1: ", "merge keys"},
      {"a: !!python/object:os.system x\n", "f.yaml:1:4: ", "tag"},
      {"? [a, b]\n: c\n", "f.yaml:1:", "field's name"},
      {"a: *nowhere\n", "f.yaml:1:4: ", "define it with &"},
      {"a: &x [1, *x]\n", "f.yaml:1:11: ", "inside the value"},
  };
  for (const Case& test : cases) {
    const std::string error = error_of(test.text);
    EXPECT_THAT(error, StartsWith(test.place)) << test.text;
    EXPECT_THAT(error, HasSubstr(test.part)) << test.text;
  }
}

TEST(Yaml, TakesWindowsLineEndsAndByteOrderMark) {
  const YamlField file = parsed(
      "\xef\xbb\xbf"
      "a: 1\r\nb: text\r\n");
  EXPECT_EQ(*file.at("b")->as_string(), "text");
  EXPECT_EQ(file.at("b")->line(), 2);
}

TEST(Yaml, ScalarsAreTypedStrictly) {
  const YamlField file = parsed(
      "i: 64\nq: '64'\nf: 6e1\nt: yes\nbig: 99999999999999999999\nhuge: 1e400\ninf: .inf\n"
      "octal: 010\nhex: 0x10\nneg: -3\nplus: +3\ntiny: 1e-400\nempty:\nlist: [1]\nmap: {a: 1}\n"
      "under: 1_000\nminus: '-'\nend: 1\n");
  const auto integer = [&](const char* key) { return file.at(key)->as_int64(); };
  EXPECT_EQ(*integer("i"), 64);
  EXPECT_EQ(*integer("neg"), -3);
  EXPECT_EQ(*file.at("f")->as_double(), 60);
  EXPECT_EQ(*file.at("i")->as_double(), 64);
  EXPECT_EQ(*file.at("t")->as_string(), "yes");
  EXPECT_THAT(integer("q").error().message, StartsWith("f.yaml:2:4: q: '64' stands in quotes"));
  EXPECT_THAT(integer("f").error().message, HasSubstr("write an integer"));
  EXPECT_THAT(integer("big").error().message, HasSubstr("does not fit into 64 bits"));
  EXPECT_THAT(integer("octal").error().message, HasSubstr("octal"));
  EXPECT_FALSE(integer("hex"));
  EXPECT_FALSE(integer("plus"));
  EXPECT_FALSE(integer("under"));
  EXPECT_FALSE(integer("minus"));
  EXPECT_THAT(integer("list").error().message, HasSubstr("is a list; write an integer"));
  EXPECT_THAT(integer("map").error().message, HasSubstr("is a map; write an integer"));
  EXPECT_THAT(file.at("neg")->as_int64(1, 8).error().message, HasSubstr("from 1 to 8"));
  EXPECT_THAT(file.at("huge")->as_double().error().message, HasSubstr("does not fit"));
  EXPECT_FALSE(file.at("tiny")->as_double());
  EXPECT_FALSE(file.at("inf")->as_double());
  EXPECT_THAT(file.at("t")->as_bool().error().message, HasSubstr("write true or false"));
  EXPECT_THAT(file.at("i")->as_string().error().message, HasSubstr("put it in quotes"));
  EXPECT_THAT(file.at("big")->as_value().error().message, HasSubstr("64 bits"));
  EXPECT_EQ(*file.at("q")->as_value(), Value(std::string("64")));
  EXPECT_EQ(*file.at("i")->as_value(), Value(int64_t{64}));
  // A value left empty is reported where its key stands, not at the next token.
  EXPECT_THAT(file.find("empty").error().message, StartsWith("f.yaml:13:1: empty: has no value"));
}

TEST(Yaml, NamesTheNearestField) {
  const YamlField file = parsed("name: x\nlayuot: tn\n");
  const std::vector<std::string> known = {"name", "layout"};
  EXPECT_EQ(file.only(known).error().message,
            "f.yaml:2:1: there is no field 'layuot'; did you mean 'layout'?");
  EXPECT_THAT(file.at("layout").error().message, HasSubstr("was 'layuot' meant to be it?"));
  EXPECT_THAT(parsed("zzzzzz: 1").only(known).error().message, HasSubstr("known are name, layout"));
}

TEST(Yaml, AnchorsAreFollowed) {
  const YamlField file = parsed("a: &x [f32, bf16]\nb: *x\n");
  EXPECT_THAT(*file.at("b")->as_strings(), ::testing::ElementsAre("f32", "bf16"));
}

TEST(Yaml, HostileFilesAreBounded) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += fmt::format("a{}: &a{} [", i, i);
    for (int copy = 0; copy < 10; ++copy) bomb += fmt::format("{}*a{}", copy ? ", " : "", i - 1);
    bomb += "]\n";
  }
  EXPECT_THAT(error_of(bomb), HasSubstr("aliases expanded"));
  std::string ladder = "a0: &a0 [x]\n";
  for (int i = 1; i < 40; ++i) ladder += fmt::format("a{}: &a{} [*a{}]\n", i, i, i - 1);
  EXPECT_THAT(error_of(ladder), HasSubstr("nested more than 32 deep"));
  EXPECT_THAT(error_of(std::string(100'000, '[')), HasSubstr("f.yaml:1:"));
  EXPECT_THAT(error_of(std::string(100'000, '{')), HasSubstr("f.yaml:1:"));
  std::string blocks;
  for (int i = 0; i < 200; ++i) blocks += std::string(i, ' ') + "a:\n";
  EXPECT_THAT(error_of(blocks), HasSubstr("nested more than"));
  EXPECT_THAT(error_of("[1, 2, 3, 4, 5]", {.nodes = 4}), HasSubstr("more than 4 values"));
  EXPECT_THAT(error_of("a: bbbbbbbbbbb", {.bytes = 8}), HasSubstr("too much"));
}

TEST(Yaml, OnlyRegularFilesAreRead) {
  const auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder);
  EXPECT_EQ(read_yaml(folder->file("absent.yaml")).error().code, ErrorCode::not_found);
  EXPECT_EQ(read_yaml(folder->path()).error().code, ErrorCode::invalid_input);
  const std::string fifo = folder->file("fifo.yaml");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_FALSE(read_yaml(fifo));
  const std::string big = folder->file("big.yaml");
  ASSERT_TRUE(write_file_atomic(big, "a: 1\n"));
  std::filesystem::resize_file(big, 100 << 20);  // Sparse: costs no disk.
  const auto refused = read_yaml(big);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("big.yaml"));
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_input);
}

}  // namespace
}  // namespace assay::input
