#include "assay/input/device_family.h"

#include "assay/base/file.h"
#include "assay/input/argument_values.h"
#include "assay/input/device_export.h"

namespace assay::input {
namespace {

constexpr size_t kMostImageBytes = size_t{256} << 20;

Result<std::vector<Expression>> parse(const KernelEntry& entry,
                                      const std::vector<std::string>& texts) {
  std::vector<Expression> expressions;
  for (const std::string& text : texts) {
    auto expression = Expression::parse(text);
    if (!expression)
      return fail(ErrorCode::invalid_input, "{}: launch: {}", entry.origin,
                  expression.error().message);
    expressions.push_back(std::move(*expression));
  }
  return expressions;
}

Result<uint32_t> extent(const Expression& expression, const KernelMetadata& row,
                        const Problem& problem) {
  ASSAY_TRY(const int64_t value, EntryRows::evaluate(expression, row.design, problem));
  if (value < 0 || value > 0x7fffffff)
    return fail(ErrorCode::failed, "launch: '{}' is {}", expression.text(), value);
  return static_cast<uint32_t>(value);
}

Result<std::string> symbol_of(const Artifact& artifact) {
  const Json& facts = artifact.facts;
  const auto symbol = facts.is_object() ? facts.find("symbol") : facts.end();
  if (symbol == facts.end() || !symbol->is_string())
    return fail(ErrorCode::failed, "the artifact names no function");
  return symbol->get<std::string>();
}

}  // namespace

Result<DeviceFamily::Description> DeviceFamily::describe(const KernelEntry& entry) {
  if (!entry.launch)
    return fail(ErrorCode::invalid_input, "{}: there is no field launch", entry.origin);
  if (!entry.prepare_entry.empty())
    return fail(ErrorCode::unsupported, "{}: prepare: device code does not pack weights yet",
                entry.origin);
  Launch launch;
  ASSAY_TRY(launch.grid, parse(entry, entry.launch->grid));
  ASSAY_TRY(launch.block, parse(entry, entry.launch->block));
  ASSAY_TRY(launch.cluster, parse(entry, entry.launch->cluster));
  if (!entry.launch->shared_text.empty()) {
    ASSAY_TRY(auto shared, parse(entry, {entry.launch->shared_text}));
    launch.shared = std::move(shared.front());
  }
  for (const KernelEntry::Launch::Map& map : entry.launch->maps) {
    ASSAY_TRY(launch.boxes.emplace_back(), parse(entry, map.box));
  }
  ASSAY_TRY(auto rows, EntryRows::create(entry));
  return Description{std::move(rows), std::move(launch)};
}

void DeviceFamily::do_enumerate(const Query& query, const MetadataSink& sink) const {
  rows().enumerate(query, [&](const KernelMetadata& row) {
    std::string why;
    if (query.problem() != nullptr) {
      why = twin_objection(row, *query.problem());
      if (why.empty()) why = launch_objection(row, *query.problem());
    }
    if (why.empty())
      sink(row);
    else
      query.refuse(Reason::constraint, why);
  });
}

Refusals DeviceFamily::do_supports(const KernelMetadata& row, const Problem& problem,
                                   const Target& target) const {
  Refusals refusals;
  if (!target.is_gpu())
    refusals.add(Reason::target, "device code runs on a GPU");
  else if (const std::string why = code_objection(target); !why.empty())
    refusals.add(Reason::target, why);
  if (const auto why = rows().objection(row.design, problem))
    refusals.add(why->reason, why->sentence);
  if (const std::string why = twin_objection(row, problem); !why.empty())
    refusals.add(Reason::constraint, why);
  if (const std::string why = launch_objection(row, problem); !why.empty())
    refusals.add(Reason::constraint, why);
  return refusals;
}

std::string DeviceFamily::launch_objection(const KernelMetadata& row,
                                           const Problem& problem) const {
  const auto geometry = geometry_of(row, problem);
  if (!geometry) return geometry.error().message;
  if (std::string why = device_code::objection(*geometry); !why.empty()) return why;
  for (size_t i = 0; i < launch_.boxes.size(); ++i) {
    const auto map = map_of(i, row, problem);
    std::string why = map ? device_code::objection(*map) : map.error().message;
    if (!why.empty()) return fmt::format("map_{}: {}", entry().launch->maps[i].role, why);
  }
  return {};
}

// The dimension whose elements lie side by side comes first, batches last where the box has them.
Result<TensorMapShape> DeviceFamily::map_of(size_t index, const KernelMetadata& row,
                                            const Problem& problem) const {
  const KernelEntry::Launch::Map& map = entry().launch->maps[index];
  const Operand* operand = problem.find_operand(map.role);
  if (operand == nullptr || operand->sizes.size() != 3)
    return fail(ErrorCode::failed, "the problem has no matrix {}", map.role);
  TensorMapShape shape{.dtype = operand->dtype,
                       .sizes = {},
                       .step_bytes = {},
                       .box = {},
                       .swizzle = map.swizzle,
                       .promotion = map.promotion};
  const size_t inner = operand->strides[2] == 1 ? 2 : 1;
  if (operand->strides[inner] != 1)
    return fail(ErrorCode::failed, "neither rows nor columns lie side by side");
  if (map.box.size() == 2 && operand->sizes[0] > 1)
    return fail(ErrorCode::failed, "the box has no extent for {} batches", operand->sizes[0]);
  const size_t order[] = {inner, 3 - inner, 0};
  for (size_t i = 0; i < map.box.size(); ++i) {
    const auto place = order[i];
    shape.sizes.push_back(operand->sizes[place]);
    if (i > 0) shape.step_bytes.push_back(operand->strides[place] * size_bytes(operand->dtype));
    ASSAY_TRY(const uint32_t box, extent(launch_.boxes[index][i], row, problem));
    shape.box.push_back(box);
  }
  return shape;
}

Result<device_code::Geometry> DeviceFamily::geometry_of(const KernelMetadata& row,
                                                        const Problem& problem) const {
  device_code::Geometry geometry;
  const auto fill = [&](const std::vector<Expression>& from,
                        std::array<uint32_t, 3>& to) -> Status {
    for (size_t i = 0; i < from.size(); ++i) {
      ASSAY_TRY(to[i], extent(from[i], row, problem));
    }
    return {};
  };
  ASSAY_TRY(fill(launch_.grid, geometry.grid));
  ASSAY_TRY(fill(launch_.block, geometry.block));
  ASSAY_TRY(fill(launch_.cluster, geometry.cluster));
  if (launch_.shared) {
    ASSAY_TRY(geometry.shared_bytes, extent(*launch_.shared, row, problem));
  }
  return geometry;
}

Result<std::vector<ArgumentValue>> DeviceFamily::parameters_of(const KernelMetadata& row,
                                                               const Problem& problem,
                                                               int threads) const {
  ASSAY_TRY(auto values, argument_values({entry(), row, problem, threads,
                                          rows().workspace_bytes(row.design, problem, threads)},
                                         entry().args));
  for (ArgumentValue& value : values) {
    for (size_t i = 0;
         value.kind == ArgumentValue::Kind::tensor_map && i < entry().launch->maps.size(); ++i) {
      if (value.name != "map_" + entry().launch->maps[i].role) continue;
      ASSAY_TRY(auto shape, map_of(i, row, problem));
      value.map = std::make_shared<const TensorMapShape>(std::move(shape));
    }
    if (value.kind == ArgumentValue::Kind::tensor_map && !value.map)
      return fail(ErrorCode::internal, "{} is not described", value.name);
  }
  return values;
}

Result<DeviceFamily::Call> DeviceFamily::call_of(const KernelMetadata& row, const Problem& problem,
                                                 int threads, const Artifact& artifact) const {
  Call call;
  ASSAY_TRY(call.geometry, geometry_of(row, problem));
  ASSAY_TRY(call.values, parameters_of(row, problem, threads));
  ASSAY_TRY(do_adapt(artifact, call));
  return call;
}

Status DeviceFamily::do_bind(const KernelMetadata& row, const Binding& binding,
                             std::vector<Step>& steps) const {
  ASSAY_TRY(const std::string symbol, symbol_of(binding.artifact));
  ASSAY_TRY(const std::string image, read_file(binding.artifact.file.string(), kMostImageBytes));
  ASSAY_TRY(Call call, call_of(row, binding.problem, binding.threads, binding.artifact));
  std::vector<std::shared_ptr<const void>> keep;  // Memory that the values point to.
  for (ArgumentValue& value : call.values) {
    if (value.scratch_bytes == 0) continue;
    ASSAY_TRY(auto buffer, binding.device.allocate(value.scratch_bytes, {.alignment = 4096}));
    value.address = buffer->data();
    keep.emplace_back(std::shared_ptr<const Buffer>(std::move(buffer)));
  }
  // A string ends in a NUL, which PTX has to.
  const bool text = !image.starts_with(
      "\x7f"
      "ELF");
  const std::span bytes(image.data(), image.size() + (text ? 1 : 0));
  ASSAY_TRY(auto step, device_code::bind(binding.device, std::as_bytes(bytes), symbol,
                                         call.geometry, call.values));
  if (!keep.empty()) {
    keep.push_back(std::move(step.code));
    step.code = std::make_shared<const std::vector<std::shared_ptr<const void>>>(std::move(keep));
  }
  steps.push_back(std::move(step));
  return {};
}

Result<KernelExport> DeviceFamily::export_row(const KernelMetadata& row, const Problem& problem,
                                              const ExportOptions& options) const {
  if (options.artifact == nullptr)
    return fail(ErrorCode::internal, "device code is exported once it is compiled");
  ASSAY_TRY(const std::string symbol, symbol_of(*options.artifact));
  ExportFile image{options.artifact->file.filename().string(), ""};
  ASSAY_TRY(image.text, read_file(options.artifact->file.string(), kMostImageBytes));
  CodeLaunch launch;
  launch.symbol = symbol;
  ASSAY_TRY(Call call, call_of(row, problem, options.threads, *options.artifact));
  launch.geometry = call.geometry;
  launch.parameters = std::move(call.values);
  launch.dependent = row.dependent_launch();
  return export_device_code(image, launch, options.target.arch);
}

}  // namespace assay::input
