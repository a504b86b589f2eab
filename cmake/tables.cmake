# Generated tables: what the folders are, is what the program has. There is no list to edit.

# assay_operation_table(<out>): assay::built_in_operations() from each folder here that has sources;
# each defines `namespace assay::<folder> { const Operation& operation(); }`.
function(assay_operation_table out)
  assay_folders_with_sources(folders)
  set(declarations "")
  set(body "")
  foreach(folder IN LISTS folders)
    string(APPEND declarations "namespace ${folder} { const Operation& operation(); }\n")
    string(APPEND body "      &${folder}::operation(),\n")
  endforeach()
  if(folders)
    set(body "  static const Operation* const operations[] = {\n${body}  };\n  return operations;")
  else()
    set(body "  return {};")
  endif()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/generated/operations.cc")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/templates/operations.cc.in" "${source}" @ONLY)
  set(${out} "${source}" PARENT_SCOPE)
endfunction()

# assay_store_table(<out>): assay::store::built_in_backends() from each folder here that has sources;
# each defines `namespace assay::store::<folder> { const Backend& backend(); }`.
function(assay_store_table out)
  assay_folders_with_sources(folders)
  set(declarations "")
  set(body "")
  foreach(folder IN LISTS folders)
    string(APPEND declarations "namespace ${folder} { const Backend& backend(); }\n")
    string(APPEND body "      &${folder}::backend(),\n")
  endforeach()
  set(body "  static const Backend* const backends[] = {\n${body}  };\n  return backends;")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/generated/stores.cc")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/templates/stores.cc.in" "${source}" @ONLY)
  set(${out} "${source}" PARENT_SCOPE)
endfunction()

# assay_provider_table(<out> <name>...): assay::built_in_providers() of the named providers.
function(assay_provider_table out)
  set(declarations "")
  set(body "")
  foreach(name IN LISTS ARGN)
    string(APPEND declarations "namespace ${name} { std::unique_ptr<Provider> make_provider(); }\n")
    string(APPEND body "  providers.push_back(${name}::make_provider());\n")
  endforeach()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/generated/providers.cc")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/templates/providers.cc.in" "${source}" @ONLY)
  set(${out} "${source}" PARENT_SCOPE)
endfunction()

# assay_ranker_table(<out> <name>...): assay::built_in_rankers() of the named rankers.
function(assay_ranker_table out)
  set(declarations "")
  set(body "")
  foreach(name IN LISTS ARGN)
    string(APPEND declarations "namespace ${name} { std::unique_ptr<Ranker> make_ranker(); }\n")
    string(APPEND body "  rankers.push_back(${name}::make_ranker());\n")
  endforeach()
  set(source "${CMAKE_CURRENT_BINARY_DIR}/generated/rankers.cc")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/templates/rankers.cc.in" "${source}" @ONLY)
  set(${out} "${source}" PARENT_SCOPE)
endfunction()

# assay_folders_with_sources(<out>): names of the current folder's subfolders that hold a source.
function(assay_folders_with_sources out)
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}"
    "${CMAKE_CURRENT_SOURCE_DIR}/*/*.cc")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM sources REPLACE "/.*" "")
  list(REMOVE_DUPLICATES sources)
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
