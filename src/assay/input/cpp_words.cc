#include "assay/input/cpp_words.h"

#include <algorithm>
#include <iterator>

namespace assay::input {
namespace {

constexpr std::string_view kWords[] = {
    "alignas",      "alignof",   "and",      "and_eq",        "asm",
    "auto",         "bitand",    "bitor",    "bool",          "break",
    "case",         "catch",     "char",     "char16_t",      "char32_t",
    "char8_t",      "class",     "co_await", "co_return",     "co_yield",
    "compl",        "concept",   "const",    "const_cast",    "consteval",
    "constexpr",    "constinit", "continue", "decltype",      "default",
    "defined",      "delete",    "do",       "double",        "dynamic_cast",
    "else",         "enum",      "explicit", "export",        "extern",
    "false",        "float",     "for",      "friend",        "goto",
    "if",           "inline",    "int",      "int16_t",       "int32_t",
    "int64_t",      "int8_t",    "intptr_t", "long",          "mutable",
    "namespace",    "new",       "noexcept", "not",           "not_eq",
    "nullptr",      "operator",  "or",       "or_eq",         "private",
    "protected",    "ptrdiff_t", "public",   "register",      "reinterpret_cast",
    "requires",     "restrict",  "return",   "short",         "signed",
    "size_t",       "sizeof",    "static",   "static_assert", "static_cast",
    "std",          "struct",    "switch",   "template",      "this",
    "thread_local", "throw",     "true",     "try",           "typedef",
    "typeid",       "typename",  "uint16_t", "uint32_t",      "uint64_t",
    "uint8_t",      "uintptr_t", "union",    "unsigned",      "using",
    "virtual",      "void",      "volatile", "wchar_t",       "while",
    "xor",          "xor_eq"};

}  // namespace

bool is_word_of_cpp(std::string_view name) {
  return std::ranges::find(kWords, name) != std::end(kWords);
}

}  // namespace assay::input
