#include "assay/input/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"

namespace assay::input {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::string_view kHead =
    "// assay: {entry: my_gemm, operation: gemm, a: f32, b: f32, out: f32, layout: tt, args: [a, "
    "b, "
    "out, m, n, k]}\n";

// Of providers that take device code by its extension.
LaunchForm forms(const KernelEntry& entry) {
  const std::string extension = entry.source.extension().string();
  if (extension == ".py") return LaunchForm::grid;
  return extension == ".cu" || extension == ".ptx" ? LaunchForm::geometry : LaunchForm::itself;
}

std::vector<KernelEntry> from_head(std::string_view text, std::string_view entry = {},
                                   const char* path = "/x/my.cc") {
  auto entries = parse_head_comment(text, path, forms, entry);
  if (!entries) throw std::runtime_error(entries.error().message);
  return *entries;
}

std::string head_error(std::string_view text, std::string_view entry = {},
                       const char* path = "my.cc") {
  const auto entries = parse_head_comment(text, path, forms, entry);
  return entries ? "no error" : entries.error().message;
}

const OperandRule& operand(const KernelEntry& entry, std::string_view role) {
  const OperandRule* rule = entry.rule->find_operand(role);
  if (rule == nullptr) throw std::runtime_error("no rule");
  return *rule;
}

TEST(HeadComment, OfTheHandbookInOneLine) {
  const auto entries = from_head(kHead);
  ASSERT_EQ(entries.size(), 1u);
  const KernelEntry& entry = entries[0];
  EXPECT_EQ(entry.name, "my_gemm");
  EXPECT_EQ(entry.entry, "my_gemm");
  EXPECT_EQ(entry.provider, "");
  EXPECT_EQ(entry.source, "/x/my.cc");
  EXPECT_EQ(entry.origin, "/x/my.cc:1");
  EXPECT_THAT(entry.args, ElementsAre("a", "b", "out", "m", "n", "k"));
  EXPECT_EQ(entry.rule->operation, "gemm");
  EXPECT_EQ(entry.rule->operands.size(), 3u);
  EXPECT_EQ(operand(entry, "a").major, Major::row);
  EXPECT_EQ(operand(entry, "b").major, Major::row);
  EXPECT_EQ(operand(entry, "out").major, Major::row);
  EXPECT_THAT(operand(entry, "a").dtypes, ElementsAre(DType::f32));
  EXPECT_FALSE(entry.rule->batch);
  EXPECT_FALSE(entry.rule->scalars);
  EXPECT_TRUE(entry.deterministic);
  EXPECT_EQ(entry.error_bound, ErrorBound::elementwise);
}

// Operands of one and of two dimensions, none of which lies in columns.
TEST(HeadComment, OfAnOperationWithoutLayouts) {
  const std::string fields =
      "entry: f, operation: rmsnorm, dtype: f32, args: [x, w, out, m, n, ldx, out_m, epsilon]";
  const auto entries = from_head("// assay: {" + fields + "}\n");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].name, "f");
  EXPECT_EQ(entries[0].rule->operation, "rmsnorm");
  EXPECT_TRUE(entries[0].rule->scalars);
  for (const char* role : {"x", "w", "out"})
    EXPECT_EQ(operand(entries[0], role).major, Major::row) << role;
  EXPECT_THAT(head_error("// assay: {" + fields + ", layout: tt}\n"), HasSubstr("layout"));
  EXPECT_THAT(head_error("// assay: {entry: f, operation: rmsnorm, dtype: f32, "
                         "args: [x, w, out, ldw]}\n"),
              HasSubstr("there is no argument 'ldw'"));
}

TEST(HeadComment, ReadsEveryStyle) {
  const std::string fields = "{entry: f, dtype: f32, layout: tn, args: [a, b, out, m, n, k]}";
  const std::string block =
      "entry: f\n{0}   dtype: f32\n{0}   layout: tn\n{0}\n{0}   args: [a, b, out,\n{0}     m, n, "
      "k]\n";
  const std::string files[] = {
      "// Copyright\n\n#include <cmath>\n#define X \\\n  1\n// assay: " + fields + "\nint x;\n",
      "/* assay: " + fields + " */\nint x;\n",
      "/*\n * A kernel.\n * assay: " + fields + "\n */\n",
      "// assay: {entry: f, dtype: f32,\n//   layout: tn, args: [a, b, out, m, n, k]}\n// Fast.\n",
      "// assay: {entry: f, dtype: f32,\n// layout: tn,\n// args: [a, b, out, m, n, k]\n// }\n",
      "// assay:\n//   " + fmt::format(fmt::runtime(block), "//") + "// Prose: not a field.\n",
      "/* assay:\n *   " + fmt::format(fmt::runtime(block), " *") + " */\n",
      "/* assay:\n     " + fmt::format(fmt::runtime(block), "  ") + "*/\n",
      "/// assay: " + fields + "\r\nint x;\r\n",
      "//\tassay: " + fields + "\n",
      "\xef\xbb\xbf// assay: " + fields + "\n",
  };
  for (const std::string& text : files) {
    const auto entries = parse_head_comment(text, "my.cc", forms);
    ASSERT_TRUE(entries) << text << entries.error().message;
    EXPECT_EQ(entries->at(0).entry, "f");
    EXPECT_EQ(operand(entries->at(0), "b").major, Major::column);
    EXPECT_EQ(entries->at(0).args.size(), 6u);
  }
  const auto python = from_head(
      "#!/usr/bin/env python3\n# A kernel.\n# assay: {entry: f, dtype: f32, layout: tn, "
      "args: [a, b, out, m, n, k],\n#   launch: {grid: [1]}}\n",
      "", "/x/k.py");
  EXPECT_EQ(python[0].origin, "/x/k.py:3");
}

TEST(HeadComment, ErrorsPointIntoTheSource) {
  EXPECT_THAT(head_error("// A kernel.\n// assay: {entry: f, dtype: f33}\n"),
              StartsWith("my.cc:2:29: assay.dtype: "));
  EXPECT_THAT(head_error("int x;\n"),
              AllOf(StartsWith("my.cc:1: nothing says"), HasSubstr("\n  // assay: {entry: my_gemm"),
                    HasSubstr("extern \"C\" void my_gemm(const float* a")));
  EXPECT_THAT(head_error(""), HasSubstr("// assay: {"));
  EXPECT_THAT(head_error("! Fortran\n", "", "k.f90"),
              StartsWith("k.f90:1: no provider compiles .f90: put it into a static library"));
  EXPECT_THAT(head_error("import x\n", "", "k.py"), HasSubstr("\n  # assay: {"));
  EXPECT_THAT(head_error("int x;\n\n" + std::string(kHead)),
              StartsWith("my.cc:3: the assay comment stands after code"));
  EXPECT_THAT(head_error(std::string("\x7f"
                                     "ELF\0\0",
                                     6)),
              HasSubstr("binary file"));
  EXPECT_THAT(head_error("// assay:\nint x;\n"), StartsWith("my.cc:1:4: assay: has no value"));
  EXPECT_THAT(head_error("// assay: fast\n"), StartsWith("my.cc:1:11: assay: a kernel is a map"));
  EXPECT_THAT(head_error("// assay: {entry: f, dtype: f32\nint x;\n"), HasSubstr("'}'"));
  EXPECT_THAT(head_error("// assay:\n//   entry: f\n//   entry: g\n"),
              StartsWith("my.cc:3:6: the field 'entry' is given twice, first in line 2"));
  EXPECT_THAT(head_error("// assay: {entry: f, source: my.cc}\n"),
              AllOf(StartsWith("my.cc:1:30: assay.source: "), HasSubstr("leave this field out")));
  EXPECT_THAT(head_error("// assay: {entry: f, a: \xff}\n"), StartsWith("my.cc:1:25: byte 0xff"));
}

TEST(HeadComment, OneEntryOfSeveralCanBeNamed) {
  const std::string two =
      "// assay: {entry: f, dtype: f32, layout: tn, args: [a, b, out, m, n, k]}\n"
      "// assay: {entry: g, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}\n";
  EXPECT_EQ(from_head(two).size(), 2u);
  const auto g = from_head(two, "g");
  ASSERT_EQ(g.size(), 1u);
  EXPECT_EQ(g[0].entry, "g");
  EXPECT_EQ(g[0].origin, "/x/my.cc:2");
  EXPECT_THAT(head_error(two, "h"),
              AllOf(HasSubstr("describes the kernel 'h'"), HasSubstr("f, g")));
  // One comment alone serves whichever function is named.
  EXPECT_EQ(from_head(kHead, "other")[0].entry, "other");
  // In a namespace; the kernel's own name is plain.
  const auto qualified = from_head(kHead, "mine::gemm");
  EXPECT_EQ(qualified[0].entry, "mine::gemm");
  EXPECT_EQ(qualified[0].name, "mine.gemm");
  EXPECT_THAT(head_error(kHead, "not a name"), HasSubstr("cannot be a function's name"));
  // An instance of a template: its mangled name holds every argument.
  const std::string mangled(4096, 'Z');
  EXPECT_EQ(from_head("// assay: {name: f, entry: f, dtype: f32, layout: tn, "
                      "args: [a, b, out, m, n, k]}",
                      mangled)[0]
                .entry,
            mangled);
  EXPECT_THAT(head_error(kHead, mangled), HasSubstr("too long for a name of the kernel; add one"));
  EXPECT_THAT(head_error(kHead, mangled + "Z"), HasSubstr("cannot be a function's name"));
  EXPECT_THAT(head_error(std::string(kHead) + std::string(kHead)), HasSubstr("is given twice"));
}

TEST(HeadComment, KernelsOfOneEntryAreNamedByTheirNames) {
  const std::string three =
      "// assay: {name: slow, entry: f, dtype: f32, layout: tn, args: [a, b, out, m, n, k]}\n"
      "// assay: {name: fast, entry: f, dtype: f32, layout: tn, args: [a, b, out, m, n, k]}\n"
      "// assay: {entry: g, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}\n";
  const auto fast = from_head(three, "fast");
  ASSERT_EQ(fast.size(), 1u);
  EXPECT_EQ(fast[0].name, "fast");
  EXPECT_EQ(fast[0].entry, "f");
  EXPECT_EQ(from_head(three, "f").size(), 2u);
  EXPECT_EQ(from_head(three, "g").size(), 1u);
  EXPECT_THAT(head_error(three, "fats"), AllOf(HasSubstr("'fast'?"), HasSubstr("slow, fast, g")));
}

class Manifest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto folder = TemporaryDirectory::create();
    ASSERT_TRUE(folder);
    folder_.emplace(std::move(*folder));
    for (const char* name : {"k.cc", "k.cu"}) {
      ASSERT_TRUE(write_file_atomic(folder_->file(name), "int x;\n"));
    }
  }
  std::string path() const { return folder_->file("m.yaml"); }
  std::string error_of(std::string_view text) const {
    const auto entries = parse_manifest(text, path(), forms);
    if (entries) return "no error";
    std::string message = entries.error().message;
    return message.starts_with(path()) ? message.substr(path().size()) : "not in file: " + message;
  }
  // An entry that is right but for `fields`, which begin in line 2; `without` leaves one out.
  static std::string entry_with(std::string_view fields, std::string_view without = {}) {
    std::string text = "- source: k.cc\n";
    if (!fields.empty()) text += fmt::format("  {}\n", fields);
    const std::pair<std::string_view, std::string_view> rest[] = {
        {"entry", "f"}, {"dtype", "f32"}, {"layout", "tt"}, {"args", "[a, b, out, m, n, k]"}};
    for (const auto& [name, value] : rest) {
      if (name != without) text += fmt::format("  {}: {}\n", name, value);
    }
    return text;
  }

  std::optional<TemporaryDirectory> folder_;
};

TEST_F(Manifest, ReadsEveryField) {
  const auto entries = parse_manifest(R"(
kernels:
  - name: skinny
    provider: cpp_source
    source: k.cc
    entry: skinny_gemm
    operation: gemm
    a: bf16
    b: [bf16, f16]
    out: f32
    accumulate: f32
    layout: [tt, tnn]
    args: [a, prepared, c, out, m, n, k, l, lda, a_l, out_n, alpha, beta, workspace, threads, tile]
    tunables: {tile: [4, 8], unroll: [true, false], kind: [wide, narrow]}
    constraints: [tile * 16 <= n, "min(m, n) > 2", unroll or kind == 'wide']
    divisibility: {k: 8, a: 4}
    alignment: {a: 64}
    targets: [x86_64+avx2+fma, x86_64+avx512f]
    specialised_on: [k]
    flags: [-O3, -ffast-math]
    workspace: m * n * 4
    prepare: {entry: pack, bytes: n * k * 2, args: [b, prepared, n, k, tile]}
    epilogues: []
    deterministic: false
    error: normwise
)",
                                      path(), forms);
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 2u);
  const KernelEntry& entry = entries->at(1);
  EXPECT_EQ(entries->at(0).name, "skinny_tt");
  EXPECT_EQ(entry.name, "skinny_tnn");
  EXPECT_EQ(entry.provider, "cpp_source");
  EXPECT_EQ(entry.source, folder_->file("k.cc"));
  EXPECT_EQ(entry.origin, path() + ":3");
  EXPECT_EQ(entry.entry, "skinny_gemm");
  EXPECT_EQ(operand(entry, "a").major, Major::row);
  EXPECT_EQ(operand(entry, "b").major, Major::column);
  EXPECT_EQ(operand(entry, "out").major, Major::column);
  EXPECT_EQ(operand(entry, "c").major, Major::column);
  EXPECT_THAT(operand(entry, "b").dtypes, ElementsAre(DType::bf16, DType::f16));
  EXPECT_THAT(operand(entry, "c").dtypes, ElementsAre(DType::f32));
  EXPECT_TRUE(operand(entry, "b").prepared);
  EXPECT_FALSE(operand(entry, "a").prepared);
  EXPECT_EQ(operand(entry, "a").divisibility, 4);
  EXPECT_EQ(operand(entry, "b").divisibility, 1);
  EXPECT_EQ(operand(entry, "a").alignment, 64);
  EXPECT_THAT(entry.rule->accumulate, ElementsAre(DType::f32));
  EXPECT_THAT(entry.rule->epilogues, IsEmpty());
  EXPECT_TRUE(entry.rule->batch);
  EXPECT_TRUE(entry.rule->scalars);
  EXPECT_EQ(entry.rule->targets.size(), 2u);
  ASSERT_EQ(entry.tunables.size(), 3u);
  EXPECT_EQ(entry.tunables[0].values[1], Value(int64_t{8}));
  EXPECT_EQ(entry.tunables[1].values[0], Value(true));
  EXPECT_EQ(entry.tunables[2].values[0], Value(std::string("wide")));
  ASSERT_EQ(entry.constraints.size(), 4u);
  EXPECT_EQ(entry.constraints[0].first, "k % 8 == 0");
  EXPECT_EQ(entry.workspace_text, "m * n * 4");
  EXPECT_EQ(entry.prepare_entry, "pack");
  EXPECT_EQ(entry.prepare_bytes_text, "n * k * 2");
  EXPECT_THAT(entry.prepare_args, ElementsAre("b", "prepared", "n", "k", "tile"));
  EXPECT_THAT(entry.specialised_on, ElementsAre("k"));
  EXPECT_THAT(entry.flags, ElementsAre("-O3", "-ffast-math"));
  EXPECT_FALSE(entry.deterministic);
  EXPECT_EQ(entry.error_bound, ErrorBound::normwise);

  const Lookup point = [](std::string_view name) -> std::optional<Value> {
    if (name == "tile") return Value(int64_t{8});
    return Value(int64_t{128});
  };
  EXPECT_TRUE(*entry.constraints[1].second.evaluate_bool(point));

  using Kind = Argument::Kind;
  EXPECT_EQ(find_argument(entry, "a")->kind, Kind::operand);
  EXPECT_EQ(find_argument(entry, "l")->kind, Kind::size);
  EXPECT_EQ(find_argument(entry, "lda")->kind, Kind::leading);
  EXPECT_EQ(find_argument(entry, "out_n")->dimension, "n");
  EXPECT_EQ(find_argument(entry, "out_n")->operand, "out");
  EXPECT_EQ(find_argument(entry, "alpha")->kind, Kind::scalar);
  EXPECT_EQ(find_argument(entry, "tile")->kind, Kind::tunable);
  EXPECT_FALSE(find_argument(entry, "a_n"));
  EXPECT_THAT(expression_names(entry), ElementsAre("m", "n", "k", "l", "tile", "unroll", "kind"));
}

TEST_F(Manifest, AnyLayoutNeedsStrides) {
  const std::string strides = "[a, b, out, m, n, k, a_m, a_k, b_k, b_n, out_m, out_n]";
  const auto entries =
      parse_manifest("- {source: k.cc, entry: f, dtype: f32, layout: any, args: " + strides + "}\n",
                     path(), forms);
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_EQ(operand(entries->at(0), "b").major, Major::any);
  EXPECT_THAT(error_of(entry_with("layout: any", "layout")),
              AllOf(StartsWith(":2:11: [0].layout: "), HasSubstr("args lacks 'a_m'")));
}

TEST_F(Manifest, EveryFieldIsChecked) {
  struct Case {
    std::string fields, without, part;
  };
  const Case cases[] = {
      {"entry: 3", "entry", "entry: '3' is a number, not text"},
      {"entry: my gemm", "entry", "entry: 'my gemm' cannot be a function's name"},
      {"entry: 'ns::'", "entry", "cannot be a function's name"},
      {"entry: '::f'", "entry", "cannot be a function's name"},
      {"entry: 'ns:::f'", "entry", "cannot be a function's name"},
      {"entry: ns:f", "entry", "cannot be a function's name"},
      {"name: a/b", "", "name: 'a/b' cannot be a name"},
      {"name: [a]", "", "name: is a list"},
      {"provider: 7", "", "provider: '7' is a number"},
      {"provider: 'a b'", "", "provider: is not a provider's name"},
      {"operation: gemn", "", "operation: "},
      {"dtype: f33", "dtype", "dtype: "},
      {"dtype: []", "dtype", "dtype: is empty"},
      {"dtype: [f32, f32]", "dtype", "dtype: f32 is given twice"},
      {"a: {x: f32}", "", "a: is a map"},
      {"c: f32", "", "c: has a type, but args does not name c"},
      {"accumulate: 32", "", "accumulate: '32' is a number"},
      {"layout: xx", "layout", "layout: 'xx' is not a layout; write t (row-major)"},
      {"layout: t", "layout", "layout: 't' is not a layout"},
      {"layout: tttt", "layout", "is not a layout"},
      {"layout: []", "layout", "layout: is empty"},
      {"layout: [tt, tt]", "layout", "layout: tt is given twice"},
      {"args: a", "args", "args: is the list of the function's parameters"},
      {"args: []", "args", "args: is empty"},
      {"args: [a, b, out, mm]", "args", "args[3]: there is no argument 'mm'; "},
      {"args: [a, b, out, ldd]", "args", "did you mean 'lda'?"},
      {"args: [a, b, out, a]", "args", "args[3]: a is given twice"},
      {"args: [a, b, m, n, k]", "args", "args: lacks 'out'"},
      {"args: [a, b, out, 4]", "args", "args[3]: '4' is a number"},
      {"args: [a, b, out, workspace]", "args", "has 'workspace', but there is no field workspace"},
      {"args: [a, b, out, prepared]", "args", "has 'prepared', but there is no field prepare"},
      {"args: [a, b, out, workspace_bytes]", "args", "there is no field workspace"},
      {"tunables: [4]", "", "tunables: is a list; write a map"},
      {"tunables: {tile: 4}", "", "tunables.tile: a tunable is a list of its values"},
      {"tunables: {tile: []}", "", "tunables.tile: is empty"},
      {"tunables: {tile: [4, 4]}", "", "tunables.tile[1]: 4 is given twice"},
      {"tunables: {tile: [4, wide]}", "", "tunables.tile[1]: mixes kinds"},
      {"tunables: {tile: [99999999999999999999]}", "", "does not fit into 64 bits"},
      {"tunables: {tile: [1e400]}", "", "does not fit into a double"},
      {"tunables: {tile: [[4]]}", "", "tunables.tile[0]: is a list"},
      {"tunables: {'a b': [4]}", "", "a tunable's name is an identifier"},
      {"tunables: {lda: [4]}", "", "tunables.lda: has a meaning of its own"},
      {"tunables: {int64_t: [4]}", "", "tunables.int64_t: is a word of C++"},
      {"tunables: {for: [4]}", "", "tunables.for: is a word of C++"},
      {"tunables: {t: [4], t: [5]}", "", "the field 't' is given twice"},
      {"constraints: 4", "", "constraints: '4' is a number, not text"},
      {"constraints: [m <]", "", "constraints[0]: column 4: "},
      {"constraints: [tile > 4]", "", "there is no size or tunable 'tile'; known are m, n, k, l"},
      {"constraints: [system(1)]", "", "constraints[0]: column "},
      {"divisibility: 0", "", "divisibility: 0 is out of range; write an integer from 1"},
      {"divisibility: -8", "", "divisibility: -8 is out of range"},
      {"divisibility: {q: 8}", "", "there is no field 'q'; known are a, b, out, m, n, k, l"},
      {"divisibility: {k: eight}", "", "divisibility.k: 'eight'"},
      {"alignment: 3", "", "alignment: 3 is not a power of two; write 16, 32 or 64"},
      {"alignment: 8192", "", "alignment: 8192 is out of range"},
      {"alignment: {m: 8}", "", "there is no field 'm'"},
      {"targets: []", "", "targets: is empty"},
      {"targets: [4]", "", "targets[0]: '4' is a number"},
      {"targets: ['']", "", "targets: "},
      {"specialised_on: [x]", "", "specialised_on: 'x' is not a size; sizes are m, n, k, l"},
      {"specialised_on: [k, k]", "", "specialised_on: k is given twice"},
      {"flags: ['@file']", "", "response files are not read"},
      {"flags: [main.cc]", "", "does not begin with '-'"},
      {"flags: ['']", "", "is empty or holds control characters"},
      {"flags: \"-DX=\\n\"", "", "is empty or holds control characters"},
      {"workspace: m * n", "", "args: lacks 'workspace', which workspace describes"},
      {"workspace: -1", "", "workspace: is negative"},
      {"workspace: true", "", "workspace: write a number of bytes or an expression"},
      {"workspace: m * q", "", "there is no size or tunable 'q'"},
      {"prepare: pack", "", "prepare: 'pack' is not what belongs here; write a map"},
      {"prepare: {entry: p, bytes: 1}", "", "prepare: has no field 'args'"},
      {"prepare: {entry: f, bytes: 1, args: [b, prepared]}", "", "the name of another function"},
      {"prepare: {entry: p, bytes: 1, args: [prepared]}", "", "names no operand to prepare"},
      {"prepare: {entry: p, bytes: 1, args: [b]}", "", "lacks 'prepared'"},
      {"prepare: {entry: p, bytes: 1, args: [out, prepared]}", "", "out cannot be prepared"},
      {"prepare: {entry: p, bytes: 1, args: [b, prepared, alpha]}", "", "alpha is not there yet"},
      {"prepare: {entry: p, bytes: 1, args: [b, prepared], x: 1}", "", "there is no field 'x'"},
      {"epilogues: [3]", "", "epilogues[0]: '3' is a number"},
      {"epilogues: [softmax]", "", "epilogues: the epilogue step 'softmax' has no reference"},
      {"epilogues: [bias+relu]", "", "has the step bias, but args does not name bias"},
      {"deterministic: maybe", "", "deterministic: 'maybe' is not what belongs here; write true"},
      {"error: none", "",
       "error: no bound of errors is called 'none'; write elementwise or normwise"},
      {"error: 0.1", "", "error: '0.1' is a number"},
      {"launch: {grid: m}", "",
       "launch: belongs to device code, and this launches itself; remove it"},
      {"layouts: tt", "layout", "did you mean 'layout'?"},
  };
  for (const Case& test : cases) {
    const std::string error = error_of(entry_with(test.fields, test.without));
    EXPECT_THAT(error, HasSubstr(test.part)) << test.fields;
    // Errors about what another field lacks stand at that field; all others where the cause is.
    const bool elsewhere = test.part.starts_with("args: lacks 'workspace'");
    EXPECT_THAT(error, StartsWith(elsewhere ? ":6:" : ":2:")) << test.fields;
  }
}

TEST_F(Manifest, WhatIsMissingIsNamed) {
  EXPECT_THAT(error_of(entry_with("", "entry")), HasSubstr("has no field 'entry'"));
  EXPECT_THAT(error_of(entry_with("", "layout")), HasSubstr("has no field 'layout'"));
  EXPECT_THAT(error_of(entry_with("", "args")), HasSubstr("has no field 'args'"));
  EXPECT_THAT(error_of(entry_with("", "dtype")), HasSubstr("has neither 'a' nor 'dtype'"));
  EXPECT_THAT(error_of("- {entry: f}\n"), HasSubstr("has no field 'source'"));
  EXPECT_THAT(error_of("- {entry: f, source: absent.cc}\n"), HasSubstr("there is no regular file"));
  EXPECT_THAT(error_of("- {entry: f, source: .}\n"), HasSubstr("there is no regular file"));
  EXPECT_THAT(error_of("- 4\n"), StartsWith(":1:3: [0]: a kernel is a map"));
  EXPECT_THAT(error_of("[]\n"), HasSubstr("is empty"));
  EXPECT_THAT(error_of("kernels: 3\n"), HasSubstr("a manifest is a list of kernels"));
  EXPECT_THAT(error_of("kernel: []\n"), HasSubstr("did you mean 'kernels'?"));
  EXPECT_THAT(error_of(entry_with("") + entry_with("")),
              AllOf(StartsWith(":6: name: 'f' is given twice, first at "), HasSubstr("m.yaml:1;")));
}

TEST_F(Manifest, ConstraintsMayHoldCommasInParentheses) {
  const auto entries = parse_manifest(
      entry_with("constraints: [\"m > 1\", min(n, k) % 8 == 0, max(m, min(n, k)) < 4096]"), path(),
      forms);
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->at(0).constraints.size(), 3u);
  EXPECT_EQ(entries->at(0).constraints[1].first, "min(n, k) % 8 == 0");
  EXPECT_EQ(entries->at(0).constraints[2].first, "max(m, min(n, k)) < 4096");
}

TEST_F(Manifest, DeviceCodeSaysHowItIsLaunched) {
  const std::string head =
      "- {source: k.cu, entry: f, dtype: f16, layout: tn, args: [a, b, out, m, n, k],\n"
      "   tunables: {TILE: [32, 64]},\n";
  const auto entries =
      parse_manifest(head +
                         "   launch: {grid: [ceil_div(n, TILE), m], block: 128, shared: TILE * 8,"
                         " cluster: [2], dependent: true}}\n",
                     path(), forms);
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_TRUE(entries->at(0).launch);
  EXPECT_THAT(entries->at(0).launch->grid, ElementsAre("ceil_div(n, TILE)", "m"));
  EXPECT_THAT(entries->at(0).launch->block, ElementsAre("128"));
  EXPECT_THAT(entries->at(0).launch->cluster, ElementsAre("2"));
  EXPECT_EQ(entries->at(0).launch->shared_text, "TILE * 8");
  EXPECT_TRUE(entries->at(0).launch->dependent);

  const auto wrong = [&](const std::string& rest) {
    const auto read = parse_manifest(head + rest, path(), forms);
    return read ? std::string() : read.error().message;
  };
  EXPECT_THAT(wrong("   name: g}\n"), HasSubstr("there is no field launch"));
  EXPECT_THAT(wrong("   launch: {grid: m}}\n"), HasSubstr("has no field 'block'"));
  EXPECT_THAT(wrong("   launch: {grid: q, block: 1}}\n"), HasSubstr("no size or tunable 'q'"));
  EXPECT_THAT(wrong("   launch: {grid: [1, 1, 1, 1], block: 1}}\n"), HasSubstr("one to three"));
  EXPECT_THAT(wrong("   launch: {grid: 1, block: 1, shred: 2}}\n"), HasSubstr("'shared'"));
  EXPECT_THAT(wrong("   launch: {grid: -1, block: 1}}\n"), HasSubstr("negative"));
}

TEST(PluginKernel, SaysWhatBoundsItsErrorsAsAManifestDoes) {
  const auto read = [](const char* error) {
    const std::string json = fmt::format(
        R"({{"name": "f", "dtype": "f32", "layout": "tt", "error": "{}",
             "args": ["a", "b", "out", "m", "n", "k"]}})",
        error);
    return parse_plugin_kernel(json, "/x/f.so", "f.so: kernels[0].metadata");
  };
  const auto entries = read("normwise");
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_EQ(entries->at(0).error_bound, ErrorBound::normwise);
  EXPECT_THAT(read("none").error().message,
              AllOf(StartsWith("f.so: kernels[0].metadata:1:"),
                    HasSubstr("error: no bound of errors is called 'none'; write elementwise or "
                              "normwise")));
}

TEST_F(Manifest, TooManyCombinationsAreRefused) {
  std::string list = "[0";
  for (int i = 1; i < 101; ++i) list += fmt::format(", {}", i);
  list += "]";
  EXPECT_THAT(error_of(entry_with(fmt::format("tunables: {{x: {0}, y: {0}, z: {0}}}", list))),
              HasSubstr("more than 1000000 combinations"));
}

TEST_F(Manifest, KernelsOfAFileAreChosenByEntry) {
  ASSERT_TRUE(write_file_atomic(path(), entry_with("name: one") + entry_with("name: two")));
  ASSERT_TRUE(write_file_atomic(folder_->file("k.cc"), kHead));
  EXPECT_EQ(read_kernels(path(), forms)->size(), 2u);
  EXPECT_EQ(read_kernels(path() + "::two", forms)->at(0).name, "two");
  EXPECT_THAT(read_kernels(path() + "::tow", forms).error().message,
              HasSubstr("did you mean 'two'?"));
  EXPECT_EQ(read_kernels(folder_->file("k.cc") + "::other", forms)->at(0).entry, "other");
  EXPECT_EQ(read_kernels(folder_->file("absent.cc"), forms).error().code, ErrorCode::not_found);
  EXPECT_FALSE(read_kernels(folder_->path(), forms));
}

TEST_F(Manifest, ASourceAloneDescribesItself) {
  ASSERT_TRUE(write_file_atomic(folder_->file("k.cc"), kHead));
  const auto entries = parse_manifest("- source: k.cc\n" + entry_with("name: mine"), path(), forms);
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ(entries->at(0).name, "my_gemm");
  EXPECT_EQ(entries->at(0).origin, folder_->file("k.cc") + ":1");
  EXPECT_EQ(entries->at(1).name, "mine");
  // Names are unique in all of the manifest.
  EXPECT_THAT(error_of("- source: k.cc\n- source: k.cc\n"), HasSubstr("'my_gemm' is given twice"));
  EXPECT_THAT(error_of("- source: k.cu\n"), HasSubstr("nothing says what this file's kernel is"));
}

}  // namespace
}  // namespace assay::input
