# heed's static libraries and headers for programs of an image: DEPENDS = "heed" in theirs. Needs the layer meta-oe.
# SPDX-License-Identifier: Apache-2.0
SUMMARY = "Attention models on small machines"
DESCRIPTION = "Runs converted encoders and translators in one block of memory of known size, without heap or dependencies."
SECTION = "libs"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://LICENSE;md5=3b83ef96387f14655fc854ddc3c6bd57"

# The checkout that this file is part of, at the newest commit of main.
HEED_CHECKOUT ?= "${@os.path.realpath(os.path.join(os.path.dirname(d.getVar('FILE')), '../../..'))}"
DEPENDS = "flatbuffers flatbuffers-native"
SRC_URI = "git://${HEED_CHECKOUT};protocol=file;branch=main;name=heed;destsuffix=heed \
           https://github.com/xtensor-stack/xsimd/archive/8.1.0.tar.gz;name=xsimd;downloadfilename=xsimd-8.1.0.tar.gz"
SRCREV_heed = "${AUTOREV}"
SRC_URI[xsimd.sha256sum] = "d52551360d37709675237d2a0418e28f70995b5b7cdad7c674626bcfbbf48328"

UNPACKDIR ??= "${WORKDIR}"
S = "${UNPACKDIR}/heed"

inherit cmake

# By their folders: heed looks for them on the machine that builds, too, which may have other versions.
EXTRA_OECMAKE = "-DHEED_BUILD_TOOLS=OFF -DHEED_BUILD_TESTS=OFF \
                 -DHEED_FLATC=${STAGING_BINDIR_NATIVE}/flatc -Dflatbuffers_DIR=${STAGING_LIBDIR}/cmake/flatbuffers \
                 -DCMAKE_DISABLE_FIND_PACKAGE_xsimd=ON -DFETCHCONTENT_SOURCE_DIR_XSIMD=${UNPACKDIR}/xsimd-8.1.0"

# Static libraries go into what links them: there is nothing to put into an image.
ALLOW_EMPTY:${PN} = "1"
