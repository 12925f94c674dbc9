"""Print the packages that the layer of an image installs, as requirements of pip with their checksums."""

import sys

from ultracluster.workloads import IMAGES

image = IMAGES[sys.argv[1]]
for package in (*image.packages, *image.more_packages):
    print(package.replace(" ", " --hash=sha256:"))
