// How a kernel is called and built: tunables, arguments, workspace, preparation, constraints,
// flags.
#include <algorithm>

#include "assay/base/text.h"
#include "assay/input/cpp_words.h"
#include "assay/input/entry_reader.h"
#include "assay/input/forms.h"

namespace assay::input {
namespace {

// Beyond this a family is a typing error rather than a design space: the largest that we know has
// 77,036 rows.
constexpr int64_t kMaxRows = 1'000'000;

// What no flag is, whatever the compiler: which of them it may be handed, its provider knows.
std::optional<std::string> flag_problem(std::string_view flag) {
  if (sanitize(flag) != flag || flag.size() < 2) return "is empty or holds control characters";
  if (flag[0] == '@') return "response files are not read; write their flags here";
  if (flag[0] != '-') return "does not begin with '-'; only flags belong here, not files";
  return std::nullopt;
}

// Compilers run in folders of ours: what is relative is meant from the source's.
std::string with_whole_folder(const std::string& flag, const std::filesystem::path& source) {
  for (const std::string_view option : {"-iquote", "-isystem", "-idirafter", "-I", "-L"}) {
    if (!flag.starts_with(option) || flag.size() == option.size()) continue;
    const std::filesystem::path folder = flag.substr(option.size());
    if (folder.is_absolute()) return flag;
    return std::string(option) +
           (std::filesystem::absolute(source).parent_path() / folder).lexically_normal().string();
  }
  return flag;
}

}  // namespace

Status EntryReader::read_tunables() {
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
    // In other languages a tunable is no macro.
    if (entry_.source.extension() != ".py" && is_word_of_cpp(name)) {
      return fail(
          list.error("is a word of C++, which the macro would replace; choose another name"));
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
        return fail(
            item.error("mixes kinds of values; write all as integers, numbers, truth "
                       "values or text"));
      }
      if (std::find(tunable.values.begin(), tunable.values.end(), value) != tunable.values.end()) {
        return fail(item.error(fmt::format("{} is given twice", to_string(value))));
      }
      tunable.values.push_back(std::move(value));
    }
    rows *= std::ssize(tunable.values);  // Both factors are bounded: the file's values, kMaxRows.
    if (rows > kMaxRows) {
      return fail(
          list.error(fmt::format("more than {} combinations; shorten the lists", kMaxRows)));
    }
    entry_.tunables.push_back(std::move(tunable));
  }
  return {};
}

// An expression over sizes and tunables, or a plain integer.
Result<std::string> EntryReader::size_expression(const YamlField& field,
                                                 const std::string& besides) const {
  ASSAY_TRY(const Value value, field.as_value());
  return size_expression(field, value, besides);
}

Result<std::string> EntryReader::size_expression(const YamlField& field, const Value& value,
                                                 const std::string& besides) const {
  if (const auto* bytes = std::get_if<int64_t>(&value)) {
    if (*bytes < 0) return fail(field.error("is negative; write a number of bytes"));
    return fmt::format("{}", *bytes);
  }
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) {
    return fail(field.error("write a number of bytes or an expression, for example m * n * 4"));
  }
  ASSAY_TRY(const Expression expression, parse_expression(field, *text, besides));
  return expression.text();
}

Result<Expression> EntryReader::parse_expression(const YamlField& field, const std::string& text,
                                                 const std::string& besides) const {
  auto expression = Expression::parse(text);
  if (!expression) return fail(field.error(expression.error().message));
  std::vector<std::string> known = expression_names(entry_);
  if (!besides.empty()) known.push_back(besides);
  for (const std::string& name : expression->names()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return fail(field.error(fmt::format("in '{}': {}", sanitize(text, 200),
                                        unknown_name("size or tunable", name, known))));
  }
  return expression;
}

Status EntryReader::read_workspace() {
  ASSAY_TRY(const auto field, field_.find("workspace"));
  if (field) {
    ASSAY_TRY(entry_.workspace_text, size_expression(*field, "threads"));
  }
  return {};
}

// args of the kernel or of its preparation: names that mean something, each once.
Result<std::vector<std::string>> EntryReader::arguments(const YamlField& field) const {
  if (field.kind() != YamlField::Kind::list) {
    return fail(
        field.error("is the list of the function's parameters in order, for example "
                    "[a, b, out, m, n, k]"));
  }
  ASSAY_TRY(const std::vector<YamlField> items, field.items());
  std::vector<std::string> names;
  for (const YamlField& item : items) {
    ASSAY_TRY(std::string name, item.as_string());
    name = words_->plain_name(name);
    if (!find_argument(entry_, name)) {
      std::vector<std::string> known = words_->names();
      for (const auto& tunable : entry_.tunables) known.push_back(tunable.name);
      return fail(item.error(unknown_name("argument", name, known)));
    }
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return fail(item.error(fmt::format("{} is given twice", name)));
    }
    names.push_back(name);
  }
  if (names.empty()) return fail(field.error("is empty; write the function's parameters in order"));
  return names;
}

Status EntryReader::read_prepare() {
  ASSAY_TRY(const auto field, field_.find("prepare"));
  if (!field) return {};
  const Form& form = kernel_form(*words_).at("prepare");
  if (context_.of_plugin) {
    entry_.prepare_entry = "prepare";  // The hook.
    ASSAY_TRY(only(*field, form, {"entry"}));
  } else {
    ASSAY_TRY(only(*field, form));
    ASSAY_TRY(const YamlField entry, field->at("entry"));
    ASSAY_TRY(entry_.prepare_entry, entry.as_string());
    if (!is_function_name(entry_.prepare_entry) || entry_.prepare_entry == entry_.entry) {
      return fail(entry.error(fmt::format("'{}' must be the name of another function of the source",
                                          sanitize(entry_.prepare_entry, 60))));
    }
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

Status EntryReader::read_args() {
  ASSAY_TRY(const YamlField field, field_.at("args"));
  ASSAY_TRY(entry_.args, arguments(field));
  const auto needs = [&](std::string_view name, bool described, std::string_view how) -> Status {
    if (contains(entry_.args, name) == described) return {};
    return fail(field.error(described
                                ? fmt::format("lacks '{}', which {} describes", name, how)
                                : fmt::format("has '{}', but there is no field {}", name, how)));
  };
  ASSAY_TRY(needs("workspace", !entry_.workspace_text.empty(), "workspace"));
  ASSAY_TRY(needs("prepared", !entry_.prepare_entry.empty(), "prepare"));
  if (contains(entry_.args, "workspace_bytes") && entry_.workspace_text.empty()) {
    return fail(field.error("has 'workspace_bytes', but there is no field workspace"));
  }
  for (const KernelWords::Operand& operand : words_->operands) {
    if (contains(entry_.args, operand.role) || contains(entry_.args, "map_" + operand.role))
      continue;
    if (operand.optional) {
      ASSAY_TRY(const auto given, field_.find(operand.role));
      if (given) {
        return fail(given->error(
            fmt::format("has a type, but args does not name {}; add it there", operand.role)));
      }
      std::erase_if(rule_.operands,
                    [&](const OperandRule& rule) { return rule.role == operand.role; });
    } else if (!rule_operand(operand.role).prepared) {
      return fail(field.error(
          fmt::format("lacks '{}'; every operand is passed to the kernel", operand.role)));
    }
  }
  // A kernel that never hears of a factor can only be right where the factor is neutral.
  rule_.scalars =
      std::all_of(words_->scalars.begin(), words_->scalars.end(),
                  [&](const auto& scalar) { return contains(entry_.args, scalar.name); });
  rule_.batch = contains(entry_.args, words_->batch);
  return {};
}

Status EntryReader::add_constraint(const YamlField& field, const std::string& text) {
  ASSAY_TRY(Expression expression, parse_expression(field, text));
  entry_.constraints.emplace_back(text, std::move(expression));
  return {};
}

Status EntryReader::read_constraints() {
  ASSAY_TRY(const auto field, field_.find("constraints"));
  if (!field) return {};
  ASSAY_TRY(const auto items, expressions(*field));
  for (const auto& [item, value] : items) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) return fail(item.as_string().error());
    ASSAY_TRY(add_constraint(item, *text));
  }
  return {};
}

// One expression, or a list of them. YAML cuts [ceil_div(n, 64), m] at every comma: what was inside
// of parentheses is put together again.
Result<std::vector<std::pair<YamlField, Value>>> EntryReader::expressions(
    const YamlField& field) const {
  std::vector<YamlField> items = {field};
  if (field.kind() == YamlField::Kind::list) {
    ASSAY_TRY(items, field.items());
  }
  std::vector<std::pair<YamlField, Value>> found;
  int open = 0;  // Parentheses, at the end of the last one.
  for (const YamlField& item : items) {
    ASSAY_TRY(const Value value, item.as_value());
    const auto* given = std::get_if<std::string>(&value);
    const std::string text = given != nullptr ? *given : to_string(value);
    auto* before = open > 0 ? std::get_if<std::string>(&found.back().second) : nullptr;
    if (before != nullptr)
      *before += ", " + text;
    else
      found.emplace_back(item, value);
    for (const char c : text) open += c == '(' ? 1 : c == ')' ? -1 : 0;
    open = std::max(open, 0);
  }
  return found;
}

Status EntryReader::read_flags() {
  ASSAY_TRY(const auto flags, field_.find("flags"));
  if (flags) {
    ASSAY_TRY(entry_.flags, flags->as_strings());
    for (std::string& flag : entry_.flags) {
      if (const auto wrong = flag_problem(flag)) {
        return fail(flags->error(fmt::format("'{}' {}", sanitize(flag, 60), *wrong)));
      }
      flag = with_whole_folder(flag, entry_.source);
    }
  }
  return {};
}

Status EntryReader::read_specialised_on() {
  ASSAY_TRY(const auto specialised, field_.find("specialised_on"));
  if (specialised) {
    ASSAY_TRY(entry_.specialised_on, specialised->as_strings());
    for (const std::string& name : entry_.specialised_on) {
      if (!contains(words_->dimensions, name)) {
        return fail(
            specialised->error(fmt::format("'{}' is not a size; sizes are {}", sanitize(name, 60),
                                           join(words_->dimensions, ", "))));
      }
    }
    if (const auto twice = repeated(entry_.specialised_on)) {
      return fail(specialised->error(fmt::format("{} is given twice", *twice)));
    }
  }
  return {};
}

}  // namespace assay::input
