#!/bin/sh
# Upstream examples to read, pinned by commit: --pack tri-dao. Where there is no network this warns.
cd "$(dirname "$0")/../.." && exec "${ASSAY:-assay}" lab refs "$@"
