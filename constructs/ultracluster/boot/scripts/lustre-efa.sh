#!/usr/bin/env bash
# Set the Lustre client of a node up for EFA, before anything of Lustre is mounted.
#
#   lustre-efa.sh [--interfaces N] [--gds yes|no] [--bundle URL --sha256 HEX] [--required yes|no]
#
#   --interfaces  EFA interfaces to use, at most as many as AWS's tool takes for the type; each is one of the 1,024
#                 connections that a file system has. Default: as many as AWS's tool takes
#   --gds         yes: set up for GPUDirect Storage, which takes all interfaces. Default: no
#   --bundle      https:// or s3:// address of AWS's configure-efa-fsx-lustre-client.zip, for images without it
#   --sha256      checksum of the zip; nothing that has another one ever runs
#   --required    no: where EFA cannot be set up, the file system is mounted over TCP. yes: that is a failure, and drains
#                 the node. Default: no
#
# The work itself is AWS's tool's: https://docs.aws.amazon.com/fsx/latest/LustreGuide/configure-efa-clients.html (read
# 2026-11-21). It writes options of kernel modules, so the modules must not be there before it.
#
# Exit code 0: EFA is up, or Lustre runs over TCP. 1: failed. 2: wrong usage. The last line of a run, `ok`,
# `ok: over TCP: REASON` or `failed: REASON`, is in /run/ultracluster/health/lustre-efa. It may run any number of times.
set -Eeuo pipefail
export LC_ALL=C

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
tool=configure-efa-fsx-lustre-client
home=$root/opt/ultracluster
# How many interfaces were set up since the boot; mount-check.sh requires as many to be up.
count=$root/run/ultracluster/lustre-efa-interfaces
log=$root/run/ultracluster/lustre-efa.log
# What install-software.sh reports of the tool.
installed=$root/run/ultracluster/software/lustre-efa-tool
interfaces="" gds=no bundle="" sha256="" required=no
# shellcheck disable=SC2034 # status.sh reads them
script=lustre-efa result=$root/run/ultracluster/health/lustre-efa code=1

#INCLUDE status.sh

fail() {
    trap - ERR
    if [ "$code$required" = 1no ]; then
        rm -f "$count"
        state "ok: over TCP: $*" || true
        log "over TCP: $*" >&2
        exit 0
    fi
    state "failed: $*" || true
    log "failed: $*" >&2
    exit "$code"
}


read_arguments() {
    while [ $# -gt 0 ]; do
        [ $# -ge 2 ] || usage "$1 needs a value"
        case $1 in
            --interfaces) interfaces=$2 ;;
            --gds) gds=$2 ;;
            --bundle) bundle=$2 ;;
            --sha256) sha256=$2 ;;
            --required) required=$2 ;;
            *) usage "unknown argument $1; known: --interfaces, --gds, --bundle, --sha256, --required" ;;
        esac
        shift 2
    done
    [[ $interfaces =~ ^([1-9][0-9]?)?$ ]] || usage "--interfaces is a whole number from 1 to 99, got '$interfaces'"
    [[ $gds =~ ^(yes|no)$ ]] || usage "--gds is yes or no, got '$gds'"
    [[ $bundle =~ ^((https|s3)://[^[:space:]]+)?$ ]] || usage "--bundle is an https:// or s3:// address, got '$bundle'"
    [[ $sha256 =~ ^([0-9a-f]{64})?$ ]] || usage "--sha256 is 64 hexadecimal digits in lower case, got '$sha256'"
    [[ $required =~ ^(yes|no)$ ]] || usage "--required is yes or no, got '$required'"
    [ "${bundle:+given}" = "${sha256:+given}" ] || usage "--bundle and --sha256 go together"
}

find_devices() {
    local found
    for found in "$root"/sys/class/infiniband/*; do
        [ -e "$found/device/driver" ] || continue
        if [ "$found/device/driver" -ef "$root/sys/bus/pci/drivers/efa" ]; then devices+=("${found##*/}"); fi
    done
}

# At boot the metadata service may answer later than the network is up, and AWS's tool reads it once only.
# https://github.com/awslabs/awsome-distributed-ai/pull/1204 (read 2026-11-21)
metadata() {
    local token again=(--silent --show-error --fail --max-time 3 --retry 40 --retry-delay 3 --retry-connrefused)
    token=$(curl "${again[@]}" --request PUT --header "X-aws-ec2-metadata-token-ttl-seconds: 60" \
        http://169.254.169.254/latest/api/token) || return 1
    curl "${again[@]}" --header "X-aws-ec2-metadata-token: $token" "http://169.254.169.254/latest/meta-data/$1"
}

# Succeed for types with EFA that Lustre cannot use: those of Nitro v3, and trn2.
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-instance-types (read 2026-11-21)
unsupported() {
    case $1 in
        c5n.* | dl1.* | dl2q.* | g4dn.* | g5.* | i3en.* | inf1.* | m5dn.* | m5n.* | m5zn.* | p3dn.* | p4d.* | p4de.*) ;;
        r5dn.* | r5n.* | trn2.* | trn2u.* | vt1.* | x2iezn.*) ;;
        *) return 1 ;;
    esac
}

# Set up to the EFA interfaces that LNet has, none when its modules are not there.
find_up() {
    local shown
    shown=$(lnetctl net show --net efa 2>/dev/null) || shown=""
    mapfile -t up < <(
        awk '/- nid:/ { live = 0 } $1 == "status:" { live = $2 == "up" } $1 == "0:" && live { print $2 }' <<<"$shown"
    )
}

lustre_is_mounted() { awk '$0 ~ / - lustre / { n++ } END { exit !n }' "$root/proc/self/mountinfo"; }

fetch() {
    local zip=$home/$tool.zip
    mkdir -p "$home"
    log "fetching $bundle"
    case $bundle in
        s3://*) aws s3 cp --only-show-errors "$bundle" "$zip.part" ;;
        *) curl --silent --show-error --fail --location --retry 5 --output "$zip.part" "$bundle" ;;
    esac || fail "could not fetch $bundle"
    [ "$(sha256sum "$zip.part" | cut -d ' ' -f 1)" = "$sha256" ] ||
        fail "$bundle does not have the checksum $sha256, so it was not run"
    mv "$zip.part" "$zip"
    rm -rf "${home:?}/$tool"
    python3 -m zipfile -e "$zip" "$home" || fail "could not unpack $zip"
    printf '%s\n' "$sha256" >"$home/$tool.sha256"
}

# Set setup to AWS's tool: what the image brings, else what was fetched before, else what is fetched now.
find_tool() {
    local mark=$home/$tool.sha256
    setup=$root/etc/eks/$tool/setup.sh
    [ ! -f "$setup" ] || return 0
    setup=$home/$tool/setup.sh
    # What the image brings has no checksum beside it.
    if [ -f "$setup" ] && { [ -z "$sha256" ] || [ ! -f "$mark" ] || [ "$(cat "$mark")" = "$sha256" ]; }; then return; fi
    [ -n "$bundle" ] ||
        fail "there is no $tool$(sed -n 's/^failed: / (/p' "$installed" 2>/dev/null | sed 's/$/)/');" \
            "put it into the image at /opt/ultracluster/$tool, or name --bundle and --sha256"
    fetch
    [ -f "$setup" ] || fail "$bundle holds no $tool/setup.sh"
}

# Use AWS's unit if the image has it: two units would configure the same interfaces.
use_unit() {
    systemctl is-enabled --quiet "$tool.service" 2>/dev/null || return 1
    if [ "$gds" = yes ] && ! systemctl cat "$tool.service" | grep -q -- --optimized-for-gds; then
        fail "$tool.service of this image does not set up for GPUDirect Storage; disable it in the image"
    fi
    systemctl start "$tool.service" || fail "$tool.service failed; see journalctl -u $tool"
}

run_tool() {
    local options=(--configure-once) address name
    # The tool would take the first interface that is up, whichever that is.
    address=$(metadata local-ipv4) || fail "the instance metadata service did not return the address"
    name=$(ip -brief -4 address show | awk -v a="$address/" 'index($3, a) == 1 && !n++ { print $1 }')
    # The agent of HyperPod has the primary interface in a namespace of its own: https://github.com/awslabs/
    # awsome-distributed-ai, 1.architectures/5.sagemaker-hyperpod/tools/devops-agent/docs/hyperpod-mental-model.md
    # (commit 95b939c of 2026-07-23, read 2026-11-27)
    [ -n "$name" ] || name=$(ip -4 route show default |
        awk '!n { for (i = 1; i < NF; i++) if ($i == "dev") { print $(i + 1); n = 1 } }')
    [ -n "$name" ] || fail "no interface has the node's primary address $address, and there is no default route"
    options+=(--tcp-name "$name")
    if [ "$gds" = yes ]; then
        modprobe nvidia-fs || fail "there is no driver nvidia-fs, which GPUDirect Storage needs; put it into the image"
        options+=(--optimized-for-gds)
    fi
    # The zip does not keep the permission to run it.
    if ! bash "$setup" "${options[@]}" >"$log" 2>&1; then
        cat "$log" >&2
        fail "AWS's tool failed: $(awk 'NF { last = $0 } END { print substr(last, 1, 160) }' "$log")"
    fi
    cat "$log"
}

# Remove interfaces out, evenly over the list, until the requested number is left.
trim() {
    local total=${#up[@]} index kept=0
    [ -n "$interfaces" ] || return 0
    [ "$total" -gt "$interfaces" ] || return 0
    for ((index = 0; index < total; index++)); do
        if ((index * interfaces / total >= kept && kept < interfaces)); then
            kept=$((kept + 1))
        else
            lnetctl net del --net efa --if "${up[index]}" || fail "could not take ${up[index]} out of LNet"
        fi
    done
    find_up
}

main() {
    local devices=() up=() type setup=""
    read_arguments "$@"
    mkdir -p "$root/run/ultracluster"
    exec 9>"$root/run/ultracluster/lustre-efa.lock"
    chmod 600 "$root/run/ultracluster/lustre-efa.lock"
    flock 9
    find_devices
    if [ "${#devices[@]}" -eq 0 ]; then
        log "this node has no EFA device: Lustre runs over TCP"
        state ok
        return
    fi
    type=$(metadata instance-type) || fail "the instance metadata service did not return the instance type"
    if unsupported "$type"; then
        log "Lustre cannot use the EFA of $type: it runs over TCP"
        state ok
        return
    fi
    find_up
    if [ -s "$count" ] && [ "${#up[@]}" -eq "$(cat "$count")" ]; then
        log "ok: ${#up[@]} EFA interfaces are up already"
        state ok
        return
    fi
    if lustre_is_mounted; then
        fail "Lustre is mounted, and EFA can be set up before that only; reboot the node"
    fi
    modinfo kefalnd >/dev/null 2>&1 ||
        fail "the kernel module kefalnd is missing; take an image with a Lustre client that supports EFA"
    if ! use_unit; then
        find_tool
        # Modules that are there already do not read the options that the tool writes for them.
        if [ -d "$root/sys/module/lnet" ]; then
            lustre_rmmod || fail "the modules of Lustre were loaded before EFA was set up, and cannot be unloaded; reboot"
        fi
        run_tool
    fi
    find_up
    trim
    [ "${#up[@]}" -gt 0 ] || fail "no EFA interface is up after AWS's tool ran; see lnetctl net show"
    printf '%s\n' "${#up[@]}" >"$count"
    state ok
    log "ok: ${#up[@]} of ${#devices[@]} EFA interfaces are up for Lustre (${up[*]})"
}

main "$@"
