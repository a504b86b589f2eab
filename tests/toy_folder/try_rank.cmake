# cmake -D SOURCE= -P try_rank.cmake: what assay_provider() says of a rank that cannot be one.

# With RANKS, as the parts of assay_check_rank()'s calls: the script that is tried.
if(DEFINED RANKS)
  include("${SOURCE}/cmake/provider.cmake")
  foreach(rank IN LISTS RANKS)
    string(REPLACE "," ";" words "${rank}")
    list(POP_FRONT words folder role on_gpu)
    assay_check_rank("providers/${folder}/provider.yaml" "${role}" "${on_gpu}" "${words}")
  endforeach()
  return()
endif()

function(expect sentence)
  execute_process(COMMAND "${CMAKE_COMMAND}" -D "SOURCE=${SOURCE}" -D "RANKS=${ARGN}"
    -P "${CMAKE_CURRENT_LIST_FILE}" RESULT_VARIABLE code ERROR_VARIABLE errors)
  string(REGEX REPLACE "[ \n]+" " " errors "${errors}")
  if(sentence STREQUAL "" AND NOT code EQUAL 0)
    message(SEND_ERROR "${ARGN}: refused: ${errors}")
  elseif(NOT sentence STREQUAL "" AND NOT errors MATCHES "${sentence}")
    message(SEND_ERROR "${ARGN}: expected '${sentence}' in '${errors}'")
  endif()
endfunction()

expect("" a,stock,false,10 b,stock,false,20 c,stock,true,10 d,ours,false, e,stock,false, f,stock,false,)
expect("providers/b/provider.yaml: rank: 10 is that of providers/a/provider.yaml" a,stock,false,10
  b,stock,false,10)
expect("providers/a/provider.yaml: rank: only a stock provider has one, and the role here is ours"
  a,ours,false,10)
foreach(wrong IN ITEMS first 0 -1 1000 1.5)
  expect("providers/a/provider.yaml: rank: '${wrong}' is no whole number from 1 to 999"
    a,stock,false,${wrong})
endforeach()
