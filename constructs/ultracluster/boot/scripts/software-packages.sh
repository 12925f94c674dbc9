# shellcheck shell=bash
# Install packages of the distribution, for install-software.sh, which includes this.
# shellcheck disable=SC2034,SC2154  # variables of the script

# Two of apt do not go together: its own timeout is for those that the image starts at its first boot. The time that is
# left is that after the wait. Files of the image that were edited stay: a question would have no answer.
with_apt() (
    exec 7>"$work/apt"
    flock --wait "$((limit > SECONDS ? limit - SECONDS : 0))" 7 || fail "no time is left for apt-get"
    left=$((limit - SECONDS))
    [ "$left" -ge 1 ] || fail "no time is left for apt-get"
    timeout --kill-after=5 "$left" apt-get --quiet --yes --option DPkg::Lock::Timeout=120 \
        --option Dpkg::Options::=--force-confdef --option Dpkg::Options::=--force-confold \
        --option Acquire::Retries=2 --option Acquire::http::Timeout=15 --option Acquire::https::Timeout=15 "$@" 7>&-
)

no_packages() {
    [ "$internet" = yes ] || fail "no mirror has $*, and there is no internet: take an image that has them"
    fail "apt-get cannot install $*"
}

# Install those packages whose command is missing, each argument PACKAGE:COMMAND.
packages() {
    local pair missing=()
    for pair in "$@"; do
        is_installed "${pair#*:}" || [ -e "${pair#*:}" ] || missing+=("${pair%%:*}")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    update
    with_apt install --no-install-recommends "${missing[@]}" || no_packages "${missing[@]}"
}

# Once for all items. A list that cannot be updated may be good enough. apt-get does not wait for another one that updates
# the lists, as apt-daily.service does at the first boot.
update() {
    (
        flock 8
        [ ! -e "$work/updated" ] || exit 0
        # An installation that was interrupted, such as by the limit, stops all others.
        within dpkg --force-confdef --force-confold --configure -a || log "packages of an earlier boot cannot be configured"
        for try in {1..10}; do
            if with_apt update 2>&1 | tee "$work/update.log"; then break; fi
            if [ "$try" -eq 10 ] || ! grep -q "Could not get lock" "$work/update.log"; then
                log "apt-get update failed; goes on with the packages that are known"
                break
            fi
            sleep 5
        done
        touch "$work/updated"
    ) 8>"$work/updating"
}

# Remove a repository from the sources of the image if a package brings its own source of it: with two keys for one
# repository apt stops, for all packages. https://github.com/NVIDIA/cuda-repo-management/issues/4 (read 2026-11-23)
replace_source() {
    local path uri source
    while read -r path; do
        uri=$(dpkg-deb --fsys-tarfile "$1" | tar -xO ".$path" | grep -oE 'https?://[^ ]+' | head -n 1)
        for source in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
            # With or without the slash at the end.
            if ! grep -qsF "${uri%/}" "$source" || dpkg-query --search "$source" >/dev/null 2>&1; then continue; fi
            log "$source has ${uri%/}, whose source ${1##*/} replaces: disabled"
            if [[ $source == *.sources ]]; then mv "$source" "$source.disabled"; else sed -i "\|${uri%/}|d" "$source"; fi
            if [ "$source" = "$path" ]; then rm -f "$source"; fi
        done
    done < <(dpkg-deb --fsys-tarfile "$1" | tar -t | sed -n 's|^\.\(/etc/apt/sources.list.d/.*\.list\)$|\1|p')
}

# Add NVIDIA's repository, which the image need not have kept. Once for all items.
nvidia_repository() (
    # Without the internet the sources of the image are what there is.
    [ "$internet" = yes ] || { update; exit 0; }
    flock 9
    [ ! -e "$work/nvidia" ] || exit 0
    fetch cuda-keyring
    replace_source "$file"
    with_apt install "$file"
    rm -f "$work/updated"
    update
    touch "$work/nvidia"
) 9>"$work/adding"

