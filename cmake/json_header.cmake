# nlohmann's json.hpp without its literals ("..."_json), which nothing here uses. Each file that
# includes it would instantiate its whole parser for them: 1.5 s of a processor a file (GCC 12).
# A header of another text is taken as it is.
file(READ "${ASSAY_HEADER_nlohmann_json_hpp}/nlohmann/json.hpp" text)
string(FIND "${text}" "inline namespace literals" first)
string(FIND "${text}" "using nlohmann::literals::json_literals::operator \"\" _json;" uses)
string(FIND "${text}" "NLOHMANN_JSON_NAMESPACE_END" last REVERSE)
if(first GREATER 0 AND last GREATER first AND uses GREATER last)
  string(SUBSTRING "${text}" 0 ${first} head)
  string(SUBSTRING "${text}" ${last} -1 tail)
  string(REGEX REPLACE "using nlohmann::literals::[^;]*;" "" tail "${tail}")
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/json/nlohmann/json.hpp"
    CONTENT "${head}${tail}" @ONLY)
  target_include_directories(assay_external SYSTEM BEFORE INTERFACE
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated/json>)
endif()
