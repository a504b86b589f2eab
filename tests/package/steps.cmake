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

function(refuse what pattern)
  if(output MATCHES "${pattern}")
    message(FATAL_ERROR "${what}: found '${CMAKE_MATCH_0}' in\n${output}")
  endif()
endfunction()
