# shellcheck shell=bash
# Export metrics of Lustre's client, for node-metrics.sh, which includes this.
# shellcheck disable=SC2154  # variables of the script

# `read_bytes 12 samples [bytes] MIN MAX SUM`, by mount: fs1-ffff8881 is one of fs1. Kubernetes mounts it for each pod.
lustre() {
    local kind file word fields system mount
    for kind in read write; do
        family "ultracluster_lustre_${kind}_bytes_total" counter "What programs ${kind} of a Lustre file system."
        for file in "$root"/sys/kernel/debug/lustre/llite/*/stats "$root"/proc/fs/lustre/llite/*/stats; do
            system=${file%/stats} mount=${system##*-} system=${system##*/} system=${system%-*}
            while read -r word fields; do
                [ "$word" = "${kind}_bytes" ] || continue
                read -r -a fields <<<"$fields"
                [[ ${fields[5]:-} =~ ^[0-9]+$ ]] || continue
                printf 'ultracluster_lustre_%s_bytes_total{filesystem="%s",mount="%s"} %s\n' "$kind" \
                    "${system//$unclean/_}" "${mount//$unclean/_}" "${fields[5]}"
            done <"$file"
        done
    done
}

# Count targets that evicted the node, so that what its programs had open there failed: "LustreError: 167-0:
# fs1-OST0002-osc-ffff8881: This client was evicted by fs1-OST0002; in progress operations using this service will fail.",
# lustre/ptlrpc/import.c of Lustre 2.7 and newer, of which the newest leave out the number (read 2026-11-28). A node that
# has booted, or was replaced, is another client, and reports none. Lustre may leave out lines like others of minutes.
evictions() {
    local lines mount systems=""
    for mount in "$root"/sys/kernel/debug/lustre/llite/*-* "$root"/proc/fs/lustre/llite/*-*; do
        mount=${mount##*/} mount=${mount%-*}
        [[ " $systems " == *" $mount "* ]] || systems+=" $mount"
    done
    [ -n "$systems" ] && lines=$(kernel_log --since=-10min) || return 0
    family ultracluster_lustre_evictions gauge "Evictions of the node by targets of a Lustre file system in ten minutes."
    for mount in $systems; do
        printf 'ultracluster_lustre_evictions{filesystem="%s"} %d\n' "${mount//$unclean/_}" \
            "$(grep -cF "This client was evicted by $mount-" <<<"$lines" || true)"
    done
}
