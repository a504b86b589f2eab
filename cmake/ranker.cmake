# assay_ranker(NAME <n>): one folder of rankers/. Its sources become the object library
# assay_<n>_ranker and *_test.cc the test <n>_ranker_test. ranker.cc defines
# `namespace assay::<n> { std::unique_ptr<Ranker> make_ranker(); }`.
# UNSANITIZED: its tests load libraries, which builds with sanitizers leave out.
function(assay_ranker)
  cmake_parse_arguments(arg "UNSANITIZED" "NAME" "" ${ARGN})
  set(part ${arg_NAME}_ranker)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test\\.cc$|/testing/)")
  assay_object_library(${part} SOURCES ${sources} LINK input)
  set(unsanitized "")
  if(arg_UNSANITIZED)
    set(unsanitized UNSANITIZED)
  endif()
  assay_unit_tests(${part}_test ${unsanitized} SOURCES ${tests} LINK ${part})
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/ranker.cc")
    set_property(GLOBAL APPEND PROPERTY ASSAY_RANKERS ${arg_NAME})
  endif()
endfunction()
