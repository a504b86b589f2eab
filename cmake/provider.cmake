# assay_provider(NAME <n> [RESOURCES <files>] [COMPILE_OPTIONS <flags>]): one folder of providers/.
function(assay_provider)
  cmake_parse_arguments(arg "" "NAME;ROLE" "RESOURCES;COMPILE_OPTIONS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|_bench)\\.cc$")
  set(part ${arg_NAME}_provider)
  assay_object_library(${part} SOURCES ${sources} LINK kernel input
    COMPILE_OPTIONS ${arg_COMPILE_OPTIONS})
  assay_unit_tests(${part}_test SOURCES ${tests} LINK ${part})
endfunction()
