# cmake -D SOURCE= -D WORK= -D OBJECTS= -D PROVIDERS= -D GENERATOR= -D COMPILER= -P try_toy.cmake

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
file(MAKE_DIRECTORY "${WORK}/providers")
foreach(folder IN ITEMS cmake src cli)
  file(CREATE_LINK "${SOURCE}/${folder}" "${WORK}/${folder}" SYMBOLIC)
endforeach()
file(COPY "${SOURCE}/providers/CMakeLists.txt" DESTINATION "${WORK}/providers")
file(COPY_FILE "${SOURCE}/tests/toy_provider/project.cmake" "${WORK}/CMakeLists.txt")

# The one step that adding a provider takes.
file(COPY "${SOURCE}/tests/toy_provider/toy" DESTINATION "${WORK}/providers")

list(JOIN PROVIDERS "," built)
run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${WORK}" -B "${WORK}/build" -D CMAKE_BUILD_TYPE=Debug
  -D "CMAKE_CXX_COMPILER=${COMPILER}" -D "OBJECTS=${OBJECTS}" "-DBUILT_PROVIDERS=${built}")
run("${CMAKE_COMMAND}" --build "${WORK}/build")

set(assay "${WORK}/build/assay")
set(shape --shape "m=6,n=20,k=10,dtype=f32,layout=tt")
run("${assay}" providers --json)
expect("listed" "\"toy\"")
expect("documented" "three loops, the least that a provider can be")
foreach(provider IN LISTS PROVIDERS)
  expect("listed beside it" "${provider}")
endforeach()
run("${assay}" kernels ${shape} --provider toy)
expect("discovered" "loops_ijp")
run("${assay}" sweep ${shape} --provider toy --lock-dir "${WORK}/locks" --threads 1 --budget 1s --processes 3
  --cache-dir "${WORK}/cache" --output-dir "${WORK}/run")
expect("raced" "toy/loops_i[jp][jp]")
if(NOT EXISTS "${WORK}/run/toy_results.json")
  message(FATAL_ERROR "a race of toy left no toy_results.json")
endif()
if(NOT EXISTS "${WORK}/providers/toy/README.md")
  message(FATAL_ERROR "providers/toy has no README.md")
endif()
