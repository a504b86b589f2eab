#include "family.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/input/argument_values.h"
#include "assay/input/device_family.h"
#include "assay/input/kernel_words.h"
#include "assay/input/manifest.h"
#include "assay/input/python_files.h"
#include "assay/kernel/device_code/resources.h"
#include "helper.h"
#include "providers/triton/info.h"
#include "python.h"

namespace assay::triton {
namespace {

using input::Argument;

constexpr const char* kCubin = "kernel.cubin";
constexpr const char* kAligned = "aligned";  // A design's attribute of ours: see Specialised.
constexpr int64_t kMultiple = 16;            // What Triton asks whether a value is a multiple of.
// Tunables that are options of the compiler.
constexpr std::string_view kOptions[] = {"num_warps", "num_stages", "num_ctas", "maxnreg"};
constexpr std::string_view kHelper = "compile.py";
constexpr std::string_view kOwnFile = "triton_matmul.py";

std::string_view embedded(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files())
    if (file.name.ends_with(name)) return file.content;
  return {};
}

Result<std::string> type_name(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "fp64";
    case DType::f32:
      return "fp32";
    case DType::f16:
      return "fp16";
    case DType::bf16:
      return "bf16";
    case DType::s8:
      return "i8";
    case DType::s32:
      return "i32";
    default:
      return fail(ErrorCode::unsupported, "Triton is given no elements of {} here",
                  to_string(dtype));
  }
}

Json json_of(const Value& value) {
  return std::visit([](const auto& held) { return Json(held); }, value);
}

// The largest power of two that divides it, 16 at most.
int64_t power_of_two(int64_t value) { return value <= 0 ? 1 : std::min(kMultiple, value & -value); }

// What of the arguments the code may be compiled for. Of a size the compiler sees the value where
// the entry asks for that; a stride along which elements lie side by side is 1; and of the other
// sizes and strides that decide how wide a load can be, whether all are multiples of 16: that
// makes two rows of one, `aligned` or not, of which a problem has one.
class Specialised {
 public:
  explicit Specialised(const KernelEntry& entry) : entry_(entry) {
    std::set<std::string> side_by_side;  // Dimensions.
    for (const OperandRule& rule : entry.rule->operands) {
      const std::string inner = inner_of(rule);
      if (!inner.empty()) side_by_side.insert(inner);
    }
    for (const std::string& name : entry.args) {
      const auto argument = input::find_argument(entry, name);
      if (!argument || is_constant(name)) continue;
      if (argument->kind == Argument::Kind::stride || argument->kind == Argument::Kind::leading ||
          (argument->kind == Argument::Kind::size && side_by_side.contains(argument->dimension)))
        decisive_.push_back(name);
    }
  }

  const std::vector<std::string>& decisive() const { return decisive_; }
  bool is_decisive(const std::string& name) const {
    return std::find(decisive_.begin(), decisive_.end(), name) != decisive_.end();
  }

  // Whether the function gets no parameter for it.
  bool is_constant(const std::string& name) const {
    const auto argument = input::find_argument(entry_, name);
    if (!argument) return false;
    if (argument->kind == Argument::Kind::tunable || is_one(*argument)) return true;
    return argument->kind == Argument::Kind::size &&
           std::find(entry_.specialised_on.begin(), entry_.specialised_on.end(),
                     argument->dimension) != entry_.specialised_on.end();
  }
  bool is_one(const Argument& argument) const {
    if (argument.kind != Argument::Kind::stride) return false;
    const OperandRule* rule = entry_.rule->find_operand(argument.operand);
    return rule != nullptr && inner_of(*rule) == argument.dimension;
  }

  bool is_aligned(const KernelMetadata& row, const Problem& problem) const {
    return std::all_of(decisive_.begin(), decisive_.end(), [&](const std::string& name) {
      const auto value = input::argument_value({entry_, row, problem, 1, 0}, name);
      return value && value->integer % kMultiple == 0;
    });
  }

  // Of a size or stride, whatever the problem: what the entry asks of every one.
  int64_t promised(const Argument& argument) const {
    int64_t promised = 1;
    for (const auto& [text, expression] : entry_.constraints) {
      const std::string head = argument.dimension + " % ";
      int64_t by = 0;
      if (argument.kind == Argument::Kind::size && text.starts_with(head) &&
          text.ends_with(" == 0") &&
          std::from_chars(text.data() + head.size(), text.data() + text.size() - 5, by).ptr ==
              text.data() + text.size() - 5)
        promised = std::max(promised, power_of_two(by));
    }
    for (const OperandRule& rule : entry_.rule->operands) {
      if (argument.kind == Argument::Kind::size && inner_of(rule) == argument.dimension)
        promised = std::max(promised, power_of_two(rule.divisibility));
      if (argument.kind != Argument::Kind::size && rule.role == argument.operand &&
          !rule.dtypes.empty())
        promised = std::max(promised, power_of_two(rule.alignment / largest(rule)));
    }
    return promised;
  }

 private:
  static int64_t largest(const OperandRule& rule) {
    int64_t bytes = 1;
    for (const DType dtype : rule.dtypes) bytes = std::max(bytes, size_bytes(dtype));
    return bytes;
  }

  // The dimension whose elements lie side by side; empty where any may.
  std::string inner_of(const OperandRule& rule) const {
    const input::KernelWords* words = input::find_words(entry_.rule->operation);
    const auto* word = words == nullptr ? nullptr : words->find_operand(rule.role);
    if (word == nullptr || rule.major == Major::any || word->dimensions.size() < 2) return {};
    return word->dimensions[word->dimensions.size() - (rule.major == Major::row ? 1 : 2)];
  }

  const KernelEntry& entry_;
  std::vector<std::string> decisive_;
};

class TritonFamily final : public input::DeviceFamily {
 public:
  TritonFamily(Description description, std::vector<std::vector<Expression>> boxes,
               ProviderSettings settings, std::string text)
      : DeviceFamily(std::move(description)),
        specialised_(entry()),
        boxes_(std::move(boxes)),
        settings_(std::move(settings)),
        text_(std::move(text)) {}

 private:
  std::string code_objection(const Target& target) const override {
    return capability_of(target) >= 75 ? "" : "Triton compiles for sm_75 and later";
  }

  static int capability_of(const Target& target) {
    int number = 0;
    if (target.is_gpu())
      std::from_chars(target.arch.data() + 3, target.arch.data() + target.arch.size(), number);
    return number;
  }

  std::string twin_objection(const KernelMetadata& row, const Problem& problem) const override {
    if (specialised_.decisive().empty() ||
        row.design.truth(kAligned, false) == specialised_.is_aligned(row, problem))
      return {};
    return row.design.truth(kAligned, false)
               ? fmt::format("it is compiled for multiples of {} of {}", kMultiple,
                             join(specialised_.decisive(), ", "))
               : fmt::format("the row that is compiled for multiples of {} takes this problem",
                             kMultiple);
  }

  Result<std::string> descriptor_type(const std::string& name, const KernelMetadata& row,
                                      const Problem& problem) const {
    const auto& maps = entry().launch->maps;
    for (size_t i = 0; i < maps.size(); ++i) {
      if (name != "map_" + maps[i].role) continue;
      ASSAY_TRY(const std::string element, element_of(maps[i].role, problem));
      std::string extents;
      for (size_t at = boxes_[i].size(); at-- > 0;) {
        ASSAY_TRY(const int64_t extent,
                  input::EntryRows::evaluate(boxes_[i][at], row.design, problem));
        extents += fmt::format("{}{}", extents.empty() ? "" : ",", extent);
      }
      return fmt::format("tensordesc<{}[{}]>", element, extents);
    }
    return fail(ErrorCode::internal, "{} is not described", name);
  }

  Result<std::string> element_of(const std::string& role, const Problem& problem) const {
    const Operand* operand = problem.find_operand(role);
    const OperandRule* rule = entry().rule->find_operand(role);
    if (operand == nullptr && (rule == nullptr || rule->dtypes.empty()))
      return fail(ErrorCode::internal, "nothing says the type of {}", role);
    return type_name(operand != nullptr ? operand->dtype : rule->dtypes.front());
  }

  // What the helper is told of one name of args.
  Result<Json> argument(const std::string& name, const KernelMetadata& row,
                        const MaskedProblem& masked) const {
    const Problem& problem = masked.unmasked_types();
    const auto argument = input::find_argument(entry(), name);
    if (!argument) return fail(ErrorCode::internal, "'{}' means nothing", name);
    Json told = {{"name", name}};
    using Kind = Argument::Kind;
    switch (argument->kind) {
      case Kind::operand: {
        const Operand* operand = problem.find_operand(argument->operand);
        ASSAY_TRY(const std::string element, element_of(argument->operand, problem));
        told["type"] = "*" + element;
        if (operand != nullptr) told["divisible"] = power_of_two(operand->alignment);
        return told;
      }
      case Kind::tensor_map: {
        ASSAY_TRY(told["type"], descriptor_type(name, row, problem));
        return told;
      }
      case Kind::workspace:
      case Kind::prepared:
        told["type"] = "*i8";
        told["divisible"] = kMultiple;
        return told;
      case Kind::scalar: {
        const Operand* out = problem.find_operand("out");
        told["type"] = out != nullptr && out->dtype == DType::f64 ? "fp64" : "fp32";
        return told;
      }
      case Kind::workspace_bytes:
        told["type"] = "i64";
        return told;
      case Kind::threads:
        told["type"] = "i32";
        return told;
      case Kind::size:
      case Kind::stride:
      case Kind::leading:
        break;
      case Kind::tunable:
        return fail(ErrorCode::internal, "'{}' is a tunable", name);
    }
    if (specialised_.is_one(*argument)) {
      told["value"] = 1;
    } else if (specialised_.is_constant(name)) {
      told["value"] = masked.dimension(argument->dimension);
    } else {
      const bool aligned = specialised_.is_decisive(name) && row.design.truth(kAligned, false);
      told["type"] = "i32";
      told["divisible"] = aligned ? kMultiple : specialised_.promised(*argument);
    }
    return told;
  }

  // All but the texts of the files.
  Result<Json> request(const KernelMetadata& row, const MaskedProblem& problem,
                       const Target& target) const {
    Json arguments = Json::array(), tunables = Json::object(), options = Json::object();
    for (const std::string& name : entry().args) {
      if (input::find_argument(entry(), name)->kind == Argument::Kind::tunable) continue;
      ASSAY_TRY(arguments.emplace_back(), argument(name, row, problem));
    }
    for (const auto& [name, value] : row.design) {
      if (name == kAligned) continue;
      tunables[name] = json_of(value);
      if (std::find(std::begin(kOptions), std::end(kOptions), name) != std::end(kOptions))
        options[name] = json_of(value);
    }
    if (entry().launch->dependent) options["launch_pdl"] = true;
    return Json{{"protocol", 1},
                {"main", entry().source.filename().string()},
                {"entry", entry().entry},
                {"args", std::move(arguments)},
                {"tunables", std::move(tunables)},
                {"options", std::move(options)},
                {"capability", capability_of(target)}};
  }

  Result<std::map<std::string, std::string>> files() const {
    if (!text_.empty())
      return std::map<std::string, std::string>{{entry().source.filename().string(), text_}};
    return input::python_files(entry());
  }

  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem& problem,
                              const Target& target, const CompileContext& context) const override {
    if (context.cache == nullptr)
      return fail(ErrorCode::internal, "a source is compiled into a cache, and none was given");
    ASSAY_TRY(const Python python, find_python(settings_));
    ASSAY_TRY(const Assembler assembler, find_assembler(settings_));
    ASSAY_TRY(const auto texts, files());
    ASSAY_TRY(Json asked, request(row, problem, target));
    Json hashes = Json::object();
    for (const auto& [name, text] : texts) hashes[name] = sha256_hex(text);
    const Json key = {{"provider", "triton"},
                      {"files", hashes},
                      {"request", asked},
                      {"python", python.identity},
                      {"ptxas", assembler.identity},
                      {"helper", sha256_hex(embedded(kHelper))},
                      {"target", target.to_string()}};
    return context.cache->get_or_build(
        key, [&](const std::filesystem::path& folder) -> Result<ArtifactCache::Built> {
          asked["files"] = texts;
          asked["ptxas"] = assembler.asked;
          asked["toolkit_ptxas"] = assembler.toolkit;
          ASSAY_TRY(const Compiled compiled, run_helper(python, asked, context));
          ASSAY_TRY(write_file_atomic((folder / kCubin).string(), compiled.cubin));
          Json facts = compiled.facts;
          facts["compiler"] = fmt::format("triton {}", facts["triton"].get<std::string>());
          facts["target"] = target.to_string();
          facts.update(compiled.launch());
          facts["dynamic_shared_bytes"] = compiled.shared_bytes;
          device_code::add_resources(compiled.log, compiled.symbol, facts);
          return ArtifactCache::Built{.file_name = kCubin, .facts = std::move(facts)};
        });
  }

  // -I: what the environment or the folder says is not to change what is imported. The program is
  // an argument: there is no file of it that a process without rights could read.
  Result<Compiled> run_helper(const Python& python, const Json& asked,
                              const CompileContext& context) const {
    if (!context.run_guest)
      return fail(ErrorCode::unsupported,
                  "{}: compiling runs a user's Python, and this program has no process without "
                  "rights for that; `assay race` and `assay sweep` have",
                  entry().origin);
    GuestProgram program;
    program.argv = {python.program, "-I", "-B", "-c", std::string(embedded(kHelper))};
    program.input = canonical(asked);  // A file may hold what is no UTF-8.
    program.timeout_seconds = context.timeout_seconds;
    program.memory_bytes = context.memory_bytes;
    ASSAY_TRY(const CommandOutput output, context.run_guest(program));
    return read_answer(output, {.origin = entry().origin,
                                .program = python.program,
                                .timeout_seconds = context.timeout_seconds,
                                .memory_bytes = context.memory_bytes});
  }

  // Warps, shared memory and clusters as they were compiled; a descriptor is a tensor map, its
  // sizes and its strides; and behind all arguments stand the scratch memories that this version
  // of Triton passes: none before 3.3, then one, later two (triton/backends/nvidia/driver.py).
  Status do_adapt(const Artifact& artifact, Call& call) const override {
    ASSAY_TRY(const Compiled compiled, Compiled::from_launch(artifact.facts));
    auto& [geometry, values] = call;
    geometry.block = {static_cast<uint32_t>(32 * compiled.warps), 1, 1};
    geometry.shared_bytes = static_cast<uint32_t>(compiled.shared_bytes);
    uint64_t blocks = 1;
    for (size_t i = 0; i < 3; ++i) {
      geometry.cluster[i] = static_cast<uint32_t>(compiled.cluster[i]);
      const uint64_t extent = uint64_t{geometry.grid[i]} * geometry.cluster[i];
      if (extent > 0x7fffffff)
        return fail(ErrorCode::failed, "a grid of {} blocks is larger than a GPU takes", extent);
      geometry.grid[i] = static_cast<uint32_t>(extent);
      blocks *= extent;
    }
    std::vector<ArgumentValue> passed;
    size_t descriptor = 0;
    for (ArgumentValue& value : values) {
      if (specialised_.is_constant(value.name)) continue;
      if (value.kind != ArgumentValue::Kind::tensor_map) {
        passed.push_back(std::move(value));
        continue;
      }
      if (descriptor >= compiled.descriptors.size())
        return fail(ErrorCode::unsupported, "{}: Triton compiled no use of the copy engine for it",
                    value.name);
      ASSAY_TRY(add_descriptor(compiled.descriptors[descriptor++], std::move(value), passed));
    }
    const auto extra = compiled.parameters - static_cast<int64_t>(passed.size());
    if (compiled.parameters >= 0 && (extra < 0 || extra > 2))
      return fail(ErrorCode::failed, "the kernel takes {} parameters, and args gives {}",
                  compiled.parameters, passed.size());
    const int64_t scratch[] = {compiled.scratch_bytes, compiled.profile_bytes};
    for (int64_t i = 0; i < (compiled.parameters < 0 ? 2 : extra); ++i) {
      ArgumentValue pointer{.name = i == 0 ? "scratch" : "profile_scratch"};
      if (scratch[i] > 0) {
        if (blocks > (uint64_t{1} << 40) / static_cast<uint64_t>(scratch[i]))
          return fail(ErrorCode::unsupported, "{} blocks need {} bytes of scratch memory each",
                      blocks, scratch[i]);
        pointer.scratch_bytes = blocks * static_cast<uint64_t>(scratch[i]);
      }
      passed.push_back(std::move(pointer));
    }
    values = std::move(passed);
    return {};
  }

  static Status add_descriptor(const Descriptor& compiled, ArgumentValue value,
                               std::vector<ArgumentValue>& passed) {
    TensorMapShape shape = *value.map;
    const size_t rank = shape.sizes.size();
    if (compiled.box.size() != rank)
      return fail(ErrorCode::failed, "{} was compiled with {} dimensions, and has {}", value.name,
                  compiled.box.size(), rank);
    shape.box.assign(compiled.box.rbegin(), compiled.box.rend());
    shape.swizzle = compiled.swizzle;
    shape.promotion = 128;  // As Triton's own launcher asks.
    if (const std::string why = device_code::objection(shape); !why.empty())
      return fail(ErrorCode::unsupported, "{}: {}", value.name, why);
    std::vector<int64_t> sizes(shape.sizes.rbegin(), shape.sizes.rend()), strides;
    for (auto step = shape.step_bytes.rbegin(); step != shape.step_bytes.rend(); ++step)
      strides.push_back(*step / size_bytes(shape.dtype));
    strides.push_back(1);
    const std::string name = value.name;
    value.map = std::make_shared<const TensorMapShape>(std::move(shape));
    passed.push_back(std::move(value));
    for (const auto* each : {&sizes, &strides})
      for (const int64_t one : *each)
        passed.push_back({.name = name, .kind = ArgumentValue::Kind::integer, .integer = one});
    return {};
  }

  Specialised specialised_;
  std::vector<std::vector<Expression>> boxes_;  // Of the entry's maps.
  ProviderSettings settings_;
  std::string text_;  // Where the source is a part of this program.
};

}  // namespace

Result<std::shared_ptr<const Family>> make_family(const KernelEntry& given,
                                                  const ProviderSettings& settings,
                                                  std::string text) {
  KernelEntry entry = given;
  if (!entry.rule) return fail(ErrorCode::invalid_input, "{}: no rule", entry.origin);
  for (const KernelEntry::Tunable& tunable : entry.tunables)
    if (tunable.name == kAligned)
      return fail(ErrorCode::invalid_input,
                  "{}: tunables: 'aligned' says whether sizes and strides are multiples of 16, "
                  "which assay finds itself; choose another name",
                  entry.origin);
  if (!Specialised(entry).decisive().empty())
    entry.tunables.push_back({.name = kAligned, .values = {true, false}});
  ASSAY_TRY(auto description, input::DeviceFamily::describe(entry));
  std::vector<std::vector<Expression>> boxes;
  for (const KernelEntry::Launch::Map& map : entry.launch->maps) {
    auto& box = boxes.emplace_back();
    for (const std::string& extent : map.box) {
      ASSAY_TRY(box.emplace_back(), Expression::parse(extent));
    }
  }
  return std::make_shared<const TritonFamily>(std::move(description), std::move(boxes), settings,
                                              std::move(text));
}

Result<std::vector<std::shared_ptr<const Family>>> own_families(const ProviderSettings& settings) {
  ASSAY_TRY(const Python python, find_python(settings));
  const std::string text(embedded(kOwnFile));
  ASSAY_TRY(const auto entries,
            input::parse_head_comment(text, std::string(kOwnFile),
                                      [](const KernelEntry&) { return LaunchForm::grid; }));
  std::vector<std::shared_ptr<const Family>> families;
  for (KernelEntry entry : entries) {
    // Host descriptors came with 3.4.
    if (!entry.launch->maps.empty() &&
        (python.version.starts_with("3.2.") || python.version.starts_with("3.3.")))
      continue;
    // A user may bring the example beside it.
    entry.name = "triton_" + entry.name;
    ASSAY_TRY(families.emplace_back(), make_family(entry, settings, text));
  }
  return families;
}

}  // namespace assay::triton
