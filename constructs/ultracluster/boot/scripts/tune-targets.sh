# shellcheck shell=bash
# Tune the client again where a file system has grown: tune_new_targets ROOT RUN. The kernel gives a new target its
# defaults, whatever the others were set to.
# https://github.com/lustre/lustre-release, lustre/ldlm/ldlm_lib.c, client_obd_setup (read 2026-11-28)
tune_new_targets() {
    local now=("$1"/sys/fs/lustre/[om][sd]c/*-*) before
    read -r before 2>/dev/null <"$2/targets" || before=${#now[@]}
    [ "${#now[@]}" -le "$before" ] || systemctl try-restart --no-block 'ultracluster-lustre-tuning@*.service' || return 0
    echo "${#now[@]}" >"$2/targets"
}
