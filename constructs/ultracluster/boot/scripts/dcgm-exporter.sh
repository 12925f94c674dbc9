#!/usr/bin/env bash
# Run dcgm-exporter with the fields that its release supports: 4.9.0, for DCGM 4.7, renamed them.
#
#   dcgm-exporter.sh DIRECTORY [FLAG ...]
#
# DIRECTORY has dcgm-counters-old.csv and dcgm-counters-new.csv. The version is that of DCGM and of the exporter, such as
# 4.5.3-4.8.2, or of the exporter only: https://github.com/NVIDIA/dcgm-exporter, Makefile (commit d5e5f51 of 2026-05-12,
# read 2026-11-22). Exit code 1: there is no dcgm-exporter.
set -euo pipefail
export LC_ALL=C

names=old
version=$(dcgm-exporter --version 2>&1) || exit 1
if [[ $version =~ ([0-9]+\.[0-9]+\.[0-9]+)[^0-9]*$ ]]; then
    oldest=$(printf '%s\n' 4.9.0 "${BASH_REMATCH[1]}" | sort --version-sort | head -n 1)
    if [ "$oldest" = 4.9.0 ]; then names=new; fi
fi
exec dcgm-exporter "--collectors=$1/dcgm-counters-$names.csv" "${@:2}"
