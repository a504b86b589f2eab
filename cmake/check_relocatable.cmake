# cmake -D BINARY=<assay> -D READELF=<readelf> -D SOURCE=<root> -D WORK=<folder> -P check_relocatable.cmake
# The binary needs nothing but glibc, carries no path of where it was built, and runs elsewhere.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND "${READELF}" --dynamic --wide "${BINARY}"
  OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "NEEDED[^\n]*" needed "${dynamic}")
if(NOT needed)
  message(FATAL_ERROR "${BINARY}: no NEEDED entries; is it a dynamic executable?")
endif()
foreach(entry IN LISTS needed)
  if(NOT entry MATCHES "(lib(c|m|dl|pthread|rt)\\.so\\.[0-9]+|ld-linux[-a-z0-9_]*\\.so\\.[0-9]+)")
    message(SEND_ERROR "${BINARY}: needs more than glibc: ${entry}")
  endif()
endforeach()
if(dynamic MATCHES "(RPATH|RUNPATH)[^\n]*")
  message(SEND_ERROR "${BINARY}: ${CMAKE_MATCH_0}")
endif()

# Symbols that the binary exports could stand in for those of a library loaded at run time.
execute_process(COMMAND "${READELF}" --dyn-syms --wide "${BINARY}"
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(symbols MATCHES "(FUNC|OBJECT) +GLOBAL +DEFAULT +[0-9]+ +(cblas_|[sd]gemm|dnnl_|_ZN5assay)[^\n]*")
  message(SEND_ERROR "${BINARY}: exports a symbol: ${CMAKE_MATCH_0}")
endif()

file(STRINGS "${BINARY}" paths REGEX "${SOURCE}/(src|providers|cli|build)/")
if(paths)
  list(GET paths 0 path)
  message(SEND_ERROR "${BINARY}: holds a path of the machine that built it: ${path}")
endif()

file(REMOVE_RECURSE "${WORK}")
file(COPY "${BINARY}" DESTINATION "${WORK}")
cmake_path(GET BINARY FILENAME name)
execute_process(COMMAND env -i "${WORK}/${name}" --version WORKING_DIRECTORY "${WORK}"
  OUTPUT_VARIABLE version RESULT_VARIABLE result)
if(NOT result EQUAL 0 OR NOT version MATCHES "[0-9]+\\.[0-9]+\\.[0-9]+")
  message(SEND_ERROR "a copy of the binary elsewhere, without an environment: exit ${result}, "
    "printed '${version}'")
endif()
file(REMOVE_RECURSE "${WORK}")
