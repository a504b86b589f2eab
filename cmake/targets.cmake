# What others link. assay::dispatch is what production ships, assay::assay adds the evidence,
# assay::lab cases, servers and loads;
# assay::providers is apart because programs link it and libraries do not. They are archives of the
# objects of their parts; each stands on the one below and holds nothing that is in it.
# assay_exported(<name> PARTS <part>... [ON <name>...]): the target assay_lib_<name>, also known as
# assay::<name>, of the parts and all that they link but what the targets ON have.
function(assay_exported name)
  cmake_parse_arguments(arg "" "" "PARTS;ON" ${ARGN})
  assay_closure(parts ${arg_PARTS})
  foreach(below IN LISTS arg_ON)
    get_target_property(theirs assay_lib_${below} ASSAY_PARTS)
    list(REMOVE_ITEM parts ${theirs})
  endforeach()
  set(objects "")
  set(archives "")
  foreach(part IN LISTS parts)
    get_target_property(type assay_${part} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY")
      list(APPEND objects "$<TARGET_OBJECTS:assay_${part}>")
    endif()
    # Of others, that this part alone needs.
    get_target_property(more assay_${part} ASSAY_ARCHIVES)
    if(more)
      list(APPEND archives ${more})
    endif()
  endforeach()
  # Whoever links the lowest needs fmt, which distributions do not ship as an archive.
  if(NOT arg_ON AND TARGET assay_fmt)
    list(APPEND objects "$<TARGET_OBJECTS:assay_fmt>")
  endif()
  add_library(assay_lib_${name} STATIC ${objects})
  set_target_properties(assay_lib_${name} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME assay_${name}
    ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib" ASSAY_PARTS "${parts}")
  foreach(below IN LISTS arg_ON)
    target_link_libraries(assay_lib_${name} PUBLIC assay_lib_${below})
  endforeach()
  target_link_libraries(assay_lib_${name} PUBLIC assay_options assay_external ${archives})
  add_library(assay::${name} ALIAS assay_lib_${name})
endfunction()

assay_exported(dispatch PARTS select kernel)
assay_exported(assay PARTS input measure verify process timing store compare report sweep ON dispatch)
assay_exported(lab PARTS notify text load lab serve ON assay dispatch)
assay_exported(providers PARTS providers ON dispatch)
