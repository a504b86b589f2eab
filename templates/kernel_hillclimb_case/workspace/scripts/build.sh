#!/bin/sh
# Builds what `assay serve --case` loads: build/backend.so, of backend/ and the kernels in ops/cpp.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build
# shellcheck disable=SC2086  # Flags are words.
${CXX:-c++} -std=c++17 ${CXXFLAGS:--O3 -march=native} -shared -fPIC -o build/backend.so.new \
  backend/*.cc ops/cpp/*.cc
mv build/backend.so.new build/backend.so
