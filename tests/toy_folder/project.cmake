# CMakeLists.txt of the copy: the modules, KINDs/CMakeLists.txt and the sources are the real ones.
cmake_minimum_required(VERSION 3.25)
project(assay VERSION 0.1.0 LANGUAGES CXX)

list(APPEND CMAKE_MODULE_PATH "${PROJECT_SOURCE_DIR}/cmake")
include(options)
include(dependencies)
include(precompiled)
include(unity)
include(layers)
include(embed)
include(tables)
include(part)
include(${KIND})

# Those that the other build has compiled are in the table, and their objects in the list.
string(REPLACE "," ";" built "${BUILT}")
string(TOUPPER "ASSAY_${KIND}S" table)
set_property(GLOBAL PROPERTY ${table} ${built})
add_subdirectory(${KIND}s)

file(STRINGS "${OBJECTS}" objects)
add_executable(assay ${objects})
set_target_properties(assay PROPERTIES LINKER_LANGUAGE CXX)
assay_link_parts(assay ${KIND}s)
# Archives that the parts' objects want.
file(GLOB archives "${PROJECT_SOURCE_DIR}/src/assay/*/archive.cmake"
  "${PROJECT_SOURCE_DIR}/src/assay/*/*/archive.cmake")
foreach(file IN LISTS archives)
  include("${file}")
endforeach()
target_link_libraries(assay PRIVATE assay_options assay_external ${ASSAY_ARCHIVES})
