# shellcheck shell=bash
# Add etcd, by which the nodes of a job find each other. Root runs it in the container.
# https://github.com/etcd-io/etcd/releases (read 2026-11-26)
# shellcheck disable=SC2329  # the container runs it
layer() {
    local name=etcd-v$1-linux-amd64 etcd_sha256=$2
    ! command -v etcd >/dev/null || return 0
    cd "$(mktemp -d)" &&
        curl --silent --show-error --fail --location --connect-timeout 10 --retry 5 --speed-limit 50000 \
            --speed-time 20 --output etcd.tar.gz \
            "https://github.com/etcd-io/etcd/releases/download/v$1/$name.tar.gz" &&
        echo "$etcd_sha256  etcd.tar.gz" | sha256sum --check --quiet &&
        # Images of Amazon Linux have no tar.
        python3 -m tarfile --extract etcd.tar.gz . &&
        install -m 755 "$name/etcd" /usr/local/bin/etcd
}
