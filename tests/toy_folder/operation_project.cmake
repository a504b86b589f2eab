# CMakeLists.txt of the copy: the modules and the sources are the real ones.
cmake_minimum_required(VERSION 3.25)
project(assay VERSION 0.1.0 LANGUAGES CXX)

list(APPEND CMAKE_MODULE_PATH "${PROJECT_SOURCE_DIR}/cmake")
include(options)
include(dependencies)
include(unity)
include(tables)

# The table of operations anew, as src/assay/op makes it, and the one folder; what the other build
# has compiled of the rest.
function(make_table out)
  set(CMAKE_CURRENT_SOURCE_DIR "${PROJECT_SOURCE_DIR}/src/assay/op")
  assay_operation_table(table)
  set(${out} "${table}" PARENT_SCOPE)
endfunction()
make_table(table)
file(GLOB toy "${PROJECT_SOURCE_DIR}/src/assay/op/toy/*.cc")
file(STRINGS "${OBJECTS}" objects)
list(FILTER objects EXCLUDE REGEX "/generated/operations\\.cc\\.o$")
add_executable(assay ${objects} ${table} ${toy})
target_include_directories(assay PRIVATE "${PROJECT_SOURCE_DIR}/src")
# Archives that the parts' objects want.
file(GLOB archives "${PROJECT_SOURCE_DIR}/src/assay/*/archive.cmake"
  "${PROJECT_SOURCE_DIR}/src/assay/*/*/archive.cmake")
foreach(file IN LISTS archives)
  include("${file}")
endforeach()
target_link_libraries(assay PRIVATE assay_options assay_external ${ASSAY_ARCHIVES})
