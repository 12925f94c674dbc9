#!/usr/bin/env bash
# Create a node one scratch volume over its local NVMe disks, at one path whatever the image.
#
#   local-scratch.sh [--path /scratch] [--disks N] [--container-store yes|no] [--stripe make|use]
#
#   --disks            disks that the instance type has; fewer are a failure. 0: whatever there is (the default)
#   --container-store  whether enroot, docker and containerd keep their images on it (default: yes)
#   --stripe           make: use the image's stripe, or make one (the default); use: never make one
#
# Exit code 0: the volume is there, or the type has no local disks. 1: failed. 2: wrong usage.
# The result of a run, `ok` or `failed: REASON`, is in /run/ultracluster/health/local-scratch. It may run any
# number of times. It formats a disk only when the disk is empty or was formatted here before.
set -Eeuo pipefail
export LC_ALL=C

label=ultracluster          # of stripe and file system: XFS takes 12 characters (man 8 mkfs.xfs, xfsprogs 6.1)
root=${ULTRACLUSTER_ROOT:-} # root directory: empty on a node, a directory in tests
path=/scratch
expected=0
store=yes
stripe="make"
# shellcheck disable=SC2034 # status.sh reads them
script=local-scratch result=$root/run/ultracluster/health/local-scratch code=1

#INCLUDE status.sh

read_arguments() {
    while [ $# -gt 0 ]; do
        [ $# -ge 2 ] || usage "$1 needs a value"
        case $1 in
            --path) path=$2 ;;
            --disks) expected=$2 ;;
            --container-store) store=$2 ;;
            --stripe) stripe=$2 ;;
            *) usage "unknown argument $1; known: --path, --disks, --container-store, --stripe" ;;
        esac
        shift 2
    done
    [[ $path =~ ^(/[A-Za-z0-9_][A-Za-z0-9._-]*){1,8}$ ]] ||
        usage "--path is a directory of letters, digits, dots, hyphens and underscores, got '$path'"
    [[ $expected =~ ^[0-9]{1,3}$ ]] || usage "--disks is a whole number, got '$expected'"
    [[ $store =~ ^(yes|no)$ ]] || usage "--container-store is yes or no, got '$store'"
    [[ $stripe =~ ^(make|use)$ ]] || usage "--stripe is make or use, got '$stripe'"
    path=$root$path
}

# Make the mount point immutable, so that without the volume nothing fills the root volume.
guard_mount_point() {
    mkdir -p "$path"
    mountpoint -q "$path" || chattr +i "$path" 2>/dev/null || true
}

# Only the model distinguishes instance store from EBS: device names follow no order, sizes may be equal. EKS's images look for
# the same words: https://github.com/awslabs/amazon-eks-ami/blob/main/templates/shared/runtime/bin/setup-local-disks
# (read 2026-11-21)
find_disks() {
    local found
    # At boot the last disk may still be on its way.
    udevadm settle --timeout=60 || true
    found=$(lsblk --nodeps --noheadings --paths --output NAME,MODEL |
        awk '/^[^ ]+ +Amazon EC2 NVMe Instance Storage *$/ { print $1 }' | sort -u) || fail "lsblk lists no disks"
    [ -z "$found" ] || mapfile -t disks <<<"$found"
}

# List the devices on top of devices, with their types; with --inverse, those below.
tree() { lsblk --noheadings --raw --paths --output NAME,TYPE "$@"; }

# Find the file system over the disks that is mounted as a whole (not a directory of it): sets volume and where.
find_volume() {
    local device devices
    volume="" where=""
    devices=$(tree "${disks[@]}" | sort -u) || fail "lsblk could not list the devices on ${disks[*]}"
    while read -r device _; do
        where=$(findmnt --noheadings --raw --output TARGET,FSROOT --source "$device" |
            awk '$2 == "/" && !n++ { print $1 }') || true
        if [ -n "$where" ]; then
            volume=$device
            return 0
        fi
    done <<<"$devices"
    return 1
}

# A stripe over other disks than ours, or over fewer, is rejected.
check_members() {
    local members
    members=$(tree --inverse "$1" | awk '$2 == "disk" { print $1 }' | sort -u)
    [ "$members" = "$(printf '%s\n' "${disks[@]}")" ] ||
        fail "$1${where:+, mounted at $where,} spans ${members//$'\n'/ }, but the local disks are ${disks[*]}"
}

# Print the signature of a device as `TYPE LABEL`, or nothing if it is empty.
signature() {
    local found="" rc=0
    found=$(blkid --probe --output export "$1") || rc=$?
    case $rc in
        0) awk -F= '{ value[$1] = ($1 == "LABEL" ? " " : "") $2 }
            END { print ("TYPE" in value ? value["TYPE"] : "a partition table") value["LABEL"] }' <<<"$found" ;;
        2) ;;
        *) echo "several signatures" ;;
    esac
}

need() {
    # At its first boot a node updates itself, and two of apt do not go together.
    local install=(apt-get --quiet --yes --option DPkg::Lock::Timeout=300)
    if command -v "$1" >/dev/null; then return; fi
    log "installing $2, which has $1"
    if command -v dnf >/dev/null; then install=(dnf --quiet --assumeyes); else "${install[@]}" update || true; fi
    DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 "${install[@]}" install "$2" ||
        fail "$1 is missing, and ${install[0]} could not install $2; put it into the image"
}

# The Deep Learning AMI stripes the disks in a unit of its own; both units would format the same disks.
wait_for_image() {
    systemctl is-enabled --quiet dlami-nvme.service 2>/dev/null || return 0
    systemctl start dlami-nvme.service || fail "dlami-nvme.service failed; see journalctl -u dlami-nvme"
    find_volume || fail "dlami-nvme.service is enabled, but mounted nothing; see journalctl -u dlami-nvme"
}

array() { tree "${disks[0]}" | awk '$2 == "raid0" && !n++ { print $1 }'; }

# -K: EC2 hands the disks over trimmed, and a second time takes minutes.
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ssd-instance-store.html (read 2026-11-21)
# -l su=32k: a log's stripe unit is at most 256 KiB, and mdadm's chunk is 512 KiB. EKS's images do the same.
format() {
    need mkfs.xfs xfsprogs
    log "formatting $1"
    mkfs.xfs -q -K "${@:2}" -L "$label" -l su=32k "$1" || fail "mkfs.xfs could not format $1"
}

refuse() { fail "$1 holds $2, which this script did not create; if it is not needed: wipefs --all $1, and run this again"; }

# Set volume to our own file system, made if need be.
make_volume() {
    local disk held own=() fresh=()
    for disk in "${disks[@]}"; do
        held=$(signature "$disk") || fail "blkid could not read the signature of $disk"
        case "${#disks[@]} $held" in
            "${#disks[@]} ") ;;
            "1 xfs $label" | *" linux_raid_member $label" | *" linux_raid_member "*":$label") own+=("$disk") ;;
            *) refuse "$disk" "$held" ;;
        esac
    done
    volume=${disks[0]}
    if [ "${#disks[@]}" -gt 1 ]; then
        need mdadm mdadm
        if [ "${#own[@]}" -lt "${#disks[@]}" ]; then
            # A stripe that lost a member lost all data: the remaining disks are striped again.
            fresh=(-f)
            if [ "${#own[@]}" -gt 0 ]; then
                tree "${own[@]}" | awk '$2 ~ /^(raid0|md)$/ { print $1 }' | sort -u |
                    xargs --no-run-if-empty mdadm --stop || fail "mdadm could not stop what is left of the stripe"
                mdadm --zero-superblock "${own[@]}" || fail "mdadm could not clear ${own[*]}"
            fi
            log "striping ${disks[*]}"
            mdadm --create "/dev/md/$label" --run --level=0 --name=$label --raid-devices="${#disks[@]}" "${disks[@]}" ||
                fail "mdadm could not stripe ${disks[*]}"
        elif [ -z "$(array)" ]; then
            mdadm --assemble "/dev/md/$label" "${disks[@]}" || fail "mdadm could not assemble ${disks[*]}"
        fi
        udevadm settle --timeout=60 || true
        volume=$(array)
        [ -n "$volume" ] || fail "there is no stripe over ${disks[*]} after mdadm made one"
        check_members "$volume"
    fi
    held=$(signature "$volume") || fail "blkid could not read the signature of $volume"
    case "$held${fresh[*]}" in
        "xfs $label") ;;
        "" | *-f) format "$volume" "${fresh[@]}" ;;
        *) refuse "$volume" "$held" ;;
    esac
}

mount_volume() {
    local mounted
    if find_volume || { wait_for_image; [ -n "$volume" ]; }; then
        check_members "$volume"
    elif [ "$stripe" = use ]; then
        fail "no file system over ${disks[*]} is mounted, and this image makes its own; see the log of its unit"
    fi
    mounted=$(findmnt --noheadings --raw --nofsroot --output SOURCE --mountpoint "$path" | tail -n 1) || true
    if [ -n "$mounted" ]; then
        [ "$mounted" = "$volume" ] || fail "$mounted is mounted at $path; take another --path"
    elif [ -n "$volume" ]; then
        log "using $volume, which is mounted at $where"
        mkdir -p "$where/scratch"
        mount --bind "$where/scratch" "$path" || fail "could not bind $where/scratch to $path"
    else
        make_volume
        mount -t xfs -o noatime,nofail "$volume" "$path" || fail "could not mount $volume at $path"
    fi
    chmod 1777 "$path"
}

# Remove our lines out of enroot.conf, and the image's own back in. enroot keeps the first value that it reads, in some
# releases even before conf.d, so the file itself must have it.
# https://github.com/NVIDIA/enroot/blob/main/enroot.in (read 2026-11-21)
leave_enroot() {
    local conf=$root/etc/enroot/enroot.conf
    [ ! -f "$conf" ] ||
        sed -i -e '/^# >>> local-scratch/,/^# <<< local-scratch/d' -e 's/^#local-scratch# //' "$conf"
}

place_enroot() {
    local conf=$root/etc/enroot/enroot.conf home=$path/.containers/enroot
    [ -d "$root/etc/enroot" ] || return 0
    touch "$conf"
    sed -i -E 's/^(ENROOT_(CACHE|DATA|TEMP)_PATH)/#local-scratch# \1/' "$conf"
    mkdir -p "$home/cache" "$home/data" "$home/tmp"
    chmod 1777 "$home/cache" "$home/data" "$home/tmp"
    # shellcheck disable=SC2016  # enroot expands $(id -u), for each user
    printf '%s\n' '# >>> local-scratch' "ENROOT_CACHE_PATH $home/cache/user-\$(id -u)" \
        "ENROOT_DATA_PATH $home/data/user-\$(id -u)" "ENROOT_TEMP_PATH $home/tmp" '# <<< local-scratch' >>"$conf"
}

# Succeed if a daemon's directory is ours to place: it is there, nobody mounted or linked it, no setting names another.
movable() {
    [ -d "$root/var/lib/$1" ] && [ ! -L "$root/var/lib/$1" ] && ! mountpoint -q "$root/var/lib/$1" || return 1
    case $1 in
        docker) ! grep -qs '"data-root"' "$root/etc/docker/daemon.json" ;;
        containerd) ! grep -Es '^root *=' "$root/etc/containerd/config.toml" | grep -qv '/var/lib/containerd["'\'']' ;;
    esac
}

# Bind the daemons' directories: none of their settings changes, and where Docker keeps its images (its own directory,
# containerd's from release 29 on) does not matter.
place_daemons() {
    local name home move=() running=() unit
    for name in docker containerd; do
        if movable "$name"; then move+=("$name"); fi
    done
    [ "${#move[@]}" -gt 0 ] || return 0
    for unit in docker.service containerd.service; do
        if systemctl is-active --quiet "$unit"; then running+=("$unit"); fi
    done
    # The socket would start docker.service while its directory moves. At boot it listens before docker.service may
    # start; stopped then, it would take that start back.
    if [ "${running[0]:-}" = docker.service ] && systemctl is-active --quiet docker.socket; then
        running=(docker.socket "${running[@]}")
    fi
    [ "${#running[@]}" -eq 0 ] || systemctl stop "${running[@]}" || fail "could not stop ${running[*]}"
    for name in "${move[@]}"; do
        home=$path/.containers/$name
        if [ ! -d "$home" ]; then
            # Under another name until it is whole.
            rm -rf "$home.part"
            cp -a "$root/var/lib/$name" "$home.part" || fail "could not copy /var/lib/$name to $home"
            mv "$home.part" "$home"
        fi
        mount --bind "$home" "$root/var/lib/$name" || fail "could not bind $home to /var/lib/$name"
    done
    # They are ordered after our unit, so waiting for them would wait for ourselves.
    [ "${#running[@]}" -eq 0 ] || systemctl --no-block start "${running[@]}" || fail "could not start ${running[*]}"
}

main() {
    local disks=() volume="" where=""
    read_arguments "$@"
    mkdir -p "$root/run/ultracluster"
    exec 9>"$root/run/ultracluster/local-scratch.lock"
    chmod 600 "$root/run/ultracluster/local-scratch.lock"
    flock 9
    leave_enroot
    find_disks
    if [ "${#disks[@]}" -eq 0 ] && [ "$expected" -eq 0 ]; then
        log "this instance has no local NVMe disks; there is no $path"
        state ok
        return
    fi
    guard_mount_point
    [ "${#disks[@]}" -ge "$expected" ] ||
        fail "${#disks[@]} of $expected local disks are there (${disks[*]:-none}); drain and replace the node"
    mount_volume
    if [ "$store" = yes ]; then
        mkdir -p "$path/.containers"
        chmod 711 "$path/.containers"
        place_enroot
        place_daemons
    fi
    state ok
    log "ok: ${#disks[@]} local disks are at $path"
}

main "$@"
