# assay_embed(<out> NAMESPACE <ns> [BASE <folder>] FILES <files>): sets <out> to a generated source
# that holds the files byte for byte and defines, in the namespace,
#   std::span<const assay::EmbeddedFile> embedded_files();   // See assay/base/embedded.h.
# Names are relative to BASE, by default the current folder, or where the build makes its files. Pass
# the source on as GENERATED. The assembler reads the files (.incbin): their size costs no compile
# time.
function(assay_embed out)
  cmake_parse_arguments(arg "" "NAMESPACE;BASE" "FILES" ${ARGN})
  if(NOT arg_BASE)
    set(arg_BASE "${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
  set(namespace "${arg_NAMESPACE}")
  string(MAKE_C_IDENTIFIER "assay_embedded_${namespace}" prefix)
  set(assembly "")
  set(declarations "")
  set(entries "")
  set(paths "")
  set(count 0)
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE
      OUTPUT_VARIABLE path)
    set(base "${arg_BASE}")
    cmake_path(IS_PREFIX CMAKE_CURRENT_BINARY_DIR "${path}" NORMALIZE built)
    if(built)
      set(base "${CMAKE_CURRENT_BINARY_DIR}")
    endif()
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${base}" OUTPUT_VARIABLE name)
    set(symbol "${prefix}_${count}")
    math(EXPR count "${count} + 1")
    list(APPEND paths "${path}")
    string(APPEND assembly
      "    \".globl ${symbol}\\n.hidden ${symbol}\\n${symbol}:\\n.incbin \\\"${path}\\\"\\n\"\n"
      "    \".globl ${symbol}_end\\n.hidden ${symbol}_end\\n${symbol}_end:\\n.byte 0\\n\"\n")
    string(APPEND declarations
      "extern \"C\" __attribute__((visibility(\"hidden\"))) const char ${symbol}[], ${symbol}_end[];\n")
    string(APPEND entries
      "      {\"${name}\", {${symbol}, static_cast<size_t>(${symbol}_end - ${symbol})}},\n")
  endforeach()
  if(paths)
    set(symbols "asm(\".pushsection .rodata\\n\"\n${assembly}    \".popsection\\n\");\n${declarations}")
    set(body "  static const assay::EmbeddedFile files[] = {\n${entries}  };\n  return files;")
  else()
    set(symbols "")
    set(body "  return {};")
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/generated/${prefix}.cc")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/templates/embedded.cc.in" "${source}" @ONLY)
  # By itself, or what it depends on would be nobody's: a unity build drops its sources' dependencies.
  set_source_files_properties("${source}" PROPERTIES OBJECT_DEPENDS "${paths}"
    SKIP_UNITY_BUILD_INCLUSION ON)
  set(${out} "${source}" PARENT_SCOPE)
endfunction()
