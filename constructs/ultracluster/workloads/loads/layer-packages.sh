# shellcheck shell=bash
# Add packages of PyPI to an image, each with the checksum of its file, and nothing that they name as needed besides.
# https://pip.pypa.io/en/stable/topics/secure-installs (read 2026-11-25)
# shellcheck disable=SC2329  # the container runs it
layer() {
    local requirements
    requirements=$(mktemp) &&
        printf '%s\n' "${@/ / --hash=sha256:}" >"$requirements" &&
        python3 -m pip install --quiet --no-deps --no-build-isolation --require-hashes --requirement "$requirements"
}
