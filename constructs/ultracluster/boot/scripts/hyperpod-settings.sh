#!/usr/bin/env bash
# Write settings into slurm.conf on the controller of SageMaker HyperPod, which merges its partitions with what is there.
#
#   hyperpod-settings.sh
#
# /etc/ultracluster/slurm-settings has a setting on each line: NAME VALUE replaces it, and +NAME WORD,WORD adds words to a
# list. Exit code 0: slurm.conf has them. 1: it does not, or slurmctld has not read it.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
conf=$root/opt/slurm/etc/slurm.conf
wanted=$root/etc/ultracluster/slurm-settings
# Present until slurmctld has read a change. A boot removes it, and slurmctld reads the file at its start.
changed=$root/run/ultracluster/slurm-settings-changed
[ -n "$root" ] || PATH=/opt/slurm/bin:$PATH

# Value of a setting, whose name Slurm reads in any case.
value() { awk -v name="$1" -F= 'tolower($1) == tolower(name) { sub("^[^=]*=", ""); print; exit }' "$conf"; }

set_value() {
    local new=$conf.ultracluster
    mkdir -p "${changed%/*}"
    touch "$changed"
    awk -v name="$1" -F= 'tolower($1) != tolower(name)' "$conf" >"$new"
    printf '%s=%s\n' "$1" "$2" >>"$new"
    # The owner and the permissions of the file stay.
    cat "$new" >"$conf"
    rm -f "$new"
}

main() {
    local name text have word
    [ -w "$conf" ] || { echo "hyperpod-settings: there is no $conf" >&2; exit 1; }
    # A last line without its end would be joined with the first setting.
    [ -z "$(tail -c 1 "$conf")" ] || echo >>"$conf"
    while read -r name text; do
        if [[ $name == +* ]]; then
            name=${name#+}
            have=$(value "$name")
            for word in ${text//,/ }; do
                [[ ,$have, == *",$word,"* ]] || have+=${have:+,}$word
            done
            text=$have
        fi
        [ "$(value "$name")" = "$text" ] || set_value "$name" "$text"
    done <"$wanted"
    [ -e "$changed" ] || return 0
    scontrol reconfigure
    rm -f "$changed"
}

main
