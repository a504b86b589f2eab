#include "shim.h"

#include "assay/base/text.h"
#include "assay/input/manifest.h"

namespace assay::cpp_source {
namespace {

// Stands below the user's file, so that its includes, macros and line numbers stay what they are;
// and without standard headers, which cost more to compile than many a kernel.
constexpr std::string_view kSupport = R"(
namespace assay_shim {

using Integer = __INT64_TYPE__;
union Slot {
  Integer integer;
  double real;
};
// Pointers to elements of as many bytes, or of any.
enum class Kind { pointer = 0, pointer_1 = 1, pointer_2 = 2, pointer_4 = 4, pointer_8 = 8, integer, real };
template <Kind... kKinds> struct Kinds {};

template <class T> constexpr bool is_pointer = false;
template <class T> constexpr bool is_pointer<T*> = true;
template <class T> constexpr bool is_void = false;
template <> constexpr bool is_void<void> = true;
template <> constexpr bool is_void<const void> = true;
template <class T> constexpr int element_bytes = 0;
template <class T> requires (!is_void<T>) constexpr int element_bytes<T*> = sizeof(T);
template <class T> constexpr bool is_real = false;
template <> constexpr bool is_real<float> = true;
template <> constexpr bool is_real<double> = true;
template <> constexpr bool is_real<long double> = true;
template <class T> concept Whole = !is_pointer<T> && !is_real<T> && requires(T value) {
  static_cast<T>(Integer{});
  static_cast<Integer>(value);
};
template <class T> struct Plain { using Type = T; };
template <class T> struct Plain<T&> { using Type = T; };
template <class T> struct Plain<const T&> { using Type = T; };

template <class Parameter, Kind kKind>
auto argument(const Slot& slot, void* const* data, bool& narrowed) {
  using T = typename Plain<Parameter>::Type;
  if constexpr (kKind <= Kind::pointer_8) {
    static_assert(is_pointer<T>, "assay: a, b, c, out, workspace and prepared are pointers, but "
                  "the function takes something else in the place of one");
    // Bytes are everybody's type, and so is void.
    static_assert(kKind == Kind::pointer || element_bytes<T> <= 1 ||
                  element_bytes<T> == static_cast<int>(kKind), "assay: an operand's elements are "
                  "not as wide as those that the function takes a pointer to; say its dtype");
    if constexpr (is_pointer<T>)
      return static_cast<T>(slot.integer < 0 ? nullptr : data[slot.integer]);
  } else if constexpr (kKind == Kind::integer) {
    static_assert(Whole<T>, "assay: sizes, strides and counts are int64_t, but the function takes "
                  "something else in the place of one");
    if constexpr (Whole<T>) {
      const T value = static_cast<T>(slot.integer);
      if (static_cast<Integer>(value) != slot.integer) narrowed = true;
      return value;
    }
  } else {
    static_assert(is_real<T>, "assay: alpha, beta and tunables with a fraction are double, but the "
                  "function takes something else in the place of one");
    if constexpr (is_real<T>) return static_cast<T>(slot.real);
  }
}

template <int... kNumbers> struct Numbers {};
template <int kCount, int... kNumbers>
struct MakeNumbers : MakeNumbers<kCount - 1, kCount - 1, kNumbers...> {};
template <int... kNumbers> struct MakeNumbers<0, kNumbers...> { using Type = Numbers<kNumbers...>; };

template <class Returned, class... Parameters, Kind... kKinds, int... kNumbers>
int call(Returned (*function)(Parameters...), const Slot* slots, void* const* data, Kinds<kKinds...>,
         Numbers<kNumbers...>) {
  bool narrowed = false;
  const auto checked = [&](auto... values) -> int {
    if (narrowed) return kNarrowed;
    if constexpr (is_void<Returned>) {
      function(values...);
      return 0;
    } else {
      static_assert(Whole<Returned>, "assay: the function returns neither void nor an int that is 0 "
                    "for success");
      if constexpr (Whole<Returned>) return static_cast<int>(function(values...));
    }
  };
  return checked(argument<Parameters, kKinds>(slots[kNumbers], data, narrowed)...);
}

template <class Returned, class... Parameters, Kind... kKinds>
int check(Returned (*function)(Parameters...), const Slot* slots, void* const* data,
          Kinds<kKinds...> kinds) {
  if constexpr (sizeof...(Parameters) == sizeof...(kKinds))
    return call(function, slots, data, kinds,
                typename MakeNumbers<static_cast<int>(sizeof...(kKinds))>::Type{});
  else
    return -1;
}

template <class Returned, class... Parameters>
constexpr int count(Returned (*)(Parameters...)) { return static_cast<int>(sizeof...(Parameters)); }

}  // namespace assay_shim
)";

std::string_view kind_text(SlotKind kind) {
  switch (kind) {
    case SlotKind::pointer:
      return "assay_shim::Kind::pointer";
    case SlotKind::pointer_1:
      return "assay_shim::Kind::pointer_1";
    case SlotKind::pointer_2:
      return "assay_shim::Kind::pointer_2";
    case SlotKind::pointer_4:
      return "assay_shim::Kind::pointer_4";
    case SlotKind::pointer_8:
      return "assay_shim::Kind::pointer_8";
    case SlotKind::integer:
      return "assay_shim::Kind::integer";
    case SlotKind::real:
      return "assay_shim::Kind::real";
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

Result<std::string> function_text(const KernelEntry& entry, std::string_view name,
                                  const std::string& function, std::string_view field,
                                  const std::vector<std::string>& args) {
  ASSAY_TRY(const auto arguments, call_arguments(entry, args));
  std::vector<std::string> kinds;
  for (const CallArgument& argument : arguments) kinds.emplace_back(kind_text(argument.kind));
  return fmt::format(
      "\nstatic_assert(assay_shim::count(&{1}) == {2}, \"assay: {3} lists {2} values, but {1} "
      "takes another number of parameters\");\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) int {0}(\n"
      "    const assay_shim::Slot* slots, void* const* data) {{\n"
      "  return assay_shim::check(&{1}, slots, data, assay_shim::Kinds<{4}>{{}});\n}}\n",
      name, function, arguments.size(), field, join(kinds, ", "));
}

// A path inside #include "...": GCC and Clang take everything up to the quote literally.
Result<std::string> include_path(const KernelEntry& entry) {
  const std::string path = entry.source.string();
  if (path.find_first_of("\"\n") != std::string::npos)
    return fail(ErrorCode::invalid_input,
                "{}: source: '{}' holds a quote or a line break; rename the file", entry.origin,
                sanitize(path, 300));
  return path;
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

Result<std::string> c_shim_text(const KernelEntry& entry, const std::string& path) {
  std::string text = fmt::format("#include \"{}\"\n{}", path, kSupportOfC);
  ASSAY_TRY(const std::string call, c_function_text(entry, "assay_call", entry.entry, entry.args));
  text += call;
  if (entry.prepare_entry.empty()) return text;
  ASSAY_TRY(const std::string prepare,
            c_function_text(entry, "assay_prepare", entry.prepare_entry, entry.prepare_args));
  return text + prepare;
}

}  // namespace

Result<std::string> shim_text(const KernelEntry& entry) {
  ASSAY_TRY(const std::string path, include_path(entry));
  if (is_c(entry)) return c_shim_text(entry, path);
  std::string text = fmt::format("#include \"{}\"\n", path);
  text += fmt::format("namespace assay_shim {{ constexpr int kNarrowed = {}; }}\n", kNarrowed);
  text += kSupport;
  ASSAY_TRY(const std::string call,
            function_text(entry, "assay_call", entry.entry, "args", entry.args));
  text += call;
  if (entry.prepare_entry.empty()) return text;
  ASSAY_TRY(const std::string prepare, function_text(entry, "assay_prepare", entry.prepare_entry,
                                                     "prepare.args", entry.prepare_args));
  return text + prepare;
}

}  // namespace assay::cpp_source
