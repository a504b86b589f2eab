// Every field that is looked at, with every type that it must not have.

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/serve/asked.h"

namespace assay::serve {
namespace {

enum class Type { boolean, integer, number, text, object, texts, messages, prompt };

struct Field {
  std::string name;
  Type type;
};

const std::vector<Field> kBoth = {
    {"stream", Type::boolean},
    {"ignore_eos", Type::boolean},
    {"n", Type::integer},
    {"seed", Type::integer},
    {"max_tokens", Type::integer},
    {"min_tokens", Type::integer},
    {"temperature", Type::number},
    {"top_p", Type::number},
    {"frequency_penalty", Type::number},
    {"presence_penalty", Type::number},
    {"model", Type::text},
    {"user", Type::text},
    {"stream_options", Type::object},
    {"logit_bias", Type::object},
    {"stop", Type::texts},
};
const std::vector<Field> kChat = {{"messages", Type::messages},
                                  {"logprobs", Type::boolean},
                                  {"top_logprobs", Type::integer},
                                  {"max_completion_tokens", Type::integer}};
const std::vector<Field> kCompletion = {{"prompt", Type::prompt},
                                        {"echo", Type::boolean},
                                        {"logprobs", Type::integer},
                                        {"best_of", Type::integer}};

bool may_be(Type type, const Json& value) {
  switch (type) {
    case Type::boolean:
      return value.is_boolean();
    case Type::integer:
      return value.is_number_integer();
    case Type::number:
      return value.is_number();
    case Type::text:
      return value.is_string();
    case Type::object:
      return value.is_object();
    case Type::texts:
      return value.is_string() || value == Json::array({"a"});
    case Type::messages:
      return false;
    case Type::prompt:
      return value.is_string() || value == Json::array({"a"}) || value == Json::array({1});
  }
  return false;
}

template <class Read>
void expect_refused(const Json& body, const std::vector<Field>& fields, const Read& read) {
  ASSERT_TRUE(read(body.dump(), AskLimits()));
  const std::vector<Json> values = {true,
                                    1,
                                    1.5,
                                    "x",
                                    "a\u0000b",
                                    Json::array({1}),
                                    Json::array({"a"}),
                                    Json::array({Json::array({"a"})}),
                                    Json::array({nullptr}),
                                    {{"a", {{"b", 1}}}}};
  for (const Field& field : fields) {
    for (const Json& value : values) {
      if (may_be(field.type, value)) continue;
      Json wrong = body;
      wrong[field.name] = value;
      const auto asked = read(wrong.dump(), AskLimits());
      ASSERT_FALSE(asked) << field.name << " " << value.dump();
      EXPECT_EQ(asked.error().status, 400);
      EXPECT_TRUE(asked.error().param.starts_with(field.name))
          << field.name << " " << value.dump() << ": " << asked.error().message;
    }
  }
}

TEST(FieldTypes, AWrongOneIsRefusedAndNamed) {
  const Json chat = {{"messages", {{{"role", "user"}, {"content", "hi"}}}}};
  const Json completion = {{"prompt", "hi"}};
  for (const auto* fields : {&kBoth, &kChat}) expect_refused(chat, *fields, read_chat);
  for (const auto* fields : {&kBoth, &kCompletion})
    expect_refused(completion, *fields, read_completion);
}

}  // namespace
}  // namespace assay::serve
