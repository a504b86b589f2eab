# assay_version_source(<out>): a generated source that defines assay::build_info(). The revision
# stands in this one source, looked up at each build, so a commit recompiles nothing else.
# This file is also the script that writes it: cmake -D ASSAY_...=... -P version.cmake.
if(CMAKE_SCRIPT_MODE_FILE)
  set(ASSAY_REVISION "${ASSAY_UNSTAMPED}")
  if(NOT ASSAY_REVISION)
    # Somebody else may own the checkout (a container's root, say): reading its name is harmless.
    execute_process(
      COMMAND git -c "safe.directory=${ASSAY_SOURCE}" -C "${ASSAY_SOURCE}" describe
        --tags --always --dirty --match "v[0-9]*"
      OUTPUT_VARIABLE ASSAY_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(NOT ASSAY_REVISION)
    set(ASSAY_REVISION "unknown")
  endif()
  configure_file("${CMAKE_CURRENT_LIST_DIR}/templates/version.cc.in" "${ASSAY_OUTPUT}" @ONLY)
  return()
endif()

function(assay_version_source out)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/generated/version.cc")
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" flags)
  set(unstamped "")
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(unstamped "unstamped")
  endif()
  set(sanitized false)
  if(ASSAY_SANITIZE)
    set(sanitized true)
  endif()
  set(write "${CMAKE_COMMAND}"
    -D "ASSAY_SOURCE=${PROJECT_SOURCE_DIR}" -D "ASSAY_OUTPUT=${source}"
    -D "ASSAY_VERSION=${PROJECT_VERSION}" -D "ASSAY_UNSTAMPED=${unstamped}"
    -D "ASSAY_COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    -D "ASSAY_BUILD_TYPE=${CMAKE_BUILD_TYPE}" -D "ASSAY_FLAGS=${flags}"
    -D "ASSAY_SANITIZED=${sanitized}" -P "${PROJECT_SOURCE_DIR}/cmake/version.cmake")
  if(unstamped)
    execute_process(COMMAND ${write} COMMAND_ERROR_IS_FATAL ANY)
  else()
    add_custom_target(assay_revision BYPRODUCTS "${source}" COMMAND ${write} VERBATIM)
  endif()
  set(${out} "${source}" PARENT_SCOPE)
endfunction()
