"""Packages of PyPI that layers add to images: version, and checksum of the file.

`uv pip compile` for Python 3.12 on x86_64, with the versions that the image has already, of uv.lock in its folder of
https://github.com/aws/deep-learning-containers (commit e0ecede); checksums of PyPI (all read 2026-11-25).
"""

#: Transformers and Accelerate.
TRANSFORMERS = (
    "accelerate==1.15.0 97eacca0b73e45cb867dbf8c5d5d4dc32219544300e0c8992c7334dc2ef33cec",
    "hf-xet==1.8.0 29dab7c904cd1914a0439c6e1306c12c7497c8bd32290fbe563ebf51ca4b6d6d",
    "httpcore2==2.3.0 477e9e334f74e5240dcac002e890580f36a57d40ff0fb14cc9655731d23b8415",
    "httpx2==2.3.0 6f393663bdf6dbe7fe90118e3eb5b2bd024a675cae0390ac08cec9198812d8b7",
    "huggingface-hub==2.4.0 42ecfd93ede47bdd333daebbf66a32d7bfe2e18752754fe4d2d4f98a0179d801",
    "regex==2026.11.19 8a966a5afe94ed9fb06deeecd9e3e51c3a5ab7d920e13f8128338e3fcdfed2b0",
    "safetensors==0.8.0 fd6f3f93c9a0a7cc2788ee63fb763353d4bd2e89b0751bc78fcf7dda00bea774",
    "tokenizers==0.23.3 376851d22bcf9d650a5c3090bb83e6cf9e895fbf0595369fa4cd43c1f69b5f87",
    "transformers==5.24.0 ff5ebedf9359f94bb63772b6380eba6e7104d010cbbb2cb82c788817ea7486f6",
    "truststore==0.10.5 9aaaedaefaf06d8b206278cf8b5012bc897f485a874503501e12d776df78951c",
)
#: veRL 0.9.1, and of what its metadata requires, what the image of its Dockerfile has in older versions.
VERL_PACKAGES = (
    "transferqueue==0.1.10 a8efceb971fe57d52ac7ddd86d9a6ef63f1824819dddc2ea980a96b73ff2f8ea",
    "transformers==5.5.4 0bd6281b82966fe5a7a16f553ea517a9db1dee6284d7cb224dfd88fc0dd1c167",
    "verl==0.9.1 db6e6f2a8d9d5808d9ec32d357a42319fdc6967df688ff9d9810050f49bfdd14",
)
#: torchtitan, without what it imports for Weights & Biases, and without servers of TensorBoard.
TORCHTITAN_PACKAGES = (
    "absl-py==2.5.1 721200f2f0e9960f2ca9dc3a2a706b201f5f75d812c158f059cbbe29eeafbdb8",
    "aiohappyeyeballs==2.7.1 9243213661e29250eb41368e5daa826fc017156c3b8a11440826b2e3ed376472",
    "aiohttp==3.14.5 20f085697d7e911f1f73c43ed03fafbed1e7121797e2eb5428efa80398060584",
    "aiosignal==1.4.0 053243f8b92b990551949e63930a839ff0cf0b0ebbe0597b0f3fb19e1a0fe82e",
    "attrs==26.1.0 c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309",
    "datasets==4.7.0 d5fe3025ec6acc3b5649f10d5576dff5e054134927604e6913c1467a04adc3c2",
    "dill==0.4.0 44f54bf6412c2c8464c14e8243eb163690a9800dbe2c367330883b19c7561049",
    "docstring-parser==0.18.0 b3fcbed555c47d8479be0796ef7e19c2670d428d72e96da63f3a40122860374b",
    "frozenlist==1.8.0 494a5952b1c597ba44e0e78113a7266e656b9794eec897b19ead706bd7074383",
    "huggingface-hub==1.33.0 04e434b06e100eddbce9a6e817d72693a7884b10a79bd67ab48080d5c07eb899",
    "multidict==7.2.1 1fb8c1a3480c130c3a6422d5f16f3cad6552bf08c2089dd288ba7134649183b5",
    "multiprocess==0.70.18 9b78f8e5024b573730bfb654783a13800c2c0f2dfc0c25e70b40d184d64adaa2",
    "propcache==0.5.4 2814ecd8e818f487bee4b0f921bc4d1c176cc5fc71ac0f072d0fa67eda4ac14b",
    "protobuf==7.36.2 89f23aa53c24553a2416fd4fd1ec06f74fa42b14b546d8883128813f775bbfd2",
    "pyarrow==26.0.1 c718bf97a92a6dea97fd1062c3b9f9e2e83cb9cc926e752289fa4ffff41738f9",
    "safetensors==0.8.0 fd6f3f93c9a0a7cc2788ee63fb763353d4bd2e89b0751bc78fcf7dda00bea774",
    "spmd-types==0.2.3 0bbeb783a7e9678a125cded42e07ef17c73982e4b4de2294d435f9df8c17331c",
    "tensorboard==2.21.0 7279316dcb6bd5bc391d623dea841531299cde1887310e8133bc34a996d32255",
    "tokenizers==0.23.3 376851d22bcf9d650a5c3090bb83e6cf9e895fbf0595369fa4cd43c1f69b5f87",
    "torch-checkpointing==0.1.1 2e9e1c7754196bc73c9db00037d03aea63fc858f8080fae65b273c4a8d82f5ca",
    "torchao==0.18.0 6540b148e40ba81cbd4de86392225a076a1591146e9cebb099b3b234ba9feebe",
    "torchdata==0.11.0 52b940fbbe0e00fb21cabddf528449d1bec5bfb0d0823b7487b15f951658ee33",
    "torchtitan==0.3.0 5563ccf9a295b24e00a36087149e9c2d0686cecbd3972c31e67227029293af42",
    "typeguard==4.6.1 aca1f365124873d5325b18aad1a3689d62f7184abe32d899413562cf51729d02",
    "tyro==1.0.17 89bbe5b4907965cac4077d2a1c3eaa3648afe177e214c57e490906d0ffef84c1",
    "xxhash==4.1.0 34b86625dc36b54403b525e1d7b74a64343d9b65cee6e94872c6bd70722267ac",
    "yarl==1.25.1 c6f117789d22dce188e5754e8bc65b7e6ebf8cb73963b9fa761f672a5883769d",
)
#: The agent of HyperPod's training operator, and what builds it: PyPI has its source only.
AGENT_TOOLS = (
    "annotated-doc==0.0.4 571ac1dc6991c450b25a9c2d84a3705e2ae7a53467b5d111c24fa8baabbed320",
    "fastapi==0.136.0 8793d44ec7378e2be07f8a013cf7f7aa47d6327d0dfe9804862688ec4541a6b4",
    "starlette==1.3.1 c7372aae11c3c3f26a42df7bd626cec2f47d03483d261d369516a615a53714c6",
    "uvicorn==0.44.0 ce937c99a2cc70279556967274414c087888e8cec9f9c94644dfca11bd3ced89",
    "hatchling==1.27.0 d3a2f3567c4f926ea39849cdf924c7e99e6686c9c8e288ae1037c8fa2a5d937b",
    "packaging==26.0 b36f1fef9334a5588b4166f8bcd26a14e521f2b55e6b9de3aaa80d3ff7a37529",
    "pathspec==0.12.1 a0d503e138a4c123b27490a4f7beda6a01c6f288df0e4a8b79c7eb0dc7b4cc08",
    "pluggy==1.6.0 e920276dd6813095e9377c0bc5566d94c932c33b27a3e3945d8389c374dd4746",
    "trove-classifiers==2025.9.11.17 5d392f2d244deb1866556457d6f3516792124a23d1c3a463a2e8668a5d1c15dd",
)
AGENT = ("hyperpod-elastic-agent==1.1.3 f4b54e4df691b2c309a231213a773f85162eba5f5e241a35f51444faf6d9e925",)
