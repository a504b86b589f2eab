# assay_layer_names(<out>): the parts in the order of layers.txt.
function(assay_layer_names out)
  file(STRINGS "${PROJECT_SOURCE_DIR}/cmake/layers.txt" rows REGEX "^[a-z_]+:")
  list(TRANSFORM rows REPLACE ":.*" "")
  set(${out} ${rows} PARENT_SCOPE)
endfunction()
