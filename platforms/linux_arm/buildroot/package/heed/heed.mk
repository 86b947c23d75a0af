# SPDX-License-Identifier: Apache-2.0
################################################################################
#
# heed
#
################################################################################

HEED_VERSION = 0.1.0
HEED_SITE = $(realpath $(BR2_EXTERNAL_HEED_PATH)/../../..)
HEED_SITE_METHOD = local
HEED_LICENSE = Apache-2.0
HEED_LICENSE_FILES = LICENSE
HEED_INSTALL_STAGING = YES
HEED_INSTALL_TARGET = NO
HEED_DEPENDENCIES = flatbuffers host-flatbuffers xsimd
# By their folders: heed looks for them on the machine that builds, too, which may have other versions.
HEED_CONF_OPTS = \
	-DHEED_BUILD_TOOLS=OFF -DHEED_BUILD_TESTS=OFF -DBUILD_SHARED_LIBS=OFF \
	-DHEED_FLATC=$(HOST_DIR)/bin/flatc \
	-Dflatbuffers_DIR=$(STAGING_DIR)/usr/lib/cmake/flatbuffers \
	-Dxsimd_DIR=$(STAGING_DIR)/usr/lib/cmake/xsimd

$(eval $(cmake-package))
