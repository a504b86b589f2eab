# Precompiled headers, only in builds with sanitizers (ASSAY_PCH), where they take a third off the
# compile time. Other builds go without, so that a missing #include is found.
# assay_use_precompiled(<target> library|test)
function(assay_use_precompiled target kind)
  if(ASSAY_PCH)
    target_precompile_headers(${target} REUSE_FROM assay_precompiled_${kind})
  endif()
endfunction()

if(ASSAY_PCH)
  # A source with flags of its own cannot use them: the compiler then reads the headers as usual.
  set(CMAKE_PCH_WARN_INVALID OFF)
  set(common <algorithm> <filesystem> <functional> <map> <memory> <optional> <span> <string>
    <string_view> <unordered_map> <vector> <fmt/format.h> <nlohmann/json.hpp> <tl/expected.hpp>)
  file(WRITE "${PROJECT_BINARY_DIR}/generated/nothing.cc" "")
  foreach(kind IN ITEMS library test)
    add_library(assay_precompiled_${kind} OBJECT "${PROJECT_BINARY_DIR}/generated/nothing.cc")
    target_link_libraries(assay_precompiled_${kind} PRIVATE assay_options assay_external)
  endforeach()
  target_precompile_headers(assay_precompiled_library PRIVATE ${common})
  if(BUILD_TESTING)
    target_link_libraries(assay_precompiled_test PRIVATE GTest::gtest_main GTest::gmock)
    target_precompile_headers(assay_precompiled_test PRIVATE ${common} <gmock/gmock.h>)
  endif()
endif()
