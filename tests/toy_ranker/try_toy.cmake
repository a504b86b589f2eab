# cmake -D SOURCE= -D WORK= -D OBJECTS= -D RANKERS= -D GENERATOR= -D COMPILER= -P try_toy.cmake

# run(<words>): the command's output in `output`; stops the test if it fails.
function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${WORK}" RESULT_VARIABLE code
    OUTPUT_VARIABLE text ERROR_VARIABLE errors)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: exit code ${code}\n${text}\n${errors}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

function(expect what pattern)
  if(NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "${what}: expected '${pattern}' in\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}/rankers")
foreach(folder IN ITEMS cmake src cli)
  file(CREATE_LINK "${SOURCE}/${folder}" "${WORK}/${folder}" SYMBOLIC)
endforeach()
file(COPY "${SOURCE}/rankers/CMakeLists.txt" DESTINATION "${WORK}/rankers")
file(COPY_FILE "${SOURCE}/tests/toy_ranker/project.cmake" "${WORK}/CMakeLists.txt")

# The one step that adding a ranker takes.
file(COPY "${SOURCE}/tests/toy_ranker/toy" DESTINATION "${WORK}/rankers")

list(JOIN RANKERS "," built)
run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${WORK}" -B "${WORK}/build" -D CMAKE_BUILD_TYPE=Debug
  -D "CMAKE_CXX_COMPILER=${COMPILER}" -D "OBJECTS=${OBJECTS}" "-DBUILT_RANKERS=${built}")
run("${CMAKE_COMMAND}" --build "${WORK}/build")

set(assay "${WORK}/build/assay")
run("${assay}" providers --json)
expect("listed" "\"toy\"")
expect("documented" "as many columns as a tile has")
foreach(ranker IN LISTS RANKERS)
  expect("listed beside it" "\"${ranker}\"")
endforeach()
run("${assay}" sweep --help)
expect("named where it is chosen" "toy")
run("${assay}" sweep --ranker toy --shape "m=6,n=20,k=10,dtype=f32,layout=tt" --provider native_cpu
  --lock-dir "${WORK}/locks" --threads 1 --budget 1s --processes 3 --cache-dir "${WORK}/cache"
  --output-dir "${WORK}/run")
file(READ "${WORK}/run/record.json" record)
if(NOT record MATCHES "\"ranker\": \"toy\"")
  message(FATAL_ERROR "the record does not name the ranker")
endif()
if(NOT EXISTS "${WORK}/rankers/toy/README.md")
  message(FATAL_ERROR "rankers/toy has no README.md")
endif()
