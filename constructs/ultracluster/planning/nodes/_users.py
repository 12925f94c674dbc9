"""Names, UIDs and keys of the users of all nodes."""

import re

# From 60,001 on numbers are systemd's, and images hand theirs out from 1,000 on: https://systemd.io/UIDS-GIDS/ (read
# 2026-11-21). The group of a user has the same number.
UIDS = range(2_000, 60_000)
#: As `useradd` of Debian takes it, without capitals.
USER_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}", re.ASCII)
# Directories of the cluster where users have theirs: job files, and images of containers.
_SHARED_DIRECTORIES = ("containers", "jobs")
#: These, users and groups of images, Slurm and Systems Manager, and a name that sudo would take for a group's. A user
#: has a group of the same name. The groups are those of Debian's base-passwd 3.6, and of systemd and services of Ubuntu
#: Server 22.04 and 24.04 (read 2026-11-27).
RESERVED_USERS = (
    *("root", "daemon", "bin", "sys", "sync", "games", "man", "lp", "mail", "news", "uucp", "proxy", "backup"),
    *("list", "irc", "nobody", "admin", "sudo", "adm", "docker", "ubuntu", "ec2-user", "ssm-user", "slurm"),
    *("munge", "sshd", "www-data", "systemd-network", "nvidia-persistenced", "ultracluster-images"),
    *("tty", "disk", "kmem", "dialout", "fax", "voice", "cdrom", "floppy", "tape", "audio", "dip", "operator", "src"),
    *("shadow", "utmp", "video", "sasl", "plugdev", "staff", "users", "nogroup"),
    *("input", "sgx", "kvm", "render", "lxd", "netdev", "crontab", "syslog", "messagebus", "systemd-journal"),
    *("systemd-timesync", "systemd-resolve", "uuidd", "tcpdump", "tss", "landscape", "fwupd-refresh", "polkitd"),
    *("ssl-cert", "rdma"),
    *_SHARED_DIRECTORIES,
)
# https://man.openbsd.org/sshd#AUTHORIZED_KEYS_FILE_FORMAT (read 2026-11-21); DSA is gone from OpenSSH. The bar parts
# fields of the record, so that no comment has one.
SSH_KEY = (
    r"(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-ssh-ed25519@openssh\.com"
    r"|sk-ecdsa-sha2-nistp256@openssh\.com) AAAA[A-Za-z0-9+/]{16,2000}={0,2}( [\w.@+:-]{1,80})?"
)


def check_user_name(name: str) -> list[str]:
    """Return the errors of a user name; empty if it is valid."""
    if not USER_NAME.fullmatch(name):
        return [
            "a user's name has 1 to 32 lower-case letters, digits, hyphens and underscores and begins with a letter, "
            f"got {name!r}"
        ]
    if name in _SHARED_DIRECTORIES:
        return [f"{name} is a directory of the cluster, beside those of users; choose another name"]
    return (
        [f"{name} is a user or a group of the image or of a service; choose another name"]
        if name in RESERVED_USERS
        else []
    )
