# Unity builds (ASSAY_UNITY): neighbouring sources of a target are compiled as one, in a third of the
# time. Then they share one anonymous namespace: what two of them name alike does not compile
# (scripts/find-clashes names them). One of the two is renamed, or told to be compiled alone. -D
# ASSAY_UNITY=OFF compiles each by itself, which is quicker after a change of one file;
# scripts/bench-build does so, too, and finds what an #include is missing for.

# Bytes of sources in one group. More share more of what templates make, and want more memory: a
# compiler may have 1.5 GB (scripts/jobs).
set(ASSAY_UNITY_BYTES 64000)

# assay_use_unity(<target> library|test): tests are not optimised, so that eight of any size do.
function(assay_use_unity target kind)
  if(ASSAY_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    if(kind STREQUAL "library")
      set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
      # At the end of the folder's file, when sources have been given their flags.
      cmake_language(EVAL CODE "cmake_language(DEFER CALL assay_group_sources [[${target}]])")
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Of a class of a source, whose fields are of types of its anonymous namespace: GCC takes every
      # file but the first for a header.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

# Groups of about equal size, in the order of the sources: files of one folder share most.
function(assay_group_sources target)
  get_target_property(sources ${target} SOURCES)
  set(together "")
  set(all_bytes 1)
  foreach(source IN LISTS sources)
    get_source_file_property(flags "${source}" COMPILE_OPTIONS)
    get_source_file_property(is_alone "${source}" SKIP_UNITY_BUILD_INCLUSION)
    get_source_file_property(has_group "${source}" UNITY_GROUP)
    if(NOT flags AND NOT is_alone AND NOT has_group AND source MATCHES "\\.cc$")
      list(APPEND together "${source}")
      assay_source_bytes(bytes "${source}")
      math(EXPR all_bytes "${all_bytes} + ${bytes}")
    endif()
  endforeach()
  math(EXPR groups "(${all_bytes} + ${ASSAY_UNITY_BYTES} - 1) / ${ASSAY_UNITY_BYTES}")
  set(before 0)
  foreach(source IN LISTS together)
    math(EXPR group "${before} * ${groups} / ${all_bytes}")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
    assay_source_bytes(bytes "${source}")
    math(EXPR before "${before} + ${bytes}")
  endforeach()
endfunction()

# What is generated holds data, which compiles in no time.
function(assay_source_bytes out source)
  cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE file)
  set(bytes 0)
  if(EXISTS "${file}" AND NOT file MATCHES "^${PROJECT_BINARY_DIR}/")
    file(SIZE "${file}" bytes)
  endif()
  set(${out} ${bytes} PARENT_SCOPE)
endfunction()

# assay_compile_alone(<source>...): of the folder whose file says so, ahead of its targets.
function(assay_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
