#!/usr/bin/env bash
# Custom action OnNodeConfigured: create users with the same UID on every node.
#
# Homes are created by the head node, which exports /home, or on the file system that is mounted at the first argument.
set -Eeuo pipefail

# Root directory: empty on a node, a directory in tests.
. "${ULTRACLUSTER_ROOT:-}/etc/parallelcluster/cfnconfig"
homes=${1:-/home}

create() {
    local name=$1 uid=$2 keys=$3 home
    getent group "$name" >/dev/null || groupadd --gid "$uid" "$name"
    if ! getent passwd "$name" >/dev/null; then
        useradd --uid "$uid" --gid "$uid" --shell /bin/bash --no-create-home --home-dir "$homes/$name" "$name"
    fi
    # cfnconfig says what the node is.
    [ "${cfn_node_type:-}" = HeadNode ] || return 0
    home=$(getent passwd "$name" | cut -d: -f6)
    # In one that exists, on a file system that is used again, names may be links of the user.
    if [ -e "$home" ] || [ -L "$home" ]; then return 0; fi
    cp -r /etc/skel "$home"
    chmod 750 "$home"
    install -d -m 700 "$home/.ssh"
    if [ -n "$keys" ]; then
        tr '|' '\n' <<<"$keys" >"$home/.ssh/authorized_keys"
        chmod 600 "$home/.ssh/authorized_keys"
    fi
    chown -R "$uid:$uid" "$home"
}

while IFS= read -r record; do
    [ -n "$record" ] || continue
    head=${record%%|*}
    keys=""
    [[ $record != *"|"* ]] || keys=${record#*|}
    create "${head% *}" "${head#* }" "$keys"
done <<'END_OF_USERS'
USERS
END_OF_USERS
