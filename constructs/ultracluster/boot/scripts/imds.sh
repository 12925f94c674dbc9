#!/usr/bin/env bash
# Allow the instance metadata service (IMDS) to root only: its credentials are those of the node, whose role registers
# nodes with Slurm. Jobs in containers share the network of the host, so the rule is by user id.
#
#   imds.sh
#
# nftables is preferred: a table of our own, which no other program edits. iptables is the fallback. Only TCP carries
# HTTP; DNS and NTP, on other link-local addresses, stay open. It may run any number of times. Exit code 0: the rules
# are in place. 1: they are not.
set -Eeuo pipefail
export LC_ALL=C

# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html (read 2026-11-22)
ipv4=169.254.169.254
ipv6=fd00:ec2::254

with_nftables() {
    # In one transaction: there is no moment without rules.
    nft -f - <<RULES
add table inet ultracluster_imds
delete table inet ultracluster_imds
table inet ultracluster_imds {
    chain output {
        type filter hook output priority filter; policy accept;
        ip daddr $ipv4 meta l4proto tcp meta skuid != 0 reject with tcp reset
        ip6 daddr $ipv6 meta l4proto tcp meta skuid != 0 reject with tcp reset
    }
}
RULES
}

# Match the first packet of a connection only: a packet of a socket that root has closed has no owner any more.
add_rule() {
    local tool=$1 address=$2
    local rule=(OUTPUT --protocol tcp --syn --destination "$address"
        --match owner ! --uid-owner 0 --jump REJECT --reject-with tcp-reset)
    "$tool" --wait --check "${rule[@]}" 2>/dev/null || "$tool" --wait --insert "${rule[@]}"
}

with_iptables() {
    add_rule iptables "$ipv4"
    # Without IPv6 there is no such address.
    [ ! -e /proc/net/if_inet6 ] || add_rule ip6tables "$ipv6"
}

if command -v nft >/dev/null && with_nftables; then
    echo "imds: root only, by nftables"
elif command -v iptables >/dev/null && with_iptables; then
    echo "imds: root only, by iptables"
else
    echo "imds: neither nftables nor iptables could restrict $ipv4; install nftables in the image" >&2
    exit 1
fi
