# assay_link_parts(<target> <part>...): links the parts and all that they build on.
# Object libraries hand on their usage requirements but not their objects, so each part keeps the
# closure of what it links in the property ASSAY_CLOSURE. Parts that do not exist are left out.
function(assay_link_parts target)
  assay_closure(parts ${ARGN})
  foreach(part IN LISTS parts)
    target_link_libraries(${target} PRIVATE assay_${part})
  endforeach()
endfunction()

# assay_closure(<out> <part>...): the parts and all that they link, each once.
function(assay_closure out)
  set(closure "")
  foreach(part IN LISTS ARGN)
    if(TARGET assay_${part})
      get_target_property(below assay_${part} ASSAY_CLOSURE)
      list(APPEND closure ${part})
      if(below)
        list(APPEND closure ${below})
      endif()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES closure)
  set(${out} ${closure} PARENT_SCOPE)
endfunction()

# assay_object_library(<name> [COLD] SOURCES ... LINK <parts> [COMPILE_OPTIONS ...]): the library
# assay_<name>, INTERFACE while it has no sources yet.
# COLD: its own code takes no time that anybody waits for, so a release has it at -O1, which
# compiles in two thirds of the time.
function(assay_object_library name)
  cmake_parse_arguments(arg "COLD" "" "SOURCES;LINK;COMPILE_OPTIONS" ${ARGN})
  set(target assay_${name})
  assay_closure(below ${arg_LINK})
  if(arg_SOURCES)
    add_library(${target} OBJECT ${arg_SOURCES})
    target_link_libraries(${target} PUBLIC assay_options assay_external)
    if(arg_COLD)
      target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
    if(arg_COMPILE_OPTIONS)
      target_compile_options(${target} PRIVATE ${arg_COMPILE_OPTIONS})
    else()
      assay_use_precompiled(${target} library)
      assay_use_unity(${target} library)
    endif()
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE assay_options assay_external)
  endif()
  set_target_properties(${target} PROPERTIES ASSAY_CLOSURE "${below}")
endfunction()

# assay_unit_tests(<name> [UNSANITIZED] [ALONE [BUT <filter>]] [LABEL <label>] SOURCES ... LINK <parts>): the GoogleTest
# executable <name>, whose tests have the label, by default "unit".
# UNSANITIZED: these tests cannot run under the sanitizers (ASan refuses RTLD_DEEPBIND, and turns
# signals into reports), so builds with them leave the executable out, and all others have it.
# ALONE: ctest runs nothing beside them, because they expect words that a busy machine does not earn;
# but those that GoogleTest's filter names.
# Tests are listed when ctest runs and not while building, so that a sanitizer's start-up or a
# test that cannot start never breaks a build.
function(assay_unit_tests name)
  cmake_parse_arguments(arg "UNSANITIZED;ALONE" "LABEL;BUT" "SOURCES;LINK" ${ARGN})
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  set(wanted ${ASSAY_UNIT_TESTS})
  if(arg_UNSANITIZED)
    set(wanted TRUE)
    if(ASSAY_SANITIZE)
      set(wanted FALSE)
    endif()
  endif()
  if(NOT BUILD_TESTING OR NOT arg_SOURCES OR NOT wanted)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${ASSAY_TEST_DIR}")
  # Compiled as the library is (-fPIC, not -fPIE), or the precompiled headers would not fit.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC ${ASSAY_TEST_OPTIONS})
  assay_use_precompiled(${name} test)
  assay_use_unity(${name} test)
  assay_link_parts(${name} ${arg_LINK})
  target_link_libraries(${name} PRIVATE assay_testing assay_options assay_external
    GTest::gtest_main GTest::gmock)
  if(arg_BUT)
    assay_list_tests(${name} ${arg_LABEL} FALSE "${arg_BUT}")
    assay_list_tests(${name} ${arg_LABEL} ${arg_ALONE} "-${arg_BUT}")
  else()
    assay_list_tests(${name} ${arg_LABEL} ${arg_ALONE} "*")
  endif()
endfunction()

# assay_list_tests(<name> <label> <alone> <filter>): those that the filter names become ctest's.
function(assay_list_tests name label alone filter)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_FILTER "${filter}"
    TEST_PREFIX "${name}." NO_PRETTY_VALUES WORKING_DIRECTORY "${PROJECT_BINARY_DIR}"
    PROPERTIES TIMEOUT 300 LABELS ${label} RUN_SERIAL ${alone}
      # Two properties of one value each: gtest_discover_tests() loses all but a list's first.
      ENVIRONMENT "ASSAY_BINARY=${ASSAY_BINARY}"
      ENVIRONMENT_MODIFICATION "ASSAY_SOURCE_DIR=set:${PROJECT_SOURCE_DIR}")
endfunction()

# assay_part(<name> [COLD] [LINK <parts>] [GENERATED <sources>]): one part of src/assay.
# Its sources are all .cc files below its folder; *_test.cc and testing/ make <name>_test, and
# *_unsanitized_test.cc make <name>_unsanitized_test (see assay_unit_tests).
# COLD: as assay_object_library says.
function(assay_part name)
  cmake_parse_arguments(arg "COLD" "" "LINK;GENERATED" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "(_test\\.cc|/testing/[^/]*\\.cc)$")
  set(unsanitized ${tests})
  list(FILTER tests EXCLUDE REGEX "_unsanitized_test\\.cc$")
  list(FILTER unsanitized INCLUDE REGEX "_unsanitized_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test\\.cc|_bench\\.cc|/testing/[^/]*\\.cc)$")
  set(cold "")
  if(arg_COLD)
    set(cold COLD)
  endif()
  assay_object_library(${name} ${cold} SOURCES ${sources} ${arg_GENERATED} LINK ${arg_LINK})
  assay_unit_tests(${name}_test SOURCES ${tests} LINK ${name})
  assay_unit_tests(${name}_unsanitized_test UNSANITIZED SOURCES ${unsanitized} LINK ${name})
endfunction()
