# Hot loops of the referee. The reference alone may contract a*b+c: see its comment.
set_source_files_properties(gemm/freivalds.cc gemm/tiles.cc gemm/element_wise.cc
  PROPERTIES COMPILE_OPTIONS -O3)
set_source_files_properties(gemm/reference.cc PROPERTIES
  COMPILE_OPTIONS "-O3;-ffp-contract=fast;-Wno-psabi")
# Tests whose own products are most of their time.
set_source_files_properties(gemm/instance_test.cc gemm/normwise_test.cc PROPERTIES COMPILE_OPTIONS -O1)
