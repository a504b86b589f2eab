#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "assay/base/checked.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/op/gemm/description.h"
#include "assay/op/gemm/epilogue.h"

namespace assay::gemm {
namespace {

Status check_size(std::string_view field, int64_t size) {
  if (size >= 1 && size <= kMaxSize) return {};
  return fail(ErrorCode::invalid_input, "{}: {} is no size: 1 .. {}", field, size, kMaxSize);
}

// One matrix operand as it is being described: rows x columns, l times.
struct Layout {
  std::string_view role;
  DType dtype;
  std::string_view row_name, column_name;  // "m", "k".
  int64_t l, rows, columns;
  char letter = 't';
  std::optional<int64_t> leading;  // lda ...
  std::optional<Strides> strides;  // Set by the user, else by resolve().
  int64_t alignment = kDefaultAlignment;
};

std::string leading_name(const Layout& matrix) { return fmt::format("ld{}", matrix.role); }

// Strides of a letter and a leading dimension; nullopt on overflow.
std::optional<Strides> strides_of(const Layout& matrix, int64_t leading) {
  const bool row_major = matrix.letter == 't';
  const auto batch = checked_mul(row_major ? matrix.rows : matrix.columns, leading);
  if (!batch) return std::nullopt;
  return row_major ? Strides{*batch, leading, 1} : Strides{*batch, 1, leading};
}

int64_t dense_leading(const Layout& matrix) {
  return matrix.letter == 't' ? matrix.columns : matrix.rows;
}

char letter_of(const Strides& strides) { return strides[2] == 1 ? 't' : 'n'; }

// Distinct elements must lie at distinct places. Nested strides suffice for that: each dimension
// steps beyond all that the faster ones reach. Interleaved tensors that would also do are refused.
Status check_overlap(const Layout& matrix, const Strides& strides) {
  const std::array<int64_t, 3> sizes = {matrix.l, matrix.rows, matrix.columns};
  const std::array<std::string_view, 3> names = {"l", matrix.row_name, matrix.column_name};
  std::array<int, 3> order = {2, 1, 0};
  std::stable_sort(order.begin(), order.end(),
                   [&](int x, int y) { return strides[x] < strides[y]; });
  int64_t reach = 0;
  for (int i : order) {
    if (sizes[i] == 1) continue;
    if (strides[i] <= reach) {
      return fail(ErrorCode::invalid_input,
                  "{}: the stride of {} is {}, but the dimensions inside it reach {} elements "
                  "further: elements overlap, the stride must be at least {}",
                  matrix.role, names[i], strides[i], reach, reach + 1);
    }
    reach += (sizes[i] - 1) * strides[i];  // Within spanned_bytes(), so no overflow.
  }
  return {};
}

// Fills in the strides, checks them, gives the operand.
Result<Operand> resolve(Layout& matrix, Access access) {
  if (matrix.leading) {
    const int64_t least = dense_leading(matrix);
    if (*matrix.leading < least) {
      return fail(ErrorCode::invalid_input, "{}: {} is below {} = {}, the {} of a {}-major {}",
                  leading_name(matrix), *matrix.leading,
                  matrix.letter == 't' ? matrix.column_name : matrix.row_name, least,
                  matrix.letter == 't' ? "row length" : "column length",
                  matrix.letter == 't' ? "row" : "column", matrix.role);
    }
  }
  if (!matrix.strides)
    matrix.strides = strides_of(matrix, matrix.leading.value_or(dense_leading(matrix)));
  if (!matrix.strides) {
    return fail(ErrorCode::invalid_input, "{}: {} spans more than 2^46 bytes",
                matrix.leading ? leading_name(matrix) : std::string(matrix.role), matrix.role);
  }
  const std::array<int64_t, 3> sizes = {matrix.l, matrix.rows, matrix.columns};
  for (int64_t stride : *matrix.strides) {
    if (stride < 1) {
      return fail(ErrorCode::invalid_input, "{}: stride {}: strides must be 1 or more", matrix.role,
                  stride);
    }
  }
  auto bytes = spanned_bytes(matrix.dtype, sizes, *matrix.strides);
  if (!bytes || *bytes > kMaxBytes) {
    return fail(ErrorCode::invalid_input,
                "{}: {} x {} x {} of {} with strides {} spans more than "
                "2^46 bytes",
                matrix.role, sizes[0], sizes[1], sizes[2], to_string(matrix.dtype),
                fmt::format("{}, {}, {}", (*matrix.strides)[0], (*matrix.strides)[1],
                            (*matrix.strides)[2]));
  }
  ASSAY_TRY(check_overlap(matrix, *matrix.strides));
  if (matrix.alignment < 1 || !std::has_single_bit(static_cast<uint64_t>(matrix.alignment))) {
    return fail(ErrorCode::invalid_input, "{}: alignment {} is no power of two", matrix.role,
                matrix.alignment);
  }
  Operand operand;
  operand.role = matrix.role;
  operand.dtype = matrix.dtype;
  operand.sizes.assign(sizes.begin(), sizes.end());
  operand.strides.assign(matrix.strides->begin(), matrix.strides->end());
  operand.alignment = matrix.alignment;
  operand.access = access;
  operand.span_bytes = *bytes;
  return operand;
}

Status check_layout(std::string_view layout) {
  if (layout.size() != 2 && layout.size() != 3) {
    return fail(ErrorCode::invalid_input,
                "layout: '{}': two letters for a and b, or three with out, such as tn or tnt",
                sanitize(layout, 20));
  }
  for (char letter : layout) {
    if (letter != 't' && letter != 'n') {
      return fail(ErrorCode::invalid_input,
                  "layout: '{}': the letters are t (row-major) and n (column-major)",
                  sanitize(layout, 20));
    }
  }
  return {};
}

Status check_scalars(const Shape& shape, bool integer) {
  for (auto [name, value] : {std::pair{"alpha", shape.alpha}, {"beta", shape.beta}}) {
    if (!std::isfinite(value))
      return fail(ErrorCode::invalid_input, "{}: {} is not finite", name, value);
    if (integer && (value != std::nearbyint(value) || std::fabs(value) > 0x1p31)) {
      return fail(ErrorCode::invalid_input, "{}: {} with integer operands must be a 32-bit integer",
                  name, value);
    }
  }
  if (!std::isfinite(shape.weight) || shape.weight <= 0)
    return fail(ErrorCode::invalid_input, "weight: {} must be finite and above 0", shape.weight);
  return {};
}

Status mark_constant(const std::vector<std::string>& names, std::vector<Operand>& operands) {
  std::string inputs = "a, b and c";
  if (operands.size() > 3) {
    std::vector<std::string> roles;
    for (const Operand& operand : operands)
      if (operand.access == Access::read) roles.push_back(operand.role);
    inputs = join(roles, ", ");
  }
  for (const std::string& name : names) {
    const auto found = std::find_if(operands.begin(), operands.end(),
                                    [&](const Operand& operand) { return operand.role == name; });
    if (name == "c" && found == operands.end())
      return fail(ErrorCode::invalid_input, "constant: there is no c while beta is 0");
    if (found == operands.end()) {
      return fail(ErrorCode::invalid_input, "constant: '{}' is no operand; inputs are {}",
                  sanitize(name, 40), inputs);
    }
    if (found->access != Access::read) {
      return fail(ErrorCode::invalid_input,
                  "constant: {} is written by every launch; only inputs (a, b, c) can be constant",
                  name);
    }
    if (found->lifetime == Lifetime::constant)
      return fail(ErrorCode::invalid_input, "constant: {} is named twice", name);
    found->lifetime = Lifetime::constant;
  }
  return {};
}

Result<std::string> name_of(const Shape& shape, const Epilogue& epilogue) {
  if (!shape.name.empty()) {
    if (!matches_name_rule(shape.name)) {
      return fail(ErrorCode::invalid_input,
                  "name: '{}' must be letters, digits, '_', '.' or '-', at most 200 of them",
                  sanitize(shape.name, 60));
    }
    return shape.name;
  }
  std::string stem = shape.role.empty() ? "gemm" : shape.role.substr(0, 100);
  for (char& letter : stem)
    if (!matches_name_rule(std::string_view(&letter, 1)) && letter != '.') letter = '_';
  const std::string batch = shape.batch > 1 ? fmt::format("_l{}", shape.batch) : "";
  std::string name = fmt::format("{}{}_m{}_n{}_k{}", stem, batch, shape.m, shape.n, shape.k);
  for (const EpilogueStep& step : epilogue.steps()) name += fmt::format("_{}", step.name());
  return name.substr(0, 200);
}

// Fields that need saying: what differs from what the others imply.
void describe(const Layout& matrix, Json& json) {
  Layout plain = matrix;
  const int64_t leading = (*matrix.strides)[matrix.letter == 't' ? 1 : 2];
  if (leading >= dense_leading(plain) && strides_of(plain, leading) == matrix.strides) {
    if (leading != dense_leading(plain)) json[leading_name(matrix)] = leading;
  } else {
    json["strides"][std::string(matrix.role)] = *matrix.strides;
  }
  if (matrix.alignment != kDefaultAlignment)
    json["alignment"][std::string(matrix.role)] = matrix.alignment;
}

Status check_gate(const Shape& shape, const Epilogue& epilogue) {
  const EpilogueStep* gate = epilogue.gate();
  if (gate == nullptr) return {};
  if (shape.n % 2 != 0) {
    return fail(ErrorCode::invalid_input,
                "n: {} is odd, but {} makes one column of out from two: n counts the columns of b",
                shape.n, gate->name());
  }
  if (shape.beta == 0) return {};
  return fail(ErrorCode::invalid_input, "beta: {} adds a c, but {} has none: write residual",
              shape.beta, gate->name());
}

// The operands of an epilogue's steps, in the order of the steps. One that is no matrix has its
// elements one behind the other, which is row-major and column-major alike.
Status add_epilogue(const Description& description, const Epilogue& epilogue, const Layout& out,
                    std::vector<Operand>& operands, Json& json) {
  const Shape& shape = description.shape;
  const bool integer = !info(out.dtype).floating;
  std::vector<std::string> known;
  bool gated = false;
  for (const EpilogueStep& step : epilogue.steps()) {
    if (integer && !step.keeps_integers()) {
      return fail(ErrorCode::invalid_input,
                  "epilogue: {} makes no integers, and out is {}: integers take bias, row_bias, "
                  "relu, clamp and residual",
                  step.name(), to_string(out.dtype));
    }
    if (integer && (step.is_factor() || step.low != std::nearbyint(step.low) ||
                    step.high != std::nearbyint(step.high))) {
      return fail(ErrorCode::invalid_input, "epilogue: {} of integers must be one of integers",
                  step.name());
    }
    gated = gated || step.is_gate();
    if (!step.has_operand()) continue;
    const std::string role(step.name());
    known.push_back(role);
    const auto given = shape.epilogue_dtypes.find(role);
    const DType dtype = given == shape.epilogue_dtypes.end() ? out.dtype : given->second;
    if (info(dtype).floating == integer || !info(dtype).supported) {
      return fail(ErrorCode::invalid_input, "{}: {} does not go with out, which is {}", role,
                  to_string(dtype), to_string(out.dtype));
    }
    const auto aligned = description.epilogue_alignments.find(role);
    Layout matrix = out;
    matrix.role = step.name();
    matrix.dtype = dtype;
    matrix.leading = std::nullopt;
    matrix.alignment =
        aligned == description.epilogue_alignments.end() ? kDefaultAlignment : aligned->second;
    if (step.kind == EpilogueStep::Kind::residual) {
      // Where nothing else is said, it lies as out does.
      matrix.columns = gated ? out.columns : shape.n;
      matrix.strides = description.residual;
      if (!matrix.strides && matrix.columns == out.columns) matrix.strides = out.strides;
    } else {
      const bool of_rows =
          step.kind == EpilogueStep::Kind::row_bias || step.kind == EpilogueStep::Kind::row_scale;
      const bool of_all = step.kind == EpilogueStep::Kind::scale;
      matrix.l = 1;
      matrix.rows = of_rows ? shape.m : 1;
      matrix.columns = of_rows || of_all ? 1 : gated ? out.columns : shape.n;
      matrix.strides = Strides{matrix.rows * matrix.columns, 1, 1};
    }
    ASSAY_TRY(Operand operand, resolve(matrix, Access::read));
    if (dtype != out.dtype) json[role] = to_string(dtype);
    if (step.kind == EpilogueStep::Kind::residual && matrix.strides != out.strides)
      json["strides"][role] = *matrix.strides;
    if (matrix.alignment != kDefaultAlignment) json["alignment"][role] = matrix.alignment;
    operands.push_back(std::move(operand));
  }
  for (const auto& [role, dtype] : shape.epilogue_dtypes) {
    if (std::ranges::find(known, role) != known.end()) continue;
    return fail(ErrorCode::invalid_input,
                "{}: the epilogue has no step {}, so there is nothing of type {}", role, role,
                to_string(dtype));
  }
  return {};
}

}  // namespace

Result<Problem> build(const Description& description) {
  const Shape& shape = description.shape;
  ASSAY_TRY(check_size("m", shape.m));
  ASSAY_TRY(check_size("n", shape.n));
  ASSAY_TRY(check_size("k", shape.k));
  ASSAY_TRY(check_size("batch", shape.batch));
  const DType a = shape.a.value_or(shape.dtype), b = shape.b.value_or(shape.dtype);
  const bool integer = !info(a).floating;
  const DType out = shape.out.value_or(integer ? DType::s32 : shape.dtype);
  const DType accumulate = shape.accumulate.value_or(default_accumulate(a, b));
  ASSAY_TRY(check_dtypes(a, b, out, accumulate));
  ASSAY_TRY(check_scalars(shape, integer));
  ASSAY_TRY(check_layout(shape.layout));
  if (shape.role.size() > 200 || sanitize(shape.role) != shape.role) {
    return fail(ErrorCode::invalid_input, "role: '{}' must be one line of at most 200 characters",
                sanitize(shape.role, 60));
  }
  auto parsed = Epilogue::parse(shape.epilogue);
  if (!parsed) return fail(with_context(parsed.error(), "epilogue"));
  const Epilogue& epilogue = *parsed;
  ASSAY_TRY(check_gate(shape, epilogue));
  ASSAY_TRY(std::string name, name_of(shape, epilogue));

  const int64_t l = shape.batch;
  const char out_letter = shape.layout.size() == 3 ? shape.layout[2] : 't';
  Layout ma{"a",
            a,
            "m",
            "k",
            l,
            shape.m,
            shape.k,
            shape.layout[0],
            shape.lda,
            description.a,
            description.a_alignment};
  Layout mb{"b",
            b,
            "k",
            "n",
            l,
            shape.k,
            shape.n,
            shape.layout[1],
            shape.ldb,
            description.b,
            description.b_alignment};
  Layout mo{"out",
            out,
            "m",
            "n",
            l,
            shape.m,
            epilogue.columns_of_out(shape.n),
            out_letter,
            shape.ldout,
            description.out,
            description.out_alignment};
  for (Layout* matrix : {&ma, &mb, &mo})
    if (matrix->strides) matrix->letter = letter_of(*matrix->strides);

  Problem::Parts parts;
  ASSAY_TRY(Operand oa, resolve(ma, Access::read));
  ASSAY_TRY(Operand ob, resolve(mb, Access::read));
  ASSAY_TRY(Operand oo, resolve(mo, Access::write));
  parts.operands = {std::move(oa), std::move(ob), std::move(oo)};
  Json json = Json::object();
  describe(ma, json);
  describe(mb, json);
  describe(mo, json);
  if (shape.beta != 0) {
    Layout mc = mo;  // Where nothing else is said, c lies as out does.
    mc.role = "c";
    mc.alignment = description.c_alignment;
    if (description.c) mc.strides = description.c;
    ASSAY_TRY(Operand oc, resolve(mc, Access::read));
    if (mc.strides != mo.strides) json["strides"]["c"] = *mc.strides;
    if (mc.alignment != kDefaultAlignment) json["alignment"]["c"] = mc.alignment;
    parts.operands.push_back(std::move(oc));
  }
  ASSAY_TRY(add_epilogue(description, epilogue, mo, parts.operands, json));
  int64_t total = 0;
  for (const Operand& operand : parts.operands) total += operand.span_bytes;
  if (total > kMaxBytes) {
    return fail(
        ErrorCode::invalid_input,
        "m: the operands span {} together, more than 2^46 bytes: make m, n, k or batch smaller",
        format_bytes(static_cast<double>(total)));
  }
  ASSAY_TRY(mark_constant(shape.constant, parts.operands));

  parts.operation = "gemm";
  parts.name = std::move(name);
  parts.role = shape.role;
  parts.weight = shape.weight;
  parts.dimensions = {{"l", l}, {"m", shape.m}, {"n", shape.n}, {"k", shape.k}};
  parts.layout = std::string{ma.letter, mb.letter} + (mo.letter == 't' ? "" : "n");
  parts.attributes = {{"accumulate", std::string(to_string(accumulate))},
                      {"alpha", shape.alpha},
                      {"beta", shape.beta},
                      {"epilogue", epilogue.text()},
                      {"layout", parts.layout}};

  json["name"] = parts.name;
  if (!parts.role.empty()) json["role"] = parts.role;
  if (parts.weight != 1) json["weight"] = parts.weight;
  json["m"] = shape.m;
  json["n"] = shape.n;
  json["k"] = shape.k;
  if (l != 1) json["batch"] = l;
  json["a"] = to_string(a);
  json["b"] = to_string(b);
  json["out"] = to_string(out);
  json["accumulate"] = to_string(accumulate);
  json["layout"] = parts.layout;
  json["constant"] = shape.constant;
  if (shape.alpha != 1) json["alpha"] = shape.alpha;
  if (shape.beta != 0) json["beta"] = shape.beta;
  if (!epilogue.empty()) json["epilogue"] = epilogue.text();
  parts.fields = std::make_shared<const Json>(std::move(json));
  return Problem::from_parts(std::move(parts));
}

Result<Problem> problem(const Shape& shape) {
  Description description;
  description.shape = shape;
  return build(description);
}

}  // namespace assay::gemm
