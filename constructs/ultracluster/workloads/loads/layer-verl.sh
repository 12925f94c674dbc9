# shellcheck shell=bash
# Add what the image of veRL lacks: EFA's libraries, and veRL itself with newer packages that it needs. Root runs it in
# the container.
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html and
# https://verl.readthedocs.io/en/latest/start/install.html, "Installation from Docker" (read 2026-11-24)
#
# The image has a file by which the installer takes it for one of NVIDIA's, and NCCL would not find the plugin that it
# installs there: https://github.com/awslabs/awsome-distributed-ai (commit 95b939c), micro-benchmarks/
# expert-parallelism/deepep-benchmark/deepep.Dockerfile (read 2026-11-27)
# shellcheck disable=SC2329  # the container runs it
layer() {
    local efa=$1 efa_sha256=$2
    shift 2
    cd "$(mktemp -d)" &&
        curl --silent --show-error --fail --connect-timeout 10 --retry 5 --speed-limit 50000 --speed-time 20 \
            --output efa.tar.gz \
            "https://efa-installer.amazonaws.com/aws-efa-installer-$efa.tar.gz" &&
        echo "$efa_sha256  efa.tar.gz" | sha256sum --check --quiet &&
        tar --extract --gzip --file efa.tar.gz &&
        (cd aws-efa-installer && ./efa_installer.sh --yes --skip-kmod --skip-limit-conf --no-verify \
            --disable-build-ngc --disable-ngc) &&
        ls /opt/amazon/ofi-nccl/lib/libnccl-net.so &&
        printf '%s\n' "${@/ / --hash=sha256:}" >requirements.txt &&
        python3 -m pip install --no-deps --require-hashes --requirement requirements.txt
}
