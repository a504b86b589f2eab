#include "assay/op/user/places.h"

#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "assay/base/operation_name.h"

namespace assay::user {
namespace {

struct Places {
  std::mutex mutex;
  std::map<std::string, std::map<std::string, std::string>, std::less<>> by_title;
};

Places& known() {
  static Places places;
  return places;
}

}  // namespace

void note_places(std::string_view operation, std::map<std::string, std::string> places) {
  const std::scoped_lock lock(known().mutex);
  known().by_title.insert_or_assign(std::string(operation_title(operation)), std::move(places));
}

Error located(std::string_view operation, const Error& error) {
  const std::scoped_lock lock(known().mutex);
  const std::string field = error.message.substr(0, error.message.find(": "));
  std::string place(operation_title(operation));
  if (const auto fields = known().by_title.find(place); fields != known().by_title.end())
    if (const auto found = fields->second.find(field); found != fields->second.end())
      place = found->second;
  return {error.code, fmt::format("{}: {}", place, error.message)};
}

}  // namespace assay::user
