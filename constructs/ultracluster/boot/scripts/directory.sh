#!/usr/bin/env bash
# Make the users of an LDAP directory or AWS Managed Microsoft AD known to this node, by sssd over LDAPS.
#
#   directory.sh SECRET REGION
#
# /etc/ultracluster/sssd.conf is the configuration, without the line of the bind password: SECRET, an ARN, has it. If it
# cannot be read, the configuration of the last time stays. A timer repeats this, for a secret that is rotated. Exit code 0:
# sssd is configured. 1: it is not. 2: wrong usage.
set -Eeuo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1

# Where the node's / stands: nothing on a node, a directory in a test.
root=${ULTRACLUSTER_ROOT:-}
conf=$root/etc/sssd/sssd.conf
umask 022

log() { echo "directory: $*" >&2; }

fail() {
    trap - ERR
    log "$*"
    exit 1
}

trap 'fail "line $LINENO: $BASH_COMMAND"' ERR

with_apt() { apt-get --quiet --yes --option DPkg::Lock::Timeout=300 "$@"; }

# True if the node has sssd-tools and sssd-ldap. Ubuntu and Amazon Linux have its file in different directories.
has_sssd() {
    command -v sssctl >/dev/null || return 1
    local files=("$root"/usr/lib/*/sssd/libsss_ldap.so "$root"/usr/lib64/sssd/libsss_ldap.so)
    [ -e "${files[0]}" ] || [ -e "${files[1]}" ]
}

# sssd-tools checks the configuration.
install_sssd() {
    local try
    for try in 1 2 3; do
        if command -v apt-get >/dev/null; then
            with_apt update || log "apt-get update failed, going on with the packages that are known"
            with_apt install --no-install-recommends sssd-ldap sssd-tools libnss-sss libpam-sss && return
        elif command -v dnf >/dev/null; then
            dnf install --quiet --assumeyes sssd-ldap sssd-tools oddjob-mkhomedir && return
        fi
        [ "$try" -eq 3 ] || sleep 10
    done
    fail "sssd could not be installed; put it into the image, or let the node reach its mirror"
}

# Write the configuration beside the file, so that nobody else reads the password at any time.
write_conf() {
    local password file
    password=$(AWS_RETRY_MODE=adaptive AWS_MAX_ATTEMPTS=10 aws secretsmanager get-secret-value --secret-id "$1" \
        --region "$2" --query SecretString --output text) || return 1
    if [ -z "$password" ] || [[ $password == *$'\n'* ]]; then fail "the secret $1 must be the password, on one line"; fi
    mkdir -p "${conf%/*}"
    (
        umask 077
        cat "$root/etc/ultracluster/sssd.conf" >"$conf.new"
        # What the image trusts: of Ubuntu, and of Amazon Linux.
        for file in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt; do
            if ! grep -q '^ldap_tls_cacert' "$conf.new" && [ -e "$root$file" ]; then
                printf 'ldap_tls_cacert = %s\n' "$file" >>"$conf.new"
            fi
        done
        printf 'ldap_default_authtok = %s\n' "$password" >>"$conf.new"
    )
}

make_homes() {
    if command -v pam-auth-update >/dev/null; then
        pam-auth-update --enable mkhomedir
    elif command -v authselect >/dev/null; then
        authselect select sssd with-mkhomedir --force
        systemctl enable --now oddjobd
    else
        fail "the image has neither pam-auth-update nor authselect"
    fi
}

# The package ec2-instance-connect starts sshd with its own AuthorizedKeysCommand as an option, which comes before all
# files: https://github.com/aws/aws-ec2-instance-connect-config, src/deb_systemd/ssh.service.d (read 2026-11-27). An empty
# drop-in of the same name takes its place, so that sshd starts as its unit has it. A restart keeps sessions.
without_instance_connect() {
    local unit name=ec2-instance-connect.conf file
    for unit in ssh sshd; do
        file=$root/etc/systemd/system/$unit.service.d/$name
        if [ ! -e "$root/usr/lib/systemd/system/$unit.service.d/$name" ] || [ -e "$file" ]; then continue; fi
        mkdir -p "${file%/*}"
        : >"$file"
        systemctl daemon-reload
        systemctl try-restart "$unit.service"
    done
}

ask_for_keys() {
    local sshd=$root/etc/ssh/sshd_config.d/51-ultracluster-directory.conf
    local lines=$'AuthorizedKeysCommand /usr/bin/sss_ssh_authorizedkeys %u\nAuthorizedKeysCommandUser nobody'
    if [ -d "${sshd%/*}" ] && [ "$(cat "$sshd" 2>/dev/null)" != "$lines" ]; then
        printf '%s\n' "$lines" >"$sshd"
        systemctl reload ssh 2>/dev/null || systemctl reload sshd 2>/dev/null || true
    fi
}

main() {
    if [ $# -ne 2 ]; then
        log "takes the ARN of a secret and a region, got $*"
        exit 2
    fi
    has_sssd || install_sssd
    if ! write_conf "$1" "$2"; then
        [ -s "$conf" ] || fail "the secret $1 cannot be read"
        log "the secret $1 cannot be read; the password of the last time stays"
        return 0
    fi
    # The mark is of a configuration that sssd uses: a run that fails is repeated.
    if [ ! -e "$conf.used" ] || ! cmp --silent "$conf.new" "$conf"; then
        rm -f "$conf.used"
        mv "$conf.new" "$conf"
        make_homes
        systemctl restart sssd
        touch "$conf.used"
    fi
    rm -f "$conf.new"
    ask_for_keys
    without_instance_connect
}

main "$@"
