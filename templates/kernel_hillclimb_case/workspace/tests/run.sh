#!/bin/sh
# Proves each kernel of ops/cpp on small problems with odd sizes: `commands.tests` of case.yaml. Put
# checks of your own here, too; an attempt ends as tests_failed where this ends with another code
# than 0.
set -eu
cd "$(dirname "$0")/.."
for kernel in ops/cpp/*.cc; do
  for shape in m=1,n=17,k=33 m=5,n=64,k=40; do
    if ! said=$("${ASSAY:-assay}" run "$kernel" --shape "$shape" 2>&1); then
      printf '%s on %s:\n%s\n' "$kernel" "$shape" "$said" >&2
      exit 1
    fi
  done
done
