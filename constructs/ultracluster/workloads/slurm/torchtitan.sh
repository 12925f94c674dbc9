# shellcheck shell=bash
[ $# -gt 0 ] || fail "name the configuration: sbatch torchtitan.sbatch llama3_8b [OPTIONS]"
set -- ultracluster_titan.py "$1" "${overrides[@]}" "${@:2}"
