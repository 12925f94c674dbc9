# shellcheck shell=bash
# Compare the software of a node with the oldest that its type needs. CUDA and NCCL of a job are those of its image.
# shellcheck disable=SC2329  # each node runs it
software() {
    local item name oldest installed code=0 host=${SLURMD_NODENAME:-$(uname -n)}
    for item in "$@"; do
        name=${item%%=*} oldest=${item#*=} installed=""
        case $name in
            driver) installed=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1) ;;
            efa-installer)
                installed=$(sed -n 's/.*EFA installer version: *//p' "${ULTRACLUSTER_ROOT:-}/opt/amazon/efa_installed_packages" 2>/dev/null)
                ;;
            gdrcopy) installed=$(modinfo --field version gdrdrv 2>/dev/null) ;;
        esac
        if [ -z "$installed" ]; then
            echo "$host: the version of $name is not known"
        elif [ "$(printf '%s\n' "$oldest" "$installed" | sort --version-sort | head -n 1)" != "$oldest" ]; then
            echo "FAILED: $host: $name $installed is older than $oldest"
            code=1
        fi
    done
    return "$code"
}
