# shellcheck shell=bash
# Open a directory of a Lustre file system for all users: open_directory MOUNT DIRECTORY. FSx creates the root of a file
# system, and the directories of associations, for root alone (root:755). Any other owner or mode is kept.
# https://docs.aws.amazon.com/fsx/latest/LustreGuide/posix-metadata-support.html (read 2026-11-27)
# Each directory above it must be one in which users rename nothing of root: a link in its place may lead anywhere.
# Exit code 1: it is not there yet.
open_directory() {
    local at=$1 rest=${2#/} is
    rest=${rest:+$rest/}
    while is=$(stat --format '%F %U:%a' "$at") || return 1; [ -n "$rest" ]; do
        [[ $is =~ ^directory\ root:(755|1777)$ ]] || return 0
        at+=/${rest%%/*} rest=${rest#*/}
    done
    [ "$is" != "directory root:755" ] || chmod 1777 "$at"
}
