# cmake -D SOURCE=<root> -P check_own_header.cmake
# A source with a header of the same name includes it first. Then compiling the source shows that
# the header compiles alone; headers without a source get a generated one (cmake/checks.cmake).
cmake_minimum_required(VERSION 3.25)

set(problems 0)
file(GLOB_RECURSE sources RELATIVE "${SOURCE}"
  "${SOURCE}/src/*.cc" "${SOURCE}/providers/*.cc" "${SOURCE}/rankers/*.cc" "${SOURCE}/cli/*.cc"
  "${SOURCE}/testing/*.cc")
foreach(file IN LISTS sources)
  string(REGEX REPLACE "\\.cc$" ".h" header "${file}")
  if(NOT EXISTS "${SOURCE}/${header}")
    continue()
  endif()
  string(REGEX REPLACE "^src/" "" header "${header}")
  file(STRINGS "${SOURCE}/${file}" first LIMIT_COUNT 1 REGEX "^[ \t]*#[ \t]*include")
  cmake_path(GET header FILENAME beside)
  if(NOT first STREQUAL "#include \"${header}\"" AND
      NOT (file MATCHES "^(providers|rankers)/" AND first STREQUAL "#include \"${beside}\""))
    message("${file}: its first include is not \"${header}\"")
    math(EXPR problems "${problems} + 1")
  endif()
endforeach()
if(problems)
  message(FATAL_ERROR "own header first: ${problems} problem(s)")
endif()
