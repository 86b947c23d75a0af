# SPDX-License-Identifier: Apache-2.0
################################################################################
#
# xsimd
#
################################################################################

XSIMD_VERSION = 8.1.0
XSIMD_SITE = $(call github,xtensor-stack,xsimd,$(XSIMD_VERSION))
XSIMD_LICENSE = BSD-3-Clause
XSIMD_LICENSE_FILES = LICENSE
XSIMD_INSTALL_STAGING = YES
XSIMD_INSTALL_TARGET = NO
XSIMD_CONF_OPTS = -DBUILD_TESTS=OFF

$(eval $(cmake-package))
