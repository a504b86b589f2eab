#include "assay/base/dynamic_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"

namespace assay {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(DynamicLibrary, LoadsByNameAndCalls) {
  const auto library = DynamicLibrary::open("libm.so.6");
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(library->path().front(), '/') << "the real path, not the name";
  double (*cosine)(double) = nullptr;
  ASSERT_TRUE(library->load("cos", cosine));
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_EQ(library_of(reinterpret_cast<void*>(cosine)).value(), library->path());
}

// The loader would map what is not there, and the first touch be a SIGBUS.
TEST(DynamicLibrary, AFileThatIsCutShortIsASentence) {
  const auto folder = TemporaryDirectory::create();
  const auto whole = read_file(DynamicLibrary::open("libm.so.6")->path());
  ASSERT_TRUE(folder && whole);
  for (const size_t bytes : {whole->size() / 2, whole->size() / 100}) {
    ASSERT_TRUE(write_file_atomic(folder->file("cut.so"), whole->substr(0, bytes)));
    const auto cut = DynamicLibrary::open(folder->file("cut.so"));
    ASSERT_FALSE(cut);
    EXPECT_THAT(cut.error().message, HasSubstr("it is cut short: its header tells of"));
  }
}

TEST(DynamicLibrary, LoadsWhatTheProgramCarries) {
  const auto file = read_file(DynamicLibrary::open("libm.so.6")->path());
  ASSERT_TRUE(file);
  const auto one = DynamicLibrary::open_bytes("one", *file);
  const auto two = DynamicLibrary::open_bytes("two", *file);
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_TRUE(two) << two.error().message;
  double (*first)(double) = nullptr;
  double (*second)(double) = nullptr;
  ASSERT_TRUE(one->load("cos", first));
  ASSERT_TRUE(two->load("cos", second));
  EXPECT_NE(first, second);
  EXPECT_EQ(first(0.0), second(0.0));
  EXPECT_FALSE(DynamicLibrary::open_bytes("nothing", ""));
  EXPECT_FALSE(DynamicLibrary::open_bytes("text", "not a library"));
}

TEST(DynamicLibrary, MissingSymbolLeavesThePointerAlone) {
  const auto library = DynamicLibrary::open("libm.so.6").value();
  double (*function)(double) = nullptr;
  const Status loaded = library.load("no_such_function", function);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::not_found);
  EXPECT_THAT(loaded.error().message, HasSubstr("no_such_function"));
  EXPECT_EQ(function, nullptr);
}

TEST(DynamicLibrary, MissingOrWrongFilesAreErrors) {
  const auto missing = DynamicLibrary::open("/no/such/library.so");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_THAT(missing.error().message, HasSubstr("/no/such/library.so"));
  EXPECT_FALSE(DynamicLibrary::open("/etc/passwd"));
  EXPECT_FALSE(DynamicLibrary::open(""));
  EXPECT_FALSE(DynamicLibrary::open(std::string("libm.so.6\0x", 11)));
}

TEST(DynamicLibrary, NoLoadFindsOnlyWhatIsThere) {
  DynamicLibrary::Options options;
  options.no_load = true;
  EXPECT_TRUE(DynamicLibrary::open("libc.so.6", options));
  EXPECT_FALSE(DynamicLibrary::open("libanl.so.1", options));
}

TEST(DynamicLibrary, ClosesOnlyOnRequest) {
  DynamicLibrary::Options look;
  look.no_load = true;
  look.keep_mapped = false;
  DynamicLibrary::Options closing;
  closing.keep_mapped = false;
  constexpr const char* kLibrary = "libBrokenLocale.so.1";  // Of glibc, and used by nobody here.
  { ASSERT_TRUE(DynamicLibrary::open(kLibrary, closing)); }
  EXPECT_FALSE(DynamicLibrary::open(kLibrary, look));
  { ASSERT_TRUE(DynamicLibrary::open(kLibrary)); }
  EXPECT_TRUE(DynamicLibrary::open(kLibrary, look));
}

TEST(DynamicLibrary, MovesItsHandle) {
  auto library = DynamicLibrary::open("libm.so.6").value();
  const DynamicLibrary moved = std::move(library);
  EXPECT_EQ(library.handle(), nullptr);
  EXPECT_FALSE(library.symbol("cos"));
  EXPECT_TRUE(moved.symbol("cos"));
}

TEST(LibraryOf, TellsWhoOwnsAnAddress) {
  static const int ours = 0;
  EXPECT_THAT(library_of(&ours).value(), EndsWith("base_test"));
  int on_stack = 0;
  EXPECT_FALSE(library_of(&on_stack));
  EXPECT_FALSE(library_of(nullptr));
}

}  // namespace
}  // namespace assay
