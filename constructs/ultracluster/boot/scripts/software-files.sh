# shellcheck shell=bash
# Fetch files, for install-software.sh, which includes this.
# shellcheck disable=SC2034,SC2154  # variables of the script

is_right() { [ -f "$1" ] && echo "$2  $1" | sha256sum --check --status --strict; }

from_bucket() {
    [ -n "$bucket" ] || return 1
    within aws s3 cp --only-show-errors --region "$region" "s3://$bucket/$prefix/$2/${3##*/}" "$1.s3" 2>"$1.errors" ||
        return 1
    is_right "$1.s3" "$2" || { log "s3://$bucket/$prefix/$2/${3##*/} has another checksum: not used"; return 1; }
    mv "$1.s3" "$1"
}

# Of nodes that boot together one fetches a file, and the others wait for its copy. Exit code 1: another one does.
claim() {
    : >"$work/empty"
    into_bucket "$work/empty" "$1.claim" && return
    ! grep -qE 'PreconditionFailed|ConditionalRequestConflict|\(412\)|\(409\)' "$work/empty.errors"
}

# S3 refuses an object whose key exists.
into_bucket() {
    within aws s3api put-object --region "$region" --bucket "$bucket" --key "$prefix/$2" --body "$1" \
        --if-none-match '*' >/dev/null 2>"$1.errors"
}

from_upstream() {
    within curl --fail --silent --show-error --location --proto '=https,http' --connect-timeout 10 --retry 3 \
        --retry-connrefused --speed-limit 50000 --speed-time 20 --output "$1.part" "$3" || return 1
    is_right "$1.part" "$2" || { log "$3 has another checksum than $2: not used"; return 1; }
    mv "$1.part" "$1"
}

# Fetch a file by its name. Set file to its path.
fetch() {
    local name version sha256 url try
    read -r name version sha256 url < <(files | grep "^$1 ") || fail "$1 is not for $(uname -m)"
    file=$cache/$name-${url##*/}
    mkdir -p "$cache"
    if is_right "$file" "$sha256" || from_bucket "$file" "$sha256" "$url"; then return; fi
    [ "$internet" = yes ] ||
        fail "s3://$bucket has no $name $version ($(tail -n 1 "$file.errors")); run: ultracluster image bundle"
    if [ -n "$bucket" ] && ! claim "$sha256/${url##*/}"; then
        for try in {1..10}; do
            sleep 2
            if from_bucket "$file" "$sha256" "$url"; then return; fi
            log "waits for the copy of $name, $try of 10"
        done
    fi
    from_upstream "$file" "$sha256" "$url" || fail "$name $version cannot be fetched from $url"
    if [ -n "$bucket" ]; then into_bucket "$file" "$sha256/${url##*/}" || log "no copy of $name was left in $bucket"; fi
}

# Unpack a tarball by its name. Set folder to what it holds.
unpack() {
    fetch "$1"
    rm -rf "${work:?}/$1"
    mkdir "$work/$1"
    tar -xf "$file" -C "$work/$1" --no-same-owner
    folder=$(echo "$work/$1"/*)
}

