# cmake -D SOURCE= -D BUILD= -D VERSION= -D WORK= -D GENERATOR= -D COMPILER= -D NM=
#   -D READELF= -P try_package.cmake
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
set(prefix "${WORK}/prefix")
foreach(component IN ITEMS runtime dev)
  run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}" --component ${component})
endforeach()

# A table of two shapes, by the installed program.
set(assay "${prefix}/bin/assay")
run("${assay}" sweep --shape "m=4|8,n=192,k=128,dtype=f32,layout=tn" --provider native_cpu openblas
  --lock-dir "${WORK}/locks" --cache-dir "${WORK}/cache" --budget 2s --processes 2
  --output-dir "${WORK}/run" --save-table "${WORK}/two.assay")
expect("the sweep" "table .*two.assay: 2 shapes, ")
run("${assay}" table show "${WORK}/two.assay")
expect("shown" "gemm_m4_n192_k128_f32")
expect("fresh" "no: machine and libraries are as they were")

# A project that knows the package by its name alone.
run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${SOURCE}/consumer" -B "${WORK}/build"
  -D CMAKE_BUILD_TYPE=Release -D "CMAKE_CXX_COMPILER=${COMPILER}"
  -D "CMAKE_PREFIX_PATH=${prefix}"
  -D "WANTED_VERSION=${VERSION}" -D CMAKE_EXPORT_COMPILE_COMMANDS=ON)
file(READ "${WORK}/build/compile_commands.json" output)
refuse("the consumer's flags" "-NOTFOUND|JSON_ASSERT")
run("${CMAKE_COMMAND}" --build "${WORK}/build" --verbose)
refuse("the link line" "(yaml|sqlite|zstd)[^ ]*\\.(a|so)")
refuse("the link line" "-l(yaml-cpp|sqlite3|zstd)")
run("${WORK}/build/consumer" "${WORK}/two.assay")
expect("a tuned problem" "m=4 exact: gemm_m4_n192_k128_f32")
expect("its neighbour" "m=6 nearest: gemm_m8_n192_k128_f32_tn, at a distance of 0\\.83")
refuse("fresh" "stale:")
expect("numbers" "m=4 .* right")
expect("numbers" "m=6 .* right")
expect("refused" "f64: .*no tuned problem is of the kind")

# What production ships has neither YAML nor SQLite in it, and needs no library of ours.
run("${READELF}" --dynamic --wide "${WORK}/build/consumer")
refuse("needed" "NEEDED[^\n]*(yaml|sqlite|zstd|assay|fmt|crypto)")
run("${NM}" -C "${WORK}/build/consumer")
refuse("linked" " (YAML::|sqlite3_|ZSTD_|assay::(sweep|measure|verify|stats|compare|report|input)::)")
# So does one that takes the lab.
run("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${SOURCE}/lab_consumer" -B "${WORK}/lab_build"
  -D CMAKE_BUILD_TYPE=Release -D "CMAKE_CXX_COMPILER=${COMPILER}" -D "CMAKE_PREFIX_PATH=${prefix}"
  -D "WANTED_VERSION=${VERSION}")
run("${CMAKE_COMMAND}" --build "${WORK}/lab_build")
run("${WORK}/lab_build/lab_consumer")
expect("tokens" "tokens: 2 1")
expect("arrivals" "sent at: 0\\.00 0\\.25 0\\.50")
expect("the route" "200 .*\"mine\"")
file(REMOVE_RECURSE "${WORK}")
