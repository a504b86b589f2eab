#include "cli/flags/flags.h"

#include <CLI/CLI.hpp>

namespace assay::cli {

Flag& Flag::type_name(const std::string& name) {
  option_.type_name(name);
  return *this;
}

Flag& Flag::required() {
  option_.required();
  return *this;
}

Flag& Flag::one_of(const std::vector<std::string>& values) {
  option_.check(CLI::IsMember(values));
  return *this;
}

Flag& Flag::range(int least, int most) {
  option_.check(CLI::Range(least, most));
  return *this;
}

Flag& Flag::show_default() {
  option_.capture_default_str();
  return *this;
}

Flag& Flag::delimiter(char separator) {
  option_.delimiter(separator);
  return *this;
}

Flag& Flag::several_words(bool allowed) {
  option_.allow_extra_args(allowed);
  return *this;
}

Flag& Flag::expected(int least, int most) {
  option_.expected(least, most);
  return *this;
}

Flag& Flag::excludes(const Flag& other) {
  option_.excludes(&other.option_);
  return *this;
}

std::string to_string(FlagGroup group) {
  switch (group) {
    case FlagGroup::problem:
      return "Problem";
    case FlagGroup::kernels:
      return "Kernels";
    case FlagGroup::backend:
      return "Backend";
    case FlagGroup::server:
      return "Server";
    case FlagGroup::limits:
      return "Limits";
    case FlagGroup::mock:
      return "Mock";
    case FlagGroup::measuring:
      return "Measuring";
    case FlagGroup::output:
      return "Output";
    case FlagGroup::more:
      return "More";
  }
  return "";
}

CLI::Option& Flags::in_group(CLI::Option& option) const {
  option.group(to_string(group_));
  return option;
}

Flag Flags::add_option(const std::string& name, std::string& value, const std::string& help) {
  return Flag(in_group(*app_.add_option(name, value, help)));
}

Flag Flags::add_option(const std::string& name, std::vector<std::string>& value,
                       const std::string& help) {
  return Flag(in_group(*app_.add_option(name, value, help)));
}

Flag Flags::add_option(const std::string& name, int& value, const std::string& help) {
  return Flag(in_group(*app_.add_option(name, value, help)));
}

Flag Flags::add_flag(const std::string& name, bool& given, const std::string& help) {
  return Flag(in_group(*app_.add_flag(name, given, help)));
}

Flag Flags::add_flag(const std::string& name, int& count, const std::string& help) {
  return Flag(in_group(*app_.add_flag(name, count, help)));
}

}  // namespace assay::cli
