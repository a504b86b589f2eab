#include "shim.h"

#include "assay/base/text.h"
#include "assay/input/manifest.h"

namespace assay::cpp_source {
namespace {

constexpr size_t kMostSourceBytes = size_t{16} << 20;

// Stands above the user's text, where no macro of his is known yet, and includes nothing: line
// numbers, includes and macros of that file stay what they are, and standard headers would cost
// more to compile than many a kernel. It is C++11 but for what compilers let pass with a warning,
// so that flags may choose another standard.
constexpr std::string_view kShimSupport = R"(
namespace assay_shim {

using Integer = __INT64_TYPE__;
union Slot {
  Integer integer;
  double real;
};
// Pointers to elements of as many bytes, or of any.
enum class Kind { pointer = 0, pointer_1 = 1, pointer_2 = 2, pointer_4 = 4, pointer_8 = 8, integer, real };
template <Kind... kKinds> struct Kinds {};

struct Yes { static constexpr bool value = true; };
struct No { static constexpr bool value = false; };
template <class T> struct IsPointer : No {};
template <class T> struct IsPointer<T*> : Yes {};
template <class T> struct IsVoid : No {};
template <> struct IsVoid<void> : Yes {};
template <> struct IsVoid<const void> : Yes {};
template <class T> struct Bytes { static constexpr int value = sizeof(T); };
template <> struct Bytes<void> { static constexpr int value = 0; };
template <> struct Bytes<const void> { static constexpr int value = 0; };
template <class T> struct ElementBytes { static constexpr int value = 0; };
template <class T> struct ElementBytes<T*> : Bytes<T> {};
template <class T> struct IsReal : No {};
template <> struct IsReal<float> : Yes {};
template <> struct IsReal<double> : Yes {};
template <> struct IsReal<long double> : Yes {};
template <class T> struct Casts {
  template <class U>
  static Yes test(int, decltype(static_cast<U>(Integer{}))*, decltype(static_cast<Integer>(*static_cast<U*>(nullptr)))*);
  template <class U> static No test(...);
  static constexpr bool value = decltype(test<T>(0, nullptr, nullptr))::value;
};
template <class T> struct IsWhole {
  static constexpr bool value = !IsPointer<T>::value && !IsReal<T>::value && Casts<T>::value;
};
template <> struct IsWhole<void> : No {};
template <class T> struct Plain { using Type = T; };
template <class T> struct Plain<T&> { using Type = T; };
template <class T> struct Plain<const T&> { using Type = T; };

// What a function takes in the place of an argument of that kind.
template <class T, Kind kKind, int kClass = kKind <= Kind::pointer_8 ? 0 : kKind == Kind::integer ? 1 : 2>
struct Argument {
  static_assert(IsPointer<T>::value, "assay: a, b, c, out, workspace and prepared are pointers, but "
                "the function takes something else in the place of one");
  // Bytes are everybody's type, and so is void.
  static_assert(kKind == Kind::pointer || ElementBytes<T>::value <= 1 ||
                ElementBytes<T>::value == static_cast<int>(kKind), "assay: an operand's elements are "
                "not as wide as those that the function takes a pointer to; say its dtype");
  static T make(const Slot& slot, void* const* data, bool&) {
    return static_cast<T>(slot.integer < 0 ? nullptr : data[slot.integer]);
  }
};
template <class T, Kind kKind> struct Argument<T, kKind, 1> {
  static_assert(IsWhole<T>::value, "assay: sizes, strides and counts are int64_t, but the function "
                "takes something else in the place of one");
  static T make(const Slot& slot, void* const*, bool& narrowed) {
    const T value = static_cast<T>(slot.integer);
    if (static_cast<Integer>(value) != slot.integer) narrowed = true;
    return value;
  }
};
template <class T, Kind kKind> struct Argument<T, kKind, 2> {
  static_assert(IsReal<T>::value, "assay: alpha, beta and tunables with a fraction are double, but "
                "the function takes something else in the place of one");
  static T make(const Slot& slot, void* const*, bool&) { return static_cast<T>(slot.real); }
};

// One argument of a call, held until all are known to fit.
template <class... Types> struct Held {
  template <class Function, class... Values>
  static auto call(const Function& function, const Slot*, void* const*, bool& narrowed, int failed,
                   Values... values) -> int {
    return narrowed ? failed : function.call(values...);
  }
};
template <class Parameter, Kind kKind> struct One {};
template <class Parameter, Kind kKind, class... Rest> struct Held<One<Parameter, kKind>, Rest...> {
  template <class Function, class... Values>
  static auto call(const Function& function, const Slot* slots, void* const* data, bool& narrowed,
                   int failed, Values... values) -> int {
    using T = typename Plain<Parameter>::Type;
    const T value = Argument<T, kKind>::make(*slots, data, narrowed);
    return Held<Rest...>::call(function, slots + 1, data, narrowed, failed, values..., value);
  }
};

template <class Returned, class... Parameters> struct Function {
  static_assert(IsWhole<Returned>::value, "assay: the function returns neither void nor an int that "
                "is 0 for success");
  Returned (*pointer)(Parameters...);
  template <class... Values> int call(Values... values) const {
    return static_cast<int>(pointer(values...));
  }
};
template <class... Parameters> struct Function<void, Parameters...> {
  void (*pointer)(Parameters...);
  template <class... Values> int call(Values... values) const { return pointer(values...), 0; }
};

template <bool kSame, class... All> struct Checked {
  template <class... Parameters, Kind... kKinds>
  static int call(const Function<Parameters...>&, const Slot*, void* const*, int, Kinds<kKinds...>) {
    return -1;
  }
};
template <class... All> struct Checked<true, All...> {
  template <class Returned, class... Parameters, Kind... kKinds>
  static int call(const Function<Returned, Parameters...>& function, const Slot* slots,
                  void* const* data, int failed, Kinds<kKinds...>) {
    bool narrowed = false;
    return Held<One<Parameters, kKinds>...>::call(function, slots, data, narrowed, failed);
  }
};

template <class Returned, class... Parameters, Kind... kKinds>
int call(Returned (*function)(Parameters...), const Slot* slots, void* const* data, int failed,
         Kinds<kKinds...> kinds) {
  return Checked<sizeof...(Parameters) == sizeof...(kKinds)>::call(
      Function<Returned, Parameters...>{function}, slots, data, failed, kinds);
}
#if __cplusplus >= 201703L
template <class Returned, class... Parameters, Kind... kKinds>
int call(Returned (*function)(Parameters...) noexcept, const Slot* slots, void* const* data,
         int failed, Kinds<kKinds...> kinds) {
  return Checked<sizeof...(Parameters) == sizeof...(kKinds)>::call(
      Function<Returned, Parameters...>{function}, slots, data, failed, kinds);
}
#endif
template <class T, Kind... kKinds>
int call(T, const Slot*, void* const*, int, Kinds<kKinds...>) { return -1; }

template <class T> struct Count { static constexpr int value = -1; };
template <class Returned, class... Parameters> struct Count<Returned (*)(Parameters...)> {
  static constexpr int value = sizeof...(Parameters);
};
#if __cplusplus >= 201703L
template <class Returned, class... Parameters> struct Count<Returned (*)(Parameters...) noexcept> {
  static constexpr int value = sizeof...(Parameters);
};
#endif

}  // namespace assay_shim
)";

// Words of ours below the user's file: whatever macros he made of them, they mean themselves again.
constexpr std::string_view kOwnWords[] = {"assay_shim",
                                          "assay_shim_call",
                                          "assay_shim_prepare",
                                          "assay_shim_function_0",
                                          "assay_shim_function_1",
                                          "assay_shim_pointer_0",
                                          "assay_shim_pointer_1",
                                          "call",
                                          "Count",
                                          "value",
                                          "Kinds",
                                          "Kind",
                                          "Slot",
                                          "pointer",
                                          "pointer_1",
                                          "pointer_2",
                                          "pointer_4",
                                          "pointer_8",
                                          "integer",
                                          "real",
                                          "slots",
                                          "data",
                                          "static_assert",
                                          "extern",
                                          "static",
                                          "constexpr",
                                          "const",
                                          "void",
                                          "int",
                                          "return",
                                          "decltype",
                                          "using",
                                          "union",
                                          "assay_slot",
                                          "visibility",
                                          "default",
                                          "__attribute__"};

std::string_view kind_text(SlotKind kind) {
  switch (kind) {
    case SlotKind::pointer:
      return "::assay_shim::Kind::pointer";
    case SlotKind::pointer_1:
      return "::assay_shim::Kind::pointer_1";
    case SlotKind::pointer_2:
      return "::assay_shim::Kind::pointer_2";
    case SlotKind::pointer_4:
      return "::assay_shim::Kind::pointer_4";
    case SlotKind::pointer_8:
      return "::assay_shim::Kind::pointer_8";
    case SlotKind::integer:
      return "::assay_shim::Kind::integer";
    case SlotKind::real:
      return "::assay_shim::Kind::real";
  }
  return "";
}

// In C: the function is called with pointers to void and 64-bit integers, which C converts.
constexpr std::string_view kSupportOfC = R"(
union assay_slot {
  __INT64_TYPE__ integer;
  double real;
};
#define ASSAY_POINTER(i) (slots[i].integer < 0 ? (void*)0 : data[slots[i].integer])
#define ASSAY_RETURNS_VOID(call) __builtin_types_compatible_p(__typeof__(call), void)
)";

Result<std::string> c_function_text(const KernelEntry& entry, std::string_view name,
                                    const std::string& function,
                                    const std::vector<std::string>& args) {
  ASSAY_TRY(const auto arguments, call_arguments(entry, args));
  std::vector<std::string> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const SlotKind kind = arguments[i].kind;
    values.push_back(kind == SlotKind::integer ? fmt::format("slots[{}].integer", i)
                     : kind == SlotKind::real  ? fmt::format("slots[{}].real", i)
                                               : fmt::format("ASSAY_POINTER({})", i));
  }
  const std::string call = fmt::format("{}({})", function, join(values, ", "));
  return fmt::format(
      "\n__attribute__((visibility(\"default\")))\nint {0}(const union assay_slot* slots, void* "
      "const* data) {{\n  return __builtin_choose_expr(ASSAY_RETURNS_VOID({1}), ({1}, 0), "
      "({1}));\n}}\n",
      name, call);
}

// What calls one of the user's functions. `number` tells the two that there can be apart.
Result<std::string> function_text(const KernelEntry& entry, int number, std::string_view name,
                                  const std::string& function, std::string_view field,
                                  const std::vector<std::string>& args) {
  ASSAY_TRY(const auto arguments, call_arguments(entry, args));
  std::vector<std::string> kinds;
  for (const CallArgument& argument : arguments) kinds.emplace_back(kind_text(argument.kind));
  // decltype of an overload set fails by itself, on a line of which explain() knows.
  return fmt::format(
      "\nusing assay_shim_function_{5} = decltype(&{1});\n"
      "static_assert(::assay_shim::Count<assay_shim_function_{5}>::value >= 0, \"assay: {1} is no "
      "function with a fixed number of parameters\");\n"
      "static_assert(::assay_shim::Count<assay_shim_function_{5}>::value < 0 || "
      "::assay_shim::Count<assay_shim_function_{5}>::value == {2}, \"assay: {3} lists {2} values, "
      "but {1} takes another number of parameters\");\n"
      "static constexpr assay_shim_function_{5} assay_shim_pointer_{5} = &{1};\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) int {0}(\n"
      "    const ::assay_shim::Slot* slots, void* const* data) {{\n"
      "  return ::assay_shim::call(assay_shim_pointer_{5}, slots, data, {6}, "
      "::assay_shim::Kinds<{4}>{{}});\n}}\n",
      name, function, arguments.size(), field, join(kinds, ", "), number, kNarrowed);
}

// A path as a string of the preprocessor's, for #line.
Result<std::string> quoted_path(const KernelEntry& entry) {
  const std::string path = entry.source.string();
  if (path.find_first_of("\"\n") != std::string::npos)
    return fail(ErrorCode::invalid_input,
                "{}: source: '{}' holds a quote or a line break; rename the file", entry.origin,
                sanitize(path, 300));
  std::string quoted;
  for (const char c : path) {
    if (c == '\\') quoted += c;
    quoted += c;
  }
  return '"' + quoted + '"';
}

// By the widths of what the operand may hold; any, where they differ.
SlotKind pointer_to(const KernelEntry& entry, const std::string& operand) {
  int64_t bytes = -1;
  for (const OperandRule& rule : entry.rule->operands) {
    if (rule.role != operand) continue;
    for (const DType dtype : rule.dtypes) {
      const auto width = static_cast<int64_t>(size_bytes(dtype));
      bytes = bytes < 0 || bytes == width ? width : 0;
    }
  }
  switch (bytes) {
    case 1:
      return SlotKind::pointer_1;
    case 2:
      return SlotKind::pointer_2;
    case 4:
      return SlotKind::pointer_4;
    case 8:
      return SlotKind::pointer_8;
    default:
      return SlotKind::pointer;
  }
}

// As -D and -U would have it, had they not to wait for what stands above.
std::string directive_of(const std::string& flag) {
  if (flag.starts_with("-U")) return fmt::format("#undef {}\n", flag.substr(2));
  const std::string macro = flag.substr(2);
  const size_t equals = macro.find('=');
  if (equals == std::string::npos) return fmt::format("#define {} 1\n", macro);
  return fmt::format("#define {} {}\n", macro.substr(0, equals), macro.substr(equals + 1));
}

// An entry of that name may be a macro itself.
bool names_word(const KernelEntry& entry, std::string_view word) {
  for (const std::string& function : {entry.entry, entry.prepare_entry})
    for (const std::string_view part : split(function, ':'))
      if (part == word) return true;
  return false;
}

}  // namespace

Result<std::vector<CallArgument>> call_arguments(const KernelEntry& entry,
                                                 const std::vector<std::string>& args) {
  using Kind = input::Argument::Kind;
  std::vector<CallArgument> arguments;
  for (const std::string& name : args) {
    const auto found = input::find_argument(entry, name);
    if (!found)
      return fail(ErrorCode::invalid_input, "{}: args: '{}' means nothing here", entry.origin,
                  sanitize(name, 60));
    SlotKind kind = SlotKind::integer;
    if (found->kind == Kind::operand) kind = pointer_to(entry, found->operand);
    if (found->kind == Kind::workspace || found->kind == Kind::prepared) kind = SlotKind::pointer;
    if (found->kind == Kind::scalar) kind = SlotKind::real;
    if (found->kind == Kind::tunable) {
      for (const KernelEntry::Tunable& tunable : entry.tunables) {
        if (tunable.name != name || tunable.values.empty()) continue;
        if (std::holds_alternative<std::string>(tunable.values.front()))
          return fail(ErrorCode::invalid_input,
                      "{}: args: the tunable '{}' is text, which is no argument; leave it out of "
                      "args and use it as a macro",
                      entry.origin, name);
        if (std::holds_alternative<double>(tunable.values.front())) kind = SlotKind::real;
      }
    }
    arguments.push_back({name, kind});
  }
  return arguments;
}

bool is_c(const KernelEntry& entry) { return entry.source.extension() == ".c"; }

namespace {

// The user's text below our words and his macros, and our words free again behind it. The lines are
// those of his file to a compiler, which reads that file no more. Two line breaks end it: the last
// line may be continued.
Result<std::string> with_users_text(const KernelEntry& entry, std::string_view support,
                                    const std::vector<std::string>& macros) {
  ASSAY_TRY(const std::string path, quoted_path(entry));
  ASSAY_TRY(std::string_view users, source_bytes(entry, kMostSourceBytes));
  if (users.starts_with("\xef\xbb\xbf")) users.remove_prefix(3);  // A byte order mark.
  std::string text(support);
  for (const std::string& macro : macros) text += directive_of(macro);
  text += fmt::format("#line 1 {}\n", path);
  text += users;
  text += fmt::format("\n\n#line 1 \"{}\"\n", is_c(entry) ? kShimOfC : kShimOfCpp);
  for (const std::string_view word : kOwnWords)
    if (!names_word(entry, word)) text += fmt::format("#undef {}\n", word);
  return text;
}

Result<std::string> c_shim_text(const KernelEntry& entry, const std::vector<std::string>& macros) {
  ASSAY_TRY(std::string text, with_users_text(entry, kSupportOfC, macros));
  ASSAY_TRY(const std::string call, c_function_text(entry, kCallSymbol, entry.entry, entry.args));
  text += call;
  if (entry.prepare_entry.empty()) return text;
  ASSAY_TRY(const std::string prepare,
            c_function_text(entry, kPrepareSymbol, entry.prepare_entry, entry.prepare_args));
  return text + prepare;
}

}  // namespace

Result<std::string> shim_text(const KernelEntry& entry, const std::vector<std::string>& macros) {
  if (is_c(entry)) return c_shim_text(entry, macros);
  ASSAY_TRY(std::string text, with_users_text(entry, kShimSupport, macros));
  ASSAY_TRY(const std::string call,
            function_text(entry, 0, kCallSymbol, entry.entry, "args", entry.args));
  text += call;
  if (entry.prepare_entry.empty()) return text;
  ASSAY_TRY(const std::string prepare, function_text(entry, 1, kPrepareSymbol, entry.prepare_entry,
                                                     "prepare.args", entry.prepare_args));
  return text + prepare;
}

}  // namespace assay::cpp_source
