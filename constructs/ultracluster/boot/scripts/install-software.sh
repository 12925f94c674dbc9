#!/usr/bin/env bash
# Install what a Slurm node needs and its image lacks: at the first boot with AWS's own image, and when an image is built.
#
#   install-software.sh --slurm VERSION [--bucket NAME --region REGION] [--internet yes|no] ITEM ...
#
#   --slurm     release for which Pyxis is compiled, such as 25.11
#   --bucket    bucket with copies of the files, which the first node writes and the others read
#   --internet  no: files come from the bucket only, and packages from the sources of the image, which a mirror may
#               answer. Default: yes
#   ITEM        chrony, cloudwatch-agent, enroot, pyxis, prometheus, node_exporter, dcgm-exporter or lustre-efa-tool
#
# A file with another checksum is never used. Packages come from repositories that are signed. After
# `limit` seconds nothing new begins. Exit code 0: all items are there. 1: some are not; /run/ultracluster/software/ITEM
# has the reason, `ok: ...` or `failed: REASON`. 2: wrong usage. It may run any number of times.
set -Eeuo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1

# Name, version, checksum and URL of each file, from catalogue.ec2.
files() {
    cat <<'FILES'
@FILES@
FILES
}

# DCGM, and the dcgm-exporter that NVIDIA released with it; the first is installed in the place of one not listed.
pairs() {
    cat <<'PAIRS'
@PAIRS@
PAIRS
}

# Key of Amazon CloudWatch that signs its agent.
cloudwatch_key=@CLOUDWATCH_KEY@

state=/run/ultracluster/software
# shellcheck disable=SC2034  # of software-files.sh
cache=/var/cache/ultracluster/software
own=/opt/ultracluster
# shellcheck disable=SC2034  # of software-files.sh
prefix=ultracluster/software
limit=${ULTRACLUSTER_SOFTWARE_LIMIT:-300}
slurm="" bucket="" region="" internet=yes items=()
# Of the EC2 Image Builder the whole log is kept; a node keeps one file for each item.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

log() { echo "install-software: $*"; }

usage() {
    log "$*" >&2
    exit 2
}

read_arguments() {
    while [ $# -gt 0 ]; do
        case $1 in
            --slurm | --bucket | --region | --internet)
                [ $# -ge 2 ] || usage "$1 needs a value"
                printf -v "${1#--}" %s "$2"
                shift
                ;;
            chrony | cloudwatch-agent | enroot | pyxis | prometheus | node_exporter | dcgm-exporter | lustre-efa-tool)
                items+=("$1")
                ;;
            *) usage "unknown argument $1" ;;
        esac
        shift
    done
    [[ $slurm =~ ^[0-9]{2}\.[0-9]{2}$ ]] || usage "--slurm is a release such as 25.11, got '$slurm'"
    [[ $internet =~ ^(yes|no)$ ]] || usage "--internet is yes or no, got '$internet'"
    [ "${bucket:+given}" = "${region:+given}" ] || usage "--bucket and --region are given together"
    [ "${#items[@]}" -gt 0 ] || usage "name the items to install"
}

# Run a command for as long as is left.
within() {
    local left=$((limit - SECONDS))
    [ "$left" -ge 1 ] || { log "no time is left for $1"; return 124; }
    timeout --kill-after=5 "$left" "$@"
}

# End an item: the last line of its log is its reason.
fail() {
    log "$*" >&2
    exit 1
}

is_installed() { command -v "$1" >/dev/null; }

#INCLUDE software-files.sh
#INCLUDE software-packages.sh
# --- items -----------------------------------------------------------------------------------------------------------
# Each has a function that checks whether it is there, and one that installs it.

time_source=/etc/chrony/sources.d/amazon-time-sync.sources
has_chrony() { is_installed chronyc && [ -s "$time_source" ]; }
install_chrony() {
    packages chrony:chronyc
    mkdir -p "${time_source%/*}"
    # The health check requires chrony: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configure-ec2-ntp.html (read
    # 2026-11-21); sources.d is read by Ubuntu's chrony.conf.
    echo "server 169.254.169.123 prefer iburst minpoll 4 maxpoll 4" >"$time_source"
    chronyc reload sources || log "chrony reads its sources when it starts"
}

has_cloudwatch-agent() { is_installed /opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent; }
install_cloudwatch-agent() {
    local base=https://amazoncloudwatch-agent.s3.amazonaws.com file part
    [ "$internet" = yes ] || fail "the image lacks the CloudWatch agent, and there is no internet"
    packages gpg:gpg
    file=$base/ubuntu/$(dpkg --print-architecture)/latest/amazon-cloudwatch-agent.deb
    for part in "$file" "$file.sig" "$base/assets/amazon-cloudwatch-agent.gpg"; do
        within curl --fail --silent --show-error --location --retry 3 --output "$work/${part##*/}" "$part"
    done
    install -d -m 0700 "$work/gpg"
    gpg --homedir "$work/gpg" --batch --quiet --import "$work/amazon-cloudwatch-agent.gpg"
    gpg --homedir "$work/gpg" --batch --status-fd 1 --verify "$work/amazon-cloudwatch-agent.deb.sig" \
        "$work/amazon-cloudwatch-agent.deb" | grep -q "^\[GNUPG:\] VALIDSIG .*$cloudwatch_key" ||
        fail "the CloudWatch agent is not signed by $cloudwatch_key"
    with_apt install --no-install-recommends "$work/amazon-cloudwatch-agent.deb"
}

compiler=(gcc:gcc make:make libc6-dev:/usr/include/stdio.h)

has_enroot() { is_installed enroot; }
# From source, against glibc, which its Makefile allows: the default takes musl over git://. Only `enroot bundle` needs
# what is left out. https://github.com/NVIDIA/enroot, Makefile and doc/requirements.md (v4.1.2, read 2026-11-22)
install_enroot() {
    local made=(prefix=/usr sysconfdir=/etc FORCE_GLIBC=1 DEPS=) profile=/etc/apparmor.d/enroot
    unpack enroot
    packages "${compiler[@]}" curl:curl gawk:gawk jq:jq parallel:parallel squashfs-tools:mksquashfs zstd:zstd \
        bsdextrautils:column pigz:pigz libcap2-bin:setcap squashfuse:squashfuse fuse-overlayfs:fuse-overlayfs
    if is_installed nvidia-smi && ! is_installed nvidia-container-cli; then
        # Ubuntu has no such package.
        nvidia_repository
        packages libnvidia-container-tools:nvidia-container-cli
    fi
    # shellcheck disable=SC2154  # `unpack` sets it
    within make --silent -C "$folder/deps" FORCE_GLIBC=1 libbsd
    # Of `deps` the rest are submodules.
    within make --silent -C "$folder" --old-file=deps "${made[@]}" install
    make --silent -C "$folder" --old-file=deps "${made[@]}" setcap
    ln -sf /usr/share/enroot/hooks.d/50-slurm-pmi.sh /usr/share/enroot/hooks.d/50-slurm-pytorch.sh /etc/enroot/hooks.d/
    open_enroot
    # Ubuntu 24.04 allows user namespaces to programs with a profile.
    if [ -e /proc/sys/kernel/apparmor_restrict_unprivileged_userns ]; then
        install -m 0644 /usr/share/enroot/apparmor.profile "$profile"
        apparmor_parser --replace "$profile"
    fi
    enroot version
}

# Enroot makes its directories as the user. The default of the first is below XDG_RUNTIME_DIR or /run, where only root may
# write in a job, and that of the others is the home, which nodes share: https://github.com/NVIDIA/pyxis/issues/12. A
# container is writable, as in AWS's samples: programs write caches into their home (both read 2026-11-23).
open_enroot() {
    local below=/var/lib/enroot
    install -d -m 1777 /run/enroot "$below/cache" "$below/data"
    echo 'd /run/enroot 1777 root root' >/etc/tmpfiles.d/ultracluster-enroot.conf
    # shellcheck disable=SC2016  # enroot expands $(id -u), for each user
    printf '%s\n' 'ENROOT_RUNTIME_PATH /run/enroot/user-$(id -u)' "ENROOT_CACHE_PATH $below/cache/user-\$(id -u)" \
        "ENROOT_DATA_PATH $below/data/user-\$(id -u)" 'ENROOT_ROOTFS_WRITABLE yes' >>/etc/enroot/enroot.conf
}

plugins=/etc/aws/pcs/scheduler/slurm-
has_pyxis() { grep -RqsE '^[[:space:]]*(required|optional)[[:space:]].*spank_pyxis\.so' "$plugins$slurm/plugstack.conf.d/"; }
# Slurm loads no plugin of another release. slurmd does not start with a plugin that cannot be loaded, so its line is last.
# https://docs.aws.amazon.com/pcs/latest/userguide/working-with_spank_install.html (read 2026-11-22)
install_pyxis() {
    local home=/opt/aws/pcs/scheduler/slurm-$slurm
    [ -e "$home/include/slurm/spank.h" ] || fail "$home has no headers of Slurm $slurm"
    unpack pyxis
    packages "${compiler[@]}"
    CPPFLAGS="-I$home/include" within make --silent -C "$folder" install prefix=/usr/local libdir="$home/lib"
    # The hooks of Enroot call scontrol, which must be that of this release.
    grep -qs '^PATH=' /etc/default/slurmd ||
        echo "PATH=$home/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" >>/etc/default/slurmd
    install -d "$plugins$slurm/plugstack.conf.d"
    echo "required $home/lib/slurm/spank_pyxis.so" >"$plugins$slurm/plugstack.conf.d/pyxis.conf"
}

# A program of Prometheus' organization, from its tarball.
install_program() {
    unpack "$1"
    install -D -m 0755 "$folder/$1" "$own/bin/.$1"
    "$own/bin/.$1" --version
    mv "$own/bin/.$1" "$own/bin/$1"
}
has_prometheus() { is_installed "$own/bin/prometheus"; }
install_prometheus() { install_program prometheus; }
has_node_exporter() { is_installed "$own/bin/node_exporter"; }
install_node_exporter() { install_program node_exporter; }

version_of() { dpkg-query --show --showformat '${Version}' "$1" 2>/dev/null || true; }
has_dcgm-exporter() { is_installed "$own/bin/dcgm-exporter"; }
install_dcgm-exporter() {
    local core=datacenter-gpu-manager-4-core there dcgm exporter wanted=() theirs=() part
    local parts=("$core" "${core%core}cuda13" "${core%core}proprietary" "${core%core}proprietary-cuda13")
    there=$(version_of "$core")
    dcgm=${there#*:} dcgm=${dcgm%%-*}
    exporter=$(pairs | sed -n "s/^${dcgm:-none} //p")
    nvidia_repository
    if [ -n "$exporter" ]; then
        wanted=("$core=$there")
    else
        # Each package requires the others in its own version, and apt takes the newest of what is not named. Without the
        # proprietary ones DCGM skips diagnostics silently, and has no profiling of A100:
        # https://github.com/NVIDIA/dcgm-exporter, README.md and docker/Dockerfile (commit d5e5f51 of 2026-05-12)
        read -r dcgm exporter < <(pairs)
        for part in "${parts[@]}"; do wanted+=("$part=1:$dcgm*"); done
        # A name with a hyphen is removed, in the same step, so that nothing goes if nothing can be fetched.
        mapfile -t theirs < <(
            dpkg-query --show --showformat '${db:Status-Abbrev} ${Package}\n' 'datacenter-gpu-manager*' 2>/dev/null |
                awk '$1 == "ii" { print $2 }' | grep -vxF -e "$(printf '%s\n' "${parts[@]}")" -e datacenter-gpu-manager-exporter
        )
        wanted+=("${theirs[@]/%/-}")
    fi
    with_apt install --no-install-recommends --allow-change-held-packages --allow-downgrades "${wanted[@]}" \
        "datacenter-gpu-manager-exporter=$exporter*" || no_packages "DCGM $dcgm with dcgm-exporter $exporter"
    systemctl enable nvidia-dcgm.service
    # A unit of the node starts it; that of the package would take its port.
    systemctl mask --now nvidia-dcgm-exporter.service
    install -d "$own/bin"
    ln -sf /usr/bin/dcgm-exporter "$own/bin/"
}

tool=configure-efa-fsx-lustre-client
has_lustre-efa-tool() { [ -f "$own/$tool/setup.sh" ] || systemctl is-enabled --quiet "$tool.service" 2>/dev/null; }
install_lustre-efa-tool() {
    fetch "$tool"
    rm -rf "${work:?}/zip"
    python3 -m zipfile -e "$file" "$work/zip"
    [ -f "$work/zip/$tool/setup.sh" ] || fail "the zip has no $tool/setup.sh"
    mkdir -p "$own"
    rm -rf "${own:?}/$tool"
    mv "$work/zip/$tool" "$own/$tool"
}

# --- all of them -----------------------------------------------------------------------------------------------------

write_state() {
    printf '%s\n' "$2" >"$state/.$1"
    mv "$state/.$1" "$state/$1"
    log "$1: $2"
}

install_item() {
    "install_$1"
    "has_$1" || fail "$1 is not there after its installation"
}

main() {
    local item pid rc=0 pids=()
    read_arguments "$@"
    mkdir -p "$state"
    for item in "${items[@]}"; do
        if "has_$item"; then
            write_state "$item" "ok: in the image, or installed before"
            continue
        fi
        write_state "$item" "failed: the installation did not end" >"$work/$item.log"
        (install_item "$item") >"$work/$item.log" 2>&1 &
        pids+=("$!:$item")
    done
    for pid in "${pids[@]}"; do
        item=${pid#*:}
        if wait "${pid%%:*}"; then
            write_state "$item" "ok: installed"
        else
            write_state "$item" "failed: $(awk 'NF { last = $0 } END { print substr(last, 1, 200) }' "$work/$item.log")"
            rc=1
        fi
        sed "s/^/$item: /" "$work/$item.log"
    done
    log "ends after $SECONDS s"
    return "$rc"
}

main "$@"
