# Rules that can be stated are tests. Sources are checked in every build with tests; objects and the
# binary only without sanitizers, which add their own calls and libraries.
if(NOT BUILD_TESTING)
  return()
endif()

function(assay_check name script)
  add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" ${ARGN} -D "SOURCE=${PROJECT_SOURCE_DIR}"
    -P "${PROJECT_SOURCE_DIR}/cmake/${script}")
  set_tests_properties(${name} PROPERTIES LABELS check TIMEOUT 120)
endfunction()

if(ASSAY_SANITIZE)
  return()
endif()

assay_check(layers check_layers.cmake)
assay_check(own_header_first check_own_header.cmake)

add_test(NAME format COMMAND "${PROJECT_SOURCE_DIR}/scripts/format" --check
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
set_tests_properties(format PROPERTIES LABELS check SKIP_RETURN_CODE 77 TIMEOUT 120)

# What two sources of a part both define for themselves does not compile once they are compiled as
# one, which a new file beside them may bring about.
find_program(ASSAY_PYTHON3 python3)
if(ASSAY_PYTHON3)
  add_test(NAME unity_names COMMAND "${ASSAY_PYTHON3}" -B
    "${PROJECT_SOURCE_DIR}/scripts/find-clashes")
  set_tests_properties(unity_names PROPERTIES LABELS check TIMEOUT 120)
endif()

# Headers without a source of the same name compile alone, each in a generated one.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
  "${PROJECT_SOURCE_DIR}/src/assay/*.h")
set(generated "")
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.h$" ".cc" source "${header}")
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${source}")
    string(REGEX REPLACE "^src/" "" header "${header}")
    string(MAKE_C_IDENTIFIER "${header}" name)
    set(file "${PROJECT_BINARY_DIR}/generated/headers/${name}.cc")
    file(CONFIGURE OUTPUT "${file}" CONTENT "#include \"${header}\"\n" @ONLY)
    list(APPEND generated "${file}")
  endif()
endforeach()
if(generated)
  add_library(assay_headers_alone OBJECT ${generated})
  target_link_libraries(assay_headers_alone PRIVATE assay_options assay_external)
  target_compile_options(assay_headers_alone PRIVATE -O0 -g0)  # Nobody runs them.
endif()

# Objects of the library: all that `assay` links but the command line.
if(TARGET assay)
  assay_closure(parts cli)
  list(REMOVE_ITEM parts cli)
  set(objects "")
  foreach(part IN LISTS parts)
    get_target_property(type assay_${part} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY")
      string(APPEND objects "$<JOIN:$<TARGET_OBJECTS:assay_${part}>,\n>\n")
    endif()
  endforeach()
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/library_objects.txt" CONTENT "${objects}")
  assay_check(library_is_silent check_silent.cmake -D "NM=${CMAKE_NM}"
    -D "OBJECTS=${PROJECT_BINARY_DIR}/library_objects.txt")
  assay_check(binary_is_relocatable check_relocatable.cmake -D "BINARY=${ASSAY_BINARY}"
    -D "READELF=${CMAKE_READELF}" -D "WORK=${PROJECT_BINARY_DIR}/relocated")
endif()
