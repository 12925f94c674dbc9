# shellcheck shell=bash
# Find a program of Slurm, for node-metrics.sh, which includes this.
# shellcheck disable=SC2154  # variables of the script

# Print the path of a program of Slurm, of the release that runs: AWS PCS installs several, none on the path of a unit.
# There, login nodes run sackd, and others slurmd: https://docs.aws.amazon.com/pcs/latest/userguide/slurm-configuration.html
# (read 2026-11-27). HyperPod's login nodes run neither.
slurm_program() {
    local pid program
    if pid=$(pgrep --oldest --exact 'slurmd|sackd') && program=$(readlink "$root/proc/$pid/exe") &&
        program=$root${program%/*/*}/bin/$1 && [ -x "$program" ]; then
        echo "$program"
    else
        command -v "$1" || { [ -x "$root/opt/slurm/bin/$1" ] && echo "$root/opt/slurm/bin/$1"; }
    fi
}

