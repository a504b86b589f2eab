#include "assay/input/manifest_entry.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <optional>

#include "assay/base/checked.h"
#include "assay/base/text.h"
#include "assay/input/kernel_words.h"
#include "assay/op/operation.h"
#include "assay/tensor/dtype.h"

namespace assay::input {
namespace {

// Beyond this a family is a typing error rather than a design space: the largest that we know has
// 77,036 rows.
constexpr int64_t kMaxRows = 1'000'000;
constexpr int64_t kMaxAlignment = 4096;  // A page: no allocator promises more.

bool is_identifier(std::string_view text) {
  const auto inner = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '$'; };
  return !text.empty() && text.size() <= 200 && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), inner);
}

// Only decides which fields make sense; who brings a kernel is decided where providers are known.
std::string provider_of_extension(const std::filesystem::path& source) {
  const std::string extension = source.extension().string();
  if (extension == ".cu") return "cuda_source";
  if (extension == ".ptx") return "ptx";
  if (extension == ".py") return "triton";
  if (extension == ".so") return "plugin";
  return "cpp_source";
}

bool launches_on_gpu(std::string_view provider) {
  return provider == "cuda_source" || provider == "ptx" || provider == "triton" ||
         provider == "tvm_ffi";
}

// Fields by which kernels for a GPU say how they are launched.
const std::vector<std::string>& launch_fields() {
  static const std::vector<std::string> fields = {
      "launch", "grid", "block", "cluster", "shared_memory", "tensor_maps", "dependent_launch"};
  return fields;
}

class EntryReader {
 public:
  EntryReader(const YamlField& field, const EntryContext& context)
      : field_(field), context_(context) {}

  Result<std::vector<KernelEntry>> read() {
    entry_.origin = fmt::format("{}:{}", field_.origin(), field_.line());
    ASSAY_TRY(read_operation());
    ASSAY_TRY(read_source());
    ASSAY_TRY(check_fields());
    ASSAY_TRY(read_names());
    ASSAY_TRY(read_dtypes());
    ASSAY_TRY(read_tunables());
    entry_.rule = std::make_shared<ProblemRule>(rule_);  // find_argument asks for the operation.
    ASSAY_TRY(read_workspace());
    ASSAY_TRY(read_prepare());
    ASSAY_TRY(read_args());
    ASSAY_TRY(read_multiples("divisibility"));
    ASSAY_TRY(read_multiples("alignment"));
    ASSAY_TRY(read_constraints());
    ASSAY_TRY(read_lists());
    return by_layout();
  }

 private:
  Status read_operation() {
    rule_.operation = "gemm";
    ASSAY_TRY(const auto field, field_.find("operation"));
    if (field) {
      ASSAY_TRY(rule_.operation, field->as_string());
      if (const auto known = find_operation(rule_.operation); !known) {
        return fail(field->error(known.error().message));
      }
    }
    words_ = find_words(rule_.operation);
    if (words_ == nullptr) {
      return fail((field ? *field : field_)
                      .error("kernels of this operation cannot be described in a file yet",
                             ErrorCode::unsupported));
    }
    return {};
  }

  Status read_source() {
    ASSAY_TRY(const auto field, field_.find("source"));
    if (!context_.source.empty()) {
      if (field) {
        return fail(field->error("the comment stands in the source itself; leave this field out"));
      }
      entry_.source = context_.source;
      return {};
    }
    ASSAY_TRY(const YamlField source, field_.at("source"));
    ASSAY_TRY(const std::string text, source.as_string());
    if (sanitize(text) != text) {
      return fail(source.error("holds control characters; rename the file"));
    }
    entry_.source = (context_.folder / text).lexically_normal();
    std::error_code failed;
    if (text.empty() || !std::filesystem::is_regular_file(entry_.source, failed)) {
      return fail(source.error(fmt::format("there is no file '{}'; paths are relative to the manifest",
                                           sanitize(entry_.source.string(), 300)),
                               ErrorCode::not_found));
    }
    return {};
  }

  Status check_fields() {
    ASSAY_TRY(const auto provider, field_.find("provider"));
    std::string effective = provider_of_extension(entry_.source);
    if (provider) {
      ASSAY_TRY(entry_.provider, provider->as_string());
      if (!matches_name_rule(entry_.provider)) {
        return fail(provider->error("is not a provider's name; `assay providers` lists them"));
      }
      effective = entry_.provider;
    }
    std::vector<std::string> known = {
        "name",       "provider",       "source",    "entry",     "operation", "dtype",
        "accumulate", "layout",         "args",      "tunables",  "constraints", "divisibility",
        "alignment",  "targets",        "flags",     "workspace", "prepare",   "epilogues",
        "deterministic", "specialised_on"};
    for (const KernelWords::Operand& operand : words_->operands) known.push_back(operand.role);
    if (launches_on_gpu(effective)) {
      known.insert(known.end(), launch_fields().begin(), launch_fields().end());
    }
    ASSAY_TRY(const auto members, field_.members());
    for (const auto& [name, member] : members) {
      const auto& launch = launch_fields();
      if (std::find(launch.begin(), launch.end(), name) == launch.end()) continue;
      return fail(member.error(launches_on_gpu(effective)
                                   ? fmt::format("not supported in this version for {}", effective)
                                   : fmt::format("belongs to kernels for a GPU, not to {}; remove it",
                                                 sanitize(effective, 60)),
                               launches_on_gpu(effective) ? ErrorCode::unsupported
                                                          : ErrorCode::invalid_input));
    }
    return field_.only(known);
  }

  Status read_names() {
    std::optional<YamlField> entry;
    if (context_.entry.empty()) {
      ASSAY_TRY(entry, field_.at("entry"));
      ASSAY_TRY(entry_.entry, entry->as_string());
    } else {
      ASSAY_TRY(entry, field_.find("entry"));
      entry_.entry = context_.entry;
    }
    if (!is_identifier(entry_.entry)) {
      return fail((entry ? *entry : field_)
                      .error(fmt::format("'{}' cannot be a function's name; write it as declared "
                                         "extern \"C\", for example my_gemm",
                                         sanitize(entry_.entry, 60))));
    }
    entry_.name = entry_.entry;
    std::replace(entry_.name.begin(), entry_.name.end(), '$', '_');
    ASSAY_TRY(const auto name, field_.find("name"));
    if (name) {
      ASSAY_TRY(entry_.name, name->as_string());
      if (!matches_name_rule(entry_.name)) {
        return fail(name->error(fmt::format(
            "'{}' cannot be a name; use letters, digits, '_', '.' and '-'",
            sanitize(entry_.name, 60))));
      }
    }
    ASSAY_TRY(const auto deterministic, field_.find("deterministic"));
    if (deterministic) {
      ASSAY_TRY(entry_.deterministic, deterministic->as_bool());
    }
    return {};
  }

  static Result<std::vector<DType>> dtypes(const YamlField& field) {
    ASSAY_TRY(const std::vector<std::string> names, field.as_strings());
    if (names.empty()) return fail(field.error("is empty; write a type, for example f32"));
    std::vector<DType> dtypes;
    for (const std::string& name : names) {
      const auto dtype = parse_dtype(name);
      if (!dtype) return fail(field.error(dtype.error().message));
      if (std::find(dtypes.begin(), dtypes.end(), *dtype) != dtypes.end()) {
        return fail(field.error(fmt::format("{} is given twice", name)));
      }
      dtypes.push_back(*dtype);
    }
    return dtypes;
  }

  // A rule for every operand but the optional ones, which get theirs if args names them.
  Status read_dtypes() {
    ASSAY_TRY(const auto common, field_.find("dtype"));
    std::vector<DType> all;
    if (common) {
      ASSAY_TRY(all, dtypes(*common));
    }
    for (const KernelWords::Operand& operand : words_->operands) {
      ASSAY_TRY(const auto field, field_.find(operand.role));
      OperandRule rule{.role = operand.role, .dtypes = all};
      if (field) {
        ASSAY_TRY(rule.dtypes, dtypes(*field));
      } else if (operand.optional) {
        const OperandRule* like = rule_.find_operand(operand.layout_of);
        if (like != nullptr) rule.dtypes = like->dtypes;
      } else if (!common) {
        return fail(field_.error(fmt::format("has neither '{}' nor 'dtype'; write its type, for "
                                             "example {}: f32",
                                             operand.role, operand.role)));
      }
      rule_.operands.push_back(std::move(rule));
    }
    ASSAY_TRY(const auto accumulate, field_.find("accumulate"));
    if (accumulate) {
      ASSAY_TRY(rule_.accumulate, dtypes(*accumulate));
    }
    return {};
  }

  Status read_tunables() {
    ASSAY_TRY(const auto field, field_.find("tunables"));
    if (!field) return {};
    ASSAY_TRY(const auto members, field->members());
    int64_t rows = 1;
    for (const auto& [name, list] : members) {
      if (!is_identifier(name) || name.find('$') != std::string::npos) {
        return fail(list.error("a tunable's name is an identifier: letters, digits and '_'"));
      }
      if (words_->find(name)) {
        return fail(list.error("has a meaning of its own in args; choose another name"));
      }
      if (list.kind() != YamlField::Kind::list) {
        return fail(list.error("a tunable is a list of its values, for example [4, 8]"));
      }
      ASSAY_TRY(const auto items, list.items());
      if (items.empty()) return fail(list.error("is empty; write at least one value"));
      KernelEntry::Tunable tunable{.name = name, .values = {}};
      for (const YamlField& item : items) {
        ASSAY_TRY(Value value, item.as_value());
        if (const auto* text = std::get_if<std::string>(&value);
            text != nullptr && (text->empty() || sanitize(*text, 200) != *text)) {
          return fail(item.error("is empty, too long or holds control characters"));
        }
        if (!tunable.values.empty() && tunable.values.front().index() != value.index()) {
          return fail(item.error("mixes kinds of values; write all as integers, numbers, truth "
                                 "values or text"));
        }
        if (std::find(tunable.values.begin(), tunable.values.end(), value) != tunable.values.end()) {
          return fail(item.error(fmt::format("{} is given twice", to_string(value))));
        }
        tunable.values.push_back(std::move(value));
      }
      rows *= std::ssize(tunable.values);  // Both factors are bounded: the file's values, kMaxRows.
      if (rows > kMaxRows) {
        return fail(list.error(fmt::format("more than {} combinations; shorten the lists", kMaxRows)));
      }
      entry_.tunables.push_back(std::move(tunable));
    }
    return {};
  }

  // An expression over sizes and tunables, or a plain integer.
  Result<std::string> size_expression(const YamlField& field) const {
    ASSAY_TRY(const Value value, field.as_value());
    if (const auto* bytes = std::get_if<int64_t>(&value)) {
      if (*bytes < 0) return fail(field.error("is negative; write a number of bytes"));
      return fmt::format("{}", *bytes);
    }
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) {
      return fail(field.error("write a number of bytes or an expression, for example m * n * 4"));
    }
    ASSAY_TRY(const Expression expression, parse_expression(field, *text));
    return expression.text();
  }

  Result<Expression> parse_expression(const YamlField& field, const std::string& text) const {
    auto expression = Expression::parse(text);
    if (!expression) {
      return fail(field.error(fmt::format("in '{}': {}", sanitize(text, 200),
                                          expression.error().message)));
    }
    const std::vector<std::string> known = expression_names(entry_);
    for (const std::string& name : expression->names()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string similar = nearest(name, known);
      return fail(field.error(fmt::format(
          "in '{}': there is no size or tunable '{}'; {}", sanitize(text, 200), sanitize(name, 60),
          similar.empty() ? "known are " + join(known, ", ") : "did you mean '" + similar + "'?")));
    }
    return expression;
  }

  Status read_workspace() {
    ASSAY_TRY(const auto field, field_.find("workspace"));
    if (field) {
      ASSAY_TRY(entry_.workspace_text, size_expression(*field));
    }
    return {};
  }

  // args of the kernel or of its preparation: names that mean something, each once.
  Result<std::vector<std::string>> arguments(const YamlField& field) const {
    if (field.kind() != YamlField::Kind::list) {
      return fail(field.error("is the list of the function's parameters in order, for example "
                              "[a, b, out, m, n, k]"));
    }
    ASSAY_TRY(const std::vector<YamlField> items, field.items());
    std::vector<std::string> names;
    for (const YamlField& item : items) {
      ASSAY_TRY(const std::string name, item.as_string());
      if (!find_argument(entry_, name)) {
        std::vector<std::string> known = words_->names();
        for (const auto& tunable : entry_.tunables) known.push_back(tunable.name);
        const std::string similar = nearest(name, known);
        return fail(item.error(fmt::format("there is no argument '{}'; {}", sanitize(name, 60),
                                           similar.empty() ? "known are " + join(known, ", ")
                                                           : "did you mean '" + similar + "'?")));
      }
      if (std::find(names.begin(), names.end(), name) != names.end()) {
        return fail(item.error(fmt::format("{} is given twice", name)));
      }
      names.push_back(name);
    }
    if (names.empty()) return fail(field.error("is empty; write the function's parameters in order"));
    return names;
  }

  Status read_prepare() {
    ASSAY_TRY(const auto field, field_.find("prepare"));
    if (!field) return {};
    static const std::vector<std::string> kKnown = {"entry", "bytes", "args"};
    ASSAY_TRY(field->only(kKnown));
    ASSAY_TRY(const YamlField entry, field->at("entry"));
    ASSAY_TRY(entry_.prepare_entry, entry.as_string());
    if (!is_identifier(entry_.prepare_entry) || entry_.prepare_entry == entry_.entry) {
      return fail(entry.error(fmt::format("'{}' must be the name of another function of the source",
                                          sanitize(entry_.prepare_entry, 60))));
    }
    ASSAY_TRY(const YamlField bytes, field->at("bytes"));
    ASSAY_TRY(entry_.prepare_bytes_text, size_expression(bytes));
    ASSAY_TRY(const YamlField args, field->at("args"));
    ASSAY_TRY(entry_.prepare_args, arguments(args));
    bool any = false;
    for (const std::string& name : entry_.prepare_args) {
      using Kind = Argument::Kind;
      const Argument argument = *find_argument(entry_, name);
      if (argument.kind == Kind::workspace || argument.kind == Kind::workspace_bytes ||
          argument.kind == Kind::scalar) {
        return fail(args.error(fmt::format("{} is not there yet when constants are prepared", name)));
      }
      if (argument.kind != Kind::operand) continue;
      const KernelWords::Operand& operand = *words_->find_operand(argument.operand);
      if (operand.output || operand.optional) {
        return fail(args.error(fmt::format("{} cannot be prepared: only constant inputs can", name)));
      }
      any = rule_operand(argument.operand).prepared = true;
    }
    if (!any) return fail(args.error("names no operand to prepare; write for example b"));
    if (!contains(entry_.prepare_args, "prepared")) {
      return fail(args.error("lacks 'prepared', the memory that is written"));
    }
    return {};
  }

  static bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  OperandRule& rule_operand(std::string_view role) {
    return *std::find_if(rule_.operands.begin(), rule_.operands.end(),
                         [&](const OperandRule& rule) { return rule.role == role; });
  }

  Status read_args() {
    ASSAY_TRY(const YamlField field, field_.at("args"));
    ASSAY_TRY(entry_.args, arguments(field));
    const auto needs = [&](std::string_view name, bool described, std::string_view how) -> Status {
      if (contains(entry_.args, name) == described) return {};
      return fail(field.error(described ? fmt::format("lacks '{}', which {} describes", name, how)
                                        : fmt::format("has '{}', but there is no field {}", name, how)));
    };
    ASSAY_TRY(needs("workspace", !entry_.workspace_text.empty(), "workspace"));
    ASSAY_TRY(needs("prepared", !entry_.prepare_entry.empty(), "prepare"));
    if (contains(entry_.args, "workspace_bytes") && entry_.workspace_text.empty()) {
      return fail(field.error("has 'workspace_bytes', but there is no field workspace"));
    }
    for (const KernelWords::Operand& operand : words_->operands) {
      if (contains(entry_.args, operand.role)) continue;
      if (operand.optional) {
        ASSAY_TRY(const auto given, field_.find(operand.role));
        if (given) {
          return fail(given->error(fmt::format("has a type, but args does not name {}; add it there",
                                               operand.role)));
        }
        std::erase_if(rule_.operands, [&](const OperandRule& rule) { return rule.role == operand.role; });
      } else if (!rule_operand(operand.role).prepared) {
        return fail(field.error(fmt::format("lacks '{}'; every operand is passed to the kernel",
                                            operand.role)));
      }
    }
    // A kernel that never hears of a factor can only be right where the factor is neutral.
    rule_.scalars = std::all_of(words_->scalars.begin(), words_->scalars.end(),
                                [&](const std::string& name) { return contains(entry_.args, name); });
    rule_.batch = contains(entry_.args, words_->batch);
    return {};
  }

  static Status check_multiple(const YamlField& field, bool bytes, int64_t value) {
    if (bytes && !std::has_single_bit(static_cast<uint64_t>(value))) {
      return fail(field.error(fmt::format("{} is not a power of two; write 16, 32 or 64", value)));
    }
    return {};
  }

  // divisibility and alignment: one number for all operands, or a map by operand. Divisibility may
  // also name dimensions, which is a constraint.
  Status read_multiples(std::string_view what) {
    const bool bytes = what == "alignment";
    const int64_t most = bytes ? kMaxAlignment : int64_t{1} << 31;
    ASSAY_TRY(const auto field, field_.find(what));
    if (!field) return {};
    const auto set = [&](OperandRule& rule, int64_t value) {
      (bytes ? rule.alignment : rule.divisibility) = value;
    };
    if (field->kind() != YamlField::Kind::map) {
      ASSAY_TRY(const int64_t value, field->as_int64(1, most));
      ASSAY_TRY(check_multiple(*field, bytes, value));
      for (OperandRule& rule : rule_.operands) set(rule, value);
      return {};
    }
    std::vector<std::string> known;
    for (const OperandRule& rule : rule_.operands) known.push_back(rule.role);
    if (!bytes) known.insert(known.end(), words_->dimensions.begin(), words_->dimensions.end());
    ASSAY_TRY(field->only(known));
    ASSAY_TRY(const auto members, field->members());
    for (const auto& [name, member] : members) {
      ASSAY_TRY(const int64_t value, member.as_int64(1, most));
      ASSAY_TRY(check_multiple(member, bytes, value));
      if (rule_.find_operand(name) != nullptr) {
        set(rule_operand(name), value);
      } else {
        ASSAY_TRY(add_constraint(member, fmt::format("{} % {} == 0", name, value)));
      }
    }
    return {};
  }

  Status add_constraint(const YamlField& field, const std::string& text) {
    ASSAY_TRY(Expression expression, parse_expression(field, text));
    entry_.constraints.emplace_back(text, std::move(expression));
    return {};
  }

  Status read_constraints() {
    ASSAY_TRY(const auto field, field_.find("constraints"));
    if (!field) return {};
    std::vector<YamlField> items = {*field};
    if (field->kind() == YamlField::Kind::list) {
      ASSAY_TRY(items, field->items());
    }
    for (const YamlField& item : items) {
      ASSAY_TRY(const std::string text, item.as_string());
      ASSAY_TRY(add_constraint(item, text));
    }
    return {};
  }

  // Flags reach a compiler of the user's choice. Those are refused that would change what is built
  // or let it depend on a file that the cache does not know.
  static std::optional<std::string> flag_problem(std::string_view flag) {
    static constexpr std::string_view kRefused[] = {"-o",       "-fplugin", "-plugin", "-specs",
                                                    "--specs",  "-wrapper", "-save-temps", "-M"};
    if (sanitize(flag) != flag || flag.size() < 2) return "is empty or holds control characters";
    if (flag[0] == '@') return "response files are not read; write their flags here";
    if (flag[0] != '-') return "does not begin with '-'; only flags belong here, not files";
    if (flag == "-c" || flag == "-S" || flag == "-E" || flag == "-x" || flag == "-") {
      return "decides what is built, which assay does; remove it";
    }
    for (const std::string_view refused : kRefused) {
      if (flag.starts_with(refused)) return "decides what is built, which assay does; remove it";
    }
    return std::nullopt;
  }

  Status read_lists() {
    ASSAY_TRY(const auto flags, field_.find("flags"));
    if (flags) {
      ASSAY_TRY(entry_.flags, flags->as_strings());
      for (const std::string& flag : entry_.flags) {
        if (const auto wrong = flag_problem(flag)) {
          return fail(flags->error(fmt::format("'{}' {}", sanitize(flag, 60), *wrong)));
        }
      }
    }
    ASSAY_TRY(const auto targets, field_.find("targets"));
    if (targets) {
      ASSAY_TRY(const std::vector<std::string> texts, targets->as_strings());
      if (texts.empty()) return fail(targets->error("is empty; leave it out if any target will do"));
      for (const std::string& text : texts) {
        auto target = Target::parse(text);
        if (!target) return fail(targets->error(target.error().message));
        rule_.targets.push_back(std::move(*target));
      }
    }
    ASSAY_TRY(const auto specialised, field_.find("specialised_on"));
    if (specialised) {
      ASSAY_TRY(entry_.specialised_on, specialised->as_strings());
      for (const std::string& name : entry_.specialised_on) {
        if (!contains(words_->dimensions, name)) {
          return fail(specialised->error(fmt::format("'{}' is not a size; sizes are {}",
                                                     sanitize(name, 60),
                                                     join(words_->dimensions, ", "))));
        }
      }
      if (const auto twice = repeated(entry_.specialised_on)) {
        return fail(specialised->error(fmt::format("{} is given twice", *twice)));
      }
    }
    ASSAY_TRY(const auto epilogues, field_.find("epilogues"));
    if (epilogues) {
      ASSAY_TRY(rule_.epilogues, epilogues->as_strings());
      for (const std::string& name : rule_.epilogues) {
        if (!matches_name_rule(name)) {
          return fail(epilogues->error(fmt::format("'{}' cannot be a name", sanitize(name, 60))));
        }
      }
    }
    return {};
  }

  static std::optional<std::string> repeated(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    const auto found = std::adjacent_find(names.begin(), names.end());
    return found == names.end() ? std::nullopt : std::optional(*found);
  }

  // Major modes from letters, one for each operand that is not optional; the last may be left out
  // and is then t.
  Status apply_layout(const YamlField& field, std::string_view layout, ProblemRule& rule) const {
    std::vector<const KernelWords::Operand*> lettered;
    for (const KernelWords::Operand& operand : words_->operands) {
      if (!operand.optional) lettered.push_back(&operand);
    }
    const bool letters = layout.find_first_not_of("tn") == std::string_view::npos;
    if (layout != "any" &&
        (!letters || layout.size() > lettered.size() || layout.size() + 1 < lettered.size())) {
      return fail(field.error(fmt::format(
          "'{}' is not a layout; write t (row-major) or n (column-major) for each of a, b and "
          "perhaps out, for example tt, or any",
          sanitize(layout, 60))));
    }
    if (layout == "any") return check_strides(field);
    for (size_t i = 0; i < lettered.size(); ++i) {
      const Major major = i < layout.size() && layout[i] == 'n' ? Major::column : Major::row;
      for (OperandRule& operand : rule.operands) {
        const KernelWords::Operand* words = words_->find_operand(operand.role);
        if (operand.role == lettered[i]->role || words->layout_of == lettered[i]->role) {
          operand.major = major;
        }
      }
    }
    return {};
  }

  // A kernel for any layout must be told the strides.
  Status check_strides(const YamlField& field) const {
    for (const OperandRule& operand : rule_.operands) {
      if (operand.prepared) continue;
      const auto& dimensions = words_->find_operand(operand.role)->dimensions;
      for (size_t i = dimensions.size() - 2; i < dimensions.size(); ++i) {
        const std::string name = operand.role + "_" + dimensions[i];
        if (contains(entry_.args, name)) continue;
        return fail(field.error(fmt::format(
            "a kernel for any layout needs all strides, but args lacks '{}'", name)));
      }
    }
    return {};
  }

  Result<std::vector<KernelEntry>> by_layout() const {
    ASSAY_TRY(const YamlField field, field_.at("layout"));
    ASSAY_TRY(const std::vector<std::string> layouts, field.as_strings());
    if (layouts.empty()) return fail(field.error("is empty; write a layout, for example tt"));
    if (const auto twice = repeated(layouts)) {
      return fail(field.error(fmt::format("{} is given twice", *twice)));
    }
    std::vector<KernelEntry> entries;
    for (const std::string& layout : layouts) {
      ProblemRule rule = rule_;
      ASSAY_TRY(apply_layout(field, layout, rule));
      KernelEntry entry = entry_;
      if (layouts.size() > 1) entry.name += "_" + layout;
      entry.rule = std::make_shared<ProblemRule>(std::move(rule));
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  const YamlField& field_;
  const EntryContext& context_;
  const KernelWords* words_ = nullptr;
  ProblemRule rule_;
  KernelEntry entry_;
};

}  // namespace

Result<std::vector<KernelEntry>> read_entry(const YamlField& field, const EntryContext& context) {
  if (field.kind() != YamlField::Kind::map) {
    return fail(field.error("a kernel is a map of fields, for example {entry: my_gemm, dtype: f32, "
                            "layout: tt, args: [a, b, out, m, n, k]}"));
  }
  return EntryReader(field, context).read();
}

}  // namespace assay::input
