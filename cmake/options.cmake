# What every target of ours is compiled and linked with: the interface target assay_options.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Without this CMake adds -rdynamic, and a symbol of ours could then stand in for one of a BLAS
# that is loaded at run time.
set(CMAKE_ENABLE_EXPORTS OFF)
set(CMAKE_SKIP_RPATH ON)
# One binary at <build>/assay and the tests below <build>/tests, whichever folder defined them.
set(ASSAY_BINARY "${PROJECT_BINARY_DIR}/assay")
if(ASSAY_WITH_TESTS_OF)
  set(ASSAY_BINARY "${ASSAY_WITH_TESTS_OF}/assay")
  # One ctest, one summary: this build's tests and then the other's.
  set(include_file "${PROJECT_BINARY_DIR}/tests_of_other_build.cmake")
  file(WRITE "${include_file}" "subdirs(\"${ASSAY_WITH_TESTS_OF}\")\n")
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY TEST_INCLUDE_FILES "${include_file}")
endif()
set(ASSAY_TEST_DIR "${PROJECT_BINARY_DIR}/tests")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness lets it cache what uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${CCACHE_PROGRAM}")
endif()

add_library(assay_options INTERFACE)
target_include_directories(assay_options INTERFACE
  "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/generated")
target_compile_options(assay_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
  # Designated initialisers leave fields at their defaults on purpose.
  -Wno-missing-field-initializers
  # a*b+c is fused only where a kernel says so with an intrinsic: results do not hang on flags.
  -ffp-contract=off
  # The binary says nothing about the machine that built it.
  "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
if(ASSAY_WERROR)
  target_compile_options(assay_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these from inside inlined standard-library code, where nothing is wrong.
  target_compile_options(assay_options INTERFACE
    -Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(ASSAY_FUZZ)
  target_compile_options(assay_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(ASSAY_SANITIZE)
  # Without three checks that double the compile time: ASan sees a null pointer followed all the
  # same, and unaligned loads are what kernels do on purpose.
  set(sanitizers -fsanitize=address,undefined -fno-sanitize=null,alignment,vptr
    -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_compile_options(assay_options INTERFACE ${sanitizers})
  target_link_options(assay_options INTERFACE ${sanitizers})
else()
  # Only glibc, and what is loaded at run time on purpose, may come from the machine.
  target_link_options(assay_options INTERFACE -static-libstdc++ -static-libgcc)
endif()
if(ASSAY_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(assay_options INTERFACE -fpch-preprocess)  # For ccache.
endif()
target_link_options(assay_options INTERFACE -Wl,--gc-sections)
# Clang's sanitizers are archives, whose malloc() is to be that of the system's libraries, too.
if(NOT ASSAY_FUZZ)
  target_link_options(assay_options INTERFACE -Wl,--exclude-libs,ALL)
endif()
# Pointers to functions of other objects are read-only once a program has begun: candidates are
# mapped beside them.
target_link_options(assay_options INTERFACE -Wl,-z,relro,-z,now)
target_compile_options(assay_options INTERFACE -ffunction-sections -fdata-sections)
# Tests' own sources: each runs once or twice after it was compiled. What they test keeps its flags.
set(ASSAY_TEST_OPTIONS "$<$<CONFIG:Release>:-O0>")
