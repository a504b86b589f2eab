# Holds the files of src/ and cli/ that name GEMM against words.txt, both ways: a file that is not
# listed must not, and one that no longer does must leave the list. So the list only shrinks by
# hand, and an operation is one folder when its second half is empty.
#
# Comments do not count, nor do names of example kernels in help texts and messages, nor those of the
# models called Gemma.
cmake_minimum_required(VERSION 3.25)

set(list "${CMAKE_CURRENT_LIST_DIR}/words.txt")
file(STRINGS "${list}" lines)
set(listed)
foreach(line IN LISTS lines)
  if(line MATCHES "^(may|owed) +([^ ]+)$")
    if(NOT EXISTS "${SOURCE}/${CMAKE_MATCH_2}")
      message(SEND_ERROR "${list}: no file ${CMAKE_MATCH_2}")
    endif()
    list(APPEND listed "${CMAKE_MATCH_2}")
  elseif(NOT line MATCHES "^(#|$)")
    message(SEND_ERROR "${list}: neither 'may FILE' nor 'owed FILE': ${line}")
  endif()
endforeach()

file(GLOB_RECURSE files RELATIVE "${SOURCE}" "${SOURCE}/src/*.cc" "${SOURCE}/src/*.h"
  "${SOURCE}/src/*.cu" "${SOURCE}/src/*.txt" "${SOURCE}/src/*.cmake" "${SOURCE}/cli/*.cc"
  "${SOURCE}/cli/*.h" "${SOURCE}/cli/*.txt" "${SOURCE}/cli/*.cmake")
list(FILTER files EXCLUDE REGEX "^src/assay/op/gemm/|^src/assay/profiler/|/testing/|_test\\.cc$")
set(found)
foreach(file IN LISTS files)
  file(READ "${SOURCE}/${file}" text)
  if(NOT text MATCHES "[gG][eE][mM][mM]")
    continue()
  endif()
  string(REGEX REPLACE "/\\*([^*]|\\*[^/])*\\*/" "" text "${text}")
  if(file MATCHES "\\.(txt|cmake)$")
    string(REGEX REPLACE "#[^\n]*" "" text "${text}")
  endif()
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "gemma|my_gemm|mine::gemm|openblas/sgemm|sweep\\.gemm\\.csv" "" text "${text}")
  if(text MATCHES "[gG][eE][mM][mM]")
    list(APPEND found "${file}")
  endif()
endforeach()
if(NOT listed OR NOT files)
  message(FATAL_ERROR "nothing was read: ${list}, ${SOURCE}/src")
endif()

foreach(file IN LISTS found)
  if(NOT file IN_LIST listed)
    message(SEND_ERROR "${file} names GEMM: what it needs belongs to Operation (op/operation.h)")
  endif()
endforeach()
foreach(file IN LISTS listed)
  if(NOT file IN_LIST found)
    message(SEND_ERROR "${file} no longer names GEMM: take it off ${list}")
  endif()
endforeach()
list(LENGTH found count)
message(STATUS "${count} files outside op/gemm name GEMM")
