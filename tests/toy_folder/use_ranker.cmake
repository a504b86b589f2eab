# After `assay providers --json`.
expect("documented" "as many columns as a tile has")
run("${assay}" sweep --help)
expect("named where it is chosen" "toy")
run("${assay}" sweep ${shape} --ranker toy --provider native_cpu ${measured})
file(READ "${WORK}/run/record.json" record)
if(NOT record MATCHES "\"ranker\": \"toy\"")
  message(FATAL_ERROR "the record does not name the ranker")
endif()
