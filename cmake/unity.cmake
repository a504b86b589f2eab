# Unity builds (ASSAY_UNITY): eight sources of a target are compiled as one, in less than half of
# the time. Then they share one anonymous namespace: what two of them name alike does not compile
# (scripts/find-clashes names them). One of the two is renamed, or told to be compiled alone. -D ASSAY_UNITY=OFF compiles each by itself, which
# is quicker after a change of one file; scripts/bench-build does so, too, and finds what an
# #include is missing for.
# assay_use_unity(<target>)
function(assay_use_unity target)
  if(ASSAY_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Of a class of a source, whose fields are of types of its anonymous namespace: GCC takes every
      # file but the first for a header.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

# assay_compile_alone(<source>...): of the folder whose file says so, ahead of its targets.
function(assay_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
