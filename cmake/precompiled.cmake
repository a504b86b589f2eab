# Precompiled headers (ASSAY_PCH) take about a second off each file that is compiled. A missing
# #include is found by a build with -D ASSAY_PCH=OFF: scripts/bench-build makes one.
# assay_use_precompiled(<target> library|test)
function(assay_use_precompiled target kind)
  if(ASSAY_PCH)
    target_precompile_headers(${target} REUSE_FROM assay_precompiled_${kind})
    # At the end of the folder's file, when sources have been given their flags.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL assay_skip_precompiled [[${target}]])")
  endif()
endfunction()

# Sources with flags of their own go without: GCC 12 takes a header that was precompiled at another
# optimisation level and then crashes.
function(assay_skip_precompiled target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_source_file_property(flags "${source}" COMPILE_OPTIONS)
    if(flags)
      set_source_files_properties("${source}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

if(ASSAY_PCH)
  set(common <algorithm> <filesystem> <functional> <map> <memory> <optional> <span> <string>
    <string_view> <unordered_map> <vector> <fmt/format.h> <nlohmann/json.hpp> <tl/expected.hpp>)
  file(WRITE "${PROJECT_BINARY_DIR}/generated/nothing.cc" "")
  foreach(kind IN ITEMS library test)
    add_library(assay_precompiled_${kind} OBJECT "${PROJECT_BINARY_DIR}/generated/nothing.cc")
    target_link_libraries(assay_precompiled_${kind} PRIVATE assay_options assay_external)
  endforeach()
  target_precompile_headers(assay_precompiled_library PRIVATE ${common})
  if(BUILD_TESTING)
    target_compile_options(assay_precompiled_test PRIVATE ${ASSAY_TEST_OPTIONS})
    target_link_libraries(assay_precompiled_test PRIVATE GTest::gtest_main GTest::gmock)
    target_precompile_headers(assay_precompiled_test PRIVATE ${common} <gmock/gmock.h>)
  endif()
endif()
