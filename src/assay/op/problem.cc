#include "assay/op/problem.h"

#include <algorithm>

#include "assay/base/json.h"

namespace assay {
namespace {

std::string_view text(Access access) {
  switch (access) {
    case Access::read:
      return "read";
    case Access::write:
      return "write";
    case Access::read_write:
      return "read_write";
  }
  return "";
}

std::string make_key(const Problem::Parts& parts) {
  std::string key = parts.name;
  std::string constant;
  for (const Operand& operand : parts.operands) {
    key += fmt::format(" {}={}", operand.role, to_string(operand.dtype));
    if (operand.lifetime == Lifetime::constant)
      constant += (constant.empty() ? "" : ",") + operand.role;
  }
  if (auto found = parts.attributes.find("accumulate"); found != parts.attributes.end()) {
    if (const auto* name = std::get_if<std::string>(&found->second)) key += " accumulate=" + *name;
  }
  if (auto found = parts.attributes.find("epilogue"); found != parts.attributes.end()) {
    const auto* text = std::get_if<std::string>(&found->second);
    if (text != nullptr && !text->empty()) key += " epilogue=" + *text;
  }
  key += " layout=" + parts.layout;
  key += " constant=" + (constant.empty() ? "none" : constant);
  return key;
}

std::string make_signature(const Problem::Parts& parts) {
  std::string out = parts.operation;
  for (const auto& [name, size] : parts.dimensions) out += fmt::format(" {}={}", name, size);
  for (const Operand& operand : parts.operands) {
    out += fmt::format("; {} {} {}", operand.role, to_string(operand.dtype), text(operand.access));
    for (size_t i = 0; i < operand.sizes.size(); ++i)
      out += fmt::format(" {}/{}", operand.sizes[i], operand.strides[i]);
    out += fmt::format(" aligned {}", operand.alignment);
    if (operand.lifetime == Lifetime::constant) out += " constant";
  }
  for (const auto& [name, value] : parts.attributes)
    out += fmt::format("; {}={}", name, to_string(value));
  return out;
}

}  // namespace

Problem Problem::from_parts(Parts parts) {
  Problem problem;
  problem.key_ = make_key(parts);
  problem.signature_ = make_signature(parts);
  problem.digest_ = fast_digest(problem.signature_);
  problem.parts_ = std::make_shared<const Parts>(std::move(parts));
  return problem;
}

const Operand* Problem::find_operand(std::string_view role) const {
  for (const Operand& operand : parts_->operands)
    if (operand.role == role) return &operand;
  return nullptr;
}

int64_t Problem::dimension(std::string_view name) const {
  for (const auto& [known, size] : parts_->dimensions)
    if (known == name) return size;
  return 0;
}

Json Problem::to_json() const {
  Json json = parts_->fields ? *parts_->fields : Json::object();
  json["operation"] = parts_->operation;
  return json;
}

bool Problem::has_constant() const {
  return std::any_of(parts_->operands.begin(), parts_->operands.end(),
                     [](const Operand& operand) { return operand.lifetime == Lifetime::constant; });
}

}  // namespace assay
