#!/usr/bin/env bash
# Install Grafana OSS on Amazon Linux 2023 with a data source and dashboards from files, and starts it.
#
#   self-hosted-grafana.sh VERSION BUNDLE SHA256 QUERY_URL REGION
#
# VERSION    of the package, such as 12.4.11
# BUNDLE     s3:// address of a tar archive with the folders provisioning and dashboards
# SHA256     its checksum
# QUERY_URL  where the data source queries; REGION its region
#
# It listens on the loopback address alone: who may forward a port to it by Session Manager is in, as a viewer.
# All content comes from files. No password exists.
#
# Exit code 0: Grafana runs. 1: it does not, and after 15 attempts the instance powers off. 2: wrong usage. It may run any
# number of times.
set -euo pipefail
export LC_ALL=C

# Root directory: empty on a machine, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
home=$root/etc/ultracluster/grafana

log() { echo "self-hosted-grafana: $*"; }

if [ $# -ne 5 ]; then
    log "usage: self-hosted-grafana.sh VERSION BUNDLE SHA256 QUERY_URL REGION" >&2
    exit 2
fi
version=$1 bundle=$2 sha256=$3 query_url=$4 region=$5

# https://grafana.com/docs/grafana/latest/setup-grafana/installation/redhat-rhel-fedora/ (read 2026-11-21)
install_package() {
    mkdir -p "$root/etc/yum.repos.d"
    cat >"$root/etc/yum.repos.d/grafana.repo" <<REPO
[grafana]
name=Grafana OSS
baseurl=https://rpm.grafana.com
gpgkey=https://rpm.grafana.com/gpg.key
gpgcheck=1
repo_gpgcheck=1
enabled=1
sslverify=1
REPO
    [ "$(rpm -q --qf '%{VERSION}' grafana 2>/dev/null || true)" = "$version" ] || dnf install -y "grafana-$version-1"
}

fetch_content() {
    local archive
    archive=$(mktemp)
    aws s3 cp --only-show-errors "$bundle" "$archive" || return 1
    echo "$sha256  $archive" | sha256sum --check --status || {
        log "the checksum of $bundle is not $sha256" >&2
        rm -f "$archive"
        return 1
    }
    # A dashboard that is gone from the archive is gone from the disk, and then from Grafana.
    rm -rf "$home"
    mkdir -p "$home"
    tar -xf "$archive" -C "$home" --no-same-owner || return 1
    rm -f "$archive"
}

configure() {
    mkdir -p "$root/etc/systemd/system/grafana-server.service.d"
    cat >"$root/etc/systemd/system/grafana-server.service.d/ultracluster.conf" <<UNIT
[Service]
Environment=GF_SERVER_HTTP_ADDR=127.0.0.1
Environment=GF_PATHS_PROVISIONING=/etc/ultracluster/grafana/provisioning
Environment=GF_AUTH_SIGV4_AUTH_ENABLED=true
Environment=GF_AUTH_ANONYMOUS_ENABLED=true
Environment=GF_AUTH_ANONYMOUS_ORG_ROLE=Viewer
Environment=GF_AUTH_DISABLE_LOGIN_FORM=true
Environment=GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION=true
Environment=GF_ANALYTICS_REPORTING_ENABLED=false
Environment=GF_ANALYTICS_CHECK_FOR_UPDATES=false
Environment=GF_PLUGINS_PREINSTALL_DISABLED=true
Environment=AWS_REGION=$region
Environment=ULTRACLUSTER_PROMETHEUS_REGION=$region
Environment=ULTRACLUSTER_PROMETHEUS_URL=$query_url
UNIT
}

# Run a step until it succeeds, once a minute. A group replaces an instance that is off, and not one without Grafana.
repeat() {
    local attempt
    for attempt in {1..15}; do
        if "$1"; then return 0; fi
        log "$1 failed, attempt $attempt of 15" >&2
        sleep "${ULTRACLUSTER_PAUSE:-60}"
    done
    log "$1 failed 15 times: the instance powers off, and its Auto Scaling group launches another one" >&2
    systemctl poweroff
    exit 1
}

repeat install_package
repeat fetch_content
configure
systemctl daemon-reload
systemctl enable grafana-server
systemctl restart grafana-server
log "ok"
