#include "assay/report/gate_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/report/document.h"
#include "assay/report/safe.h"

namespace assay::report {
namespace {

constexpr std::size_t kMostBytes = 1000;  // Programs read these, and show as much as they like.

// As GitHub's toolkit escapes the text of a command, and a property of it.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (const char c : safe(text, kMostBytes)) {
    if (c == '%')
      out += "%25";
    else if (property && c == ':')
      out += "%3A";
    else if (property && c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

std::string case_xml(std::string_view suite, const Claim& claim) {
  const std::string head = fmt::format("  <testcase classname=\"{}\" name=\"{}\"", html_text(suite),
                                       html_text(safe(claim.text, kMostBytes)));
  if (!claim.fails) return head + "/>\n";
  return fmt::format("{}>\n    <failure message=\"{}\">{}</failure>\n  </testcase>\n", head,
                     to_string(claim.state), html_text(safe(claim.why, kMostBytes)));
}

std::string error_xml(std::string_view suite, const std::string& sentence) {
  return fmt::format(
      "  <testcase classname=\"{}\" name=\"evidence\">\n    <error message=\"{}\"/>\n"
      "  </testcase>\n",
      html_text(suite), html_text(safe(sentence, kMostBytes)));
}

}  // namespace

std::string github_lines(const std::vector<Claim>& claims) {
  std::string out;
  for (const Claim& claim : claims)
    out += fmt::format("::{} title={}::{} ({})\n", claim.fails ? "error" : "notice",
                       escaped(fmt::format("assay: {}", to_string(claim.state)), true),
                       escaped(claim.text, false), escaped(claim.why, false));
  return out;
}

std::string junit_xml(std::string_view suite, const std::vector<Claim>& claims,
                      const std::vector<std::string>& problems) {
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\">\n",
      html_text(suite), claims.size() + problems.size(),
      std::ranges::count_if(claims, &Claim::fails), problems.size());
  for (const Claim& claim : claims) out += case_xml(suite, claim);
  for (const std::string& sentence : problems) out += error_xml(suite, sentence);
  return out + "</testsuite>\n";
}

}  // namespace assay::report
