# After `assay providers --json`.
expect("documented" "three loops, the least that a provider can be")
run("${assay}" kernels ${shape} --provider toy)
expect("discovered" "loops_ijp")
run("${assay}" sweep ${shape} --provider toy ${measured})
expect("raced" "toy/loops_i[jp][jp]")
if(NOT EXISTS "${WORK}/run/toy_results.json")
  message(FATAL_ERROR "a race of toy left no toy_results.json")
endif()
