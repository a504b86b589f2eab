# cmake -D SOURCE= -D WORK= -D OBJECTS= -D GENERATOR= -D COMPILER= -P try_operation.cmake: an
# operation is one folder, with several outputs and attributes of its own.

include("${SOURCE}/tests/package/steps.cmake")

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}/src/assay/op")
file(CREATE_LINK "${SOURCE}/cmake" "${WORK}/cmake" SYMBOLIC)
# Links, so that a folder can stand beside them.
foreach(folder IN ITEMS src src/assay src/assay/op)
  file(GLOB entries RELATIVE "${SOURCE}/${folder}" "${SOURCE}/${folder}/*")
  foreach(entry IN LISTS entries)
    if(NOT EXISTS "${WORK}/${folder}/${entry}")
      file(CREATE_LINK "${SOURCE}/${folder}/${entry}" "${WORK}/${folder}/${entry}" SYMBOLIC)
    endif()
  endforeach()
endforeach()
file(COPY_FILE "${SOURCE}/tests/toy_folder/operation_project.cmake" "${WORK}/CMakeLists.txt")

# The one step that adding one takes.
file(COPY "${SOURCE}/tests/toy_folder/op/toy" DESTINATION "${WORK}/src/assay/op")

run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${WORK}" -B "${WORK}/build" -D CMAKE_BUILD_TYPE=Debug
  -D "CMAKE_CXX_COMPILER=${COMPILER}" -D "OBJECTS=${OBJECTS}")
run("${CMAKE_COMMAND}" --build "${WORK}/build")

# assay(CODE words...): what it says in `output`, on either stream; it must end with that code.
function(assay code)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env "ASSAY_LOCK_DIR=${WORK}/locks"
    "${WORK}/build/assay" ${ARGN} WORKING_DIRECTORY "${SOURCE}/tests/toy_folder/op/kernels"
    RESULT_VARIABLE ended OUTPUT_VARIABLE text ERROR_VARIABLE errors)
  string(REGEX REPLACE "[ \n]+" " " text "${text} ${errors}")
  if(NOT ended EQUAL code)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "assay ${command}: exit code ${ended}, expected ${code}\n${text}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

set(shape --shape "operation=toy,n=1003,limit=0.25")
set(measured --threads 1 --budget 1s --processes 3 --cache-dir "${WORK}/cache")

assay(2 kernels --shape operation=none,n=3)
expect("listed" "known: [a-z, ]*toy")
assay(2 kernels --shape operation=toy,n=0)
expect("refused by its own rule" "from 1 to 268435456")
assay(2 kernels --shape operation=toy,n=3,limit=1e31)
expect("its attribute checked" "limit: 1e.31 is no float")

assay(0 race plain.cc twice.cc ${shape} ${measured} --output-dir "${WORK}/right")
expect("raced" "plain.cc")
expect("raced" "twice.cc")
file(READ "${WORK}/right/record.json" record)
foreach(part IN ITEMS "every element, exactly" "\"limit\"")
  if(NOT record MATCHES "${part}")
    message(FATAL_ERROR "the record has no ${part}")
  endif()
endforeach()

# With both outputs, and its limit.
file(REMOVE_RECURSE "${WORK}/exported")
assay(0 export --winner toy_n1003_limit0.25 --run "${WORK}/right" --kernel cpp_source/plain --output-dir
  "${WORK}/exported")
run(make -s -C "${WORK}/exported" caller)
run("${WORK}/exported/caller" --seconds 0)
expect("exported" "right: 2006 of 2006 elements")

assay(4 race of_another.cc ${shape} ${measured} --output-dir "${WORK}/another")
expect("refused" "computes rmsnorm, not toy")

# Three that are wrong: in the second output, in its last element, by the attribute.
foreach(wrong IN ITEMS leaves_one_out last_element no_limit)
  assay(1 race ${wrong}.cc ${shape} ${measured} --output-dir "${WORK}/${wrong}")
  file(READ "${WORK}/${wrong}/record.json" record)
  if(NOT record MATCHES "(smaller|larger)\\[[0-9]+\\] = ")
    message(FATAL_ERROR "${wrong} was not caught:\n${output}")
  endif()
endforeach()
