# cmake -D KIND= -D SOURCE= -D WORK= -D OBJECTS= -D BUILT= -D GENERATOR= -D COMPILER= -P try_toy.cmake

include("${SOURCE}/tests/package/steps.cmake")

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}/${KIND}s")
foreach(folder IN ITEMS cmake src cli)
  file(CREATE_LINK "${SOURCE}/${folder}" "${WORK}/${folder}" SYMBOLIC)
endforeach()
file(COPY "${SOURCE}/${KIND}s/CMakeLists.txt" DESTINATION "${WORK}/${KIND}s")
file(COPY_FILE "${SOURCE}/tests/toy_folder/project.cmake" "${WORK}/CMakeLists.txt")

# The one step that adding one takes.
file(COPY "${SOURCE}/tests/toy_folder/${KIND}s/toy" DESTINATION "${WORK}/${KIND}s")

list(JOIN BUILT "," built)
run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${WORK}" -B "${WORK}/build" -D CMAKE_BUILD_TYPE=Debug
  -D "CMAKE_CXX_COMPILER=${COMPILER}" -D "OBJECTS=${OBJECTS}" "-DKIND=${KIND}" "-DBUILT=${built}")
run("${CMAKE_COMMAND}" --build "${WORK}/build")

set(assay "${WORK}/build/assay")
run("${assay}" providers --json)
expect("listed" "\"toy\"")
foreach(name IN LISTS BUILT)
  expect("listed beside it" "\"${name}\"")
endforeach()
set(shape --shape "m=6,n=20,k=10,dtype=f32,layout=tt")
set(measured --lock-dir "${WORK}/locks" --threads 1 --budget 1s --processes 3
  --cache-dir "${WORK}/cache" --output-dir "${WORK}/run")
include("${CMAKE_CURRENT_LIST_DIR}/use_${KIND}.cmake")
if(NOT EXISTS "${WORK}/${KIND}s/toy/README.md")
  message(FATAL_ERROR "${KIND}s/toy has no README.md")
endif()
