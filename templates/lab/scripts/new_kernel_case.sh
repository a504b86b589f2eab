#!/bin/sh
# Stamps a case: the flags of `assay lab new`.
cd "$(dirname "$0")/.." && exec "${ASSAY:-assay}" lab new "$@"
