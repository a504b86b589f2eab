#include "assay/record/compact_json.h"

namespace assay {

CompactJson::CompactJson(const Json& value)
    : text_(std::make_shared<const std::string>(canonical(value))) {}

Json CompactJson::json() const { return text_ ? Json::parse(*text_) : Json::object(); }

bool CompactJson::operator==(const CompactJson& other) const {
  return text_ == other.text_ ||
         (text_ ? *text_ : std::string("{}")) == (other.text_ ? *other.text_ : std::string("{}"));
}

CompactJson JsonPool::share(const Json& value) {
  CompactJson made(value);
  return known_.try_emplace(*made.text_, made).first->second;
}

Json MetadataJson::json() const {
  Json whole = shared_.json();
  Json own = own_.json();
  if (!whole.is_object() || !own.is_object()) return own;
  whole.update(own);
  return whole;
}

Json MetadataJson::member(const char* key) const {
  for (const CompactJson* part : {&own_, &shared_}) {
    Json json = part->json();
    if (!json.is_object()) continue;
    if (const auto found = json.find(key); found != json.end()) return std::move(*found);
  }
  return nullptr;
}

bool MetadataJson::operator==(const MetadataJson& other) const {
  return (shared_ == other.shared_ && own_ == other.own_) || json() == other.json();
}

}  // namespace assay
