#!/bin/sh
# Runs a command that sees the lab's GPU alone.
exec "${ASSAY:-assay}" device -- "$@"
