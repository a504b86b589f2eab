#pragma once

// The flags of a command, as it declares them. What parses them stands in flags.cc alone: the
// parser's own header would be half of the time in which a command compiles.

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace assay::cli {

// One of them. Each call says more of it and returns it.
class Flag {
 public:
  explicit Flag(CLI::Option& option) : option_(option) {}

  Flag& type_name(const std::string& name);  // "FILE": what help calls the value.
  Flag& required();
  Flag& one_of(const std::vector<std::string>& values);
  Flag& range(int least, int most);
  Flag& show_default();                 // In help: what the value is now.
  Flag& delimiter(char separator);      // One word may hold several values.
  Flag& expected(int least, int most);  // Words.
  Flag& excludes(const Flag& other);
  Flag& several_words(bool allowed);  // Of a list: whether one flag takes the words behind it.

 private:
  CLI::Option& option_;
};

// Under which heading help shows a flag; help.cc has their order.
enum class FlagGroup { problem, kernels, measuring, output, more, backend, server, limits, mock };
std::string to_string(FlagGroup group);  // "Problem"

class Flags {
 public:
  explicit Flags(CLI::App& app) : app_(app) {}

  // Of the flags that are added from now on; at first they are `more`.
  void set_group(FlagGroup group) { group_ = group; }

  // A flag with a value ("--output"), or a word of its own ("file"). `value` must outlive parsing.
  Flag add_option(const std::string& name, std::string& value, const std::string& help);
  Flag add_option(const std::string& name, std::vector<std::string>& value,
                  const std::string& help);
  Flag add_option(const std::string& name, int& value, const std::string& help);

  // One without a value: given or not, or how often.
  Flag add_flag(const std::string& name, bool& given, const std::string& help);
  Flag add_flag(const std::string& name, int& count, const std::string& help);

 private:
  CLI::Option& in_group(CLI::Option& option) const;

  CLI::App& app_;
  FlagGroup group_ = FlagGroup::more;
};

}  // namespace assay::cli
