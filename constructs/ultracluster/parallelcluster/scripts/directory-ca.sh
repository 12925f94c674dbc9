#!/usr/bin/env bash
# Custom action OnNodeStart: write the certificates of the directory before sssd is configured.
set -Eeuo pipefail

# Root directory: empty on a node, a directory in tests.
root=${ULTRACLUSTER_ROOT:-}
install -d -m 755 "$root/etc/ultracluster"
cat >"$root/etc/ultracluster/directory-ca.pem" <<'END_OF_CERTIFICATES'
CERTIFICATES
END_OF_CERTIFICATES
