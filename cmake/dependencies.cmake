# Libraries of others, from the distribution's packages (scripts/install-dependencies), all linked
# statically: headers alone where that suffices, archives otherwise. BLAS libraries never stand
# here: a provider loads them at run time, and none may be in DT_NEEDED.
find_package(Threads REQUIRED)

# assay_static_library(<target> <archive> <header>): an imported target for a static archive.
# Distributions' CMake packages name the shared library, so the archive is looked up by its name.
function(assay_static_library target archive header)
  find_library(${target}_ARCHIVE NAMES ${archive} REQUIRED)
  find_path(${target}_INCLUDE NAMES ${header} REQUIRED)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${${target}_ARCHIVE}"
    INTERFACE_INCLUDE_DIRECTORIES "${${target}_INCLUDE}")
  mark_as_advanced(${target}_ARCHIVE ${target}_INCLUDE)
  # What an installed package looks for again where it is used (targets.cmake).
  set_property(GLOBAL APPEND PROPERTY ASSAY_STATIC_LIBRARIES "${archive}")
endfunction()

assay_static_library(assay_ssl libssl.a openssl/ssl.h)
assay_static_library(assay_crypto libcrypto.a openssl/sha.h)
assay_static_library(assay_yaml_cpp libyaml-cpp.a yaml-cpp/yaml.h)
assay_static_library(assay_zstd libzstd.a zstd.h)
assay_static_library(assay_xxhash libxxhash.a xxhash.h)

foreach(header IN ITEMS tl/expected.hpp fmt/format.h CLI/CLI.hpp nlohmann/json.hpp
    boost/asio/io_context.hpp)
  string(MAKE_C_IDENTIFIER "ASSAY_HEADER_${header}" found)
  find_path(${found} NAMES ${header} REQUIRED)
  mark_as_advanced(${found})
endforeach()

add_library(assay_external INTERFACE)
# nlohmann's own assertions would abort a program that only links us.
target_compile_options(assay_external INTERFACE "-DJSON_ASSERT(condition)=static_cast<void>(0)")
target_link_libraries(assay_external INTERFACE assay_yaml_cpp assay_ssl assay_crypto assay_zstd assay_xxhash
  Threads::Threads ${CMAKE_DL_LIBS})
include(json_header)

file(STRINGS "${ASSAY_HEADER_fmt_format_h}/fmt/core.h" fmt_version REGEX "define FMT_VERSION 9")
if(fmt_version)
  add_library(assay_fmt STATIC cmake/compiled_fmt.cc)
  # The binary says nothing about the machine that built it.
  target_compile_options(assay_fmt PRIVATE "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
  target_link_libraries(assay_external INTERFACE assay_fmt)
else()
  target_compile_definitions(assay_external INTERFACE FMT_HEADER_ONLY)
endif()

if(BUILD_TESTING)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
