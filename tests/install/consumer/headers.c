/* Includes every public header as C.
 * SPDX-License-Identifier: Apache-2.0 */
#include "heed/generate.h"
#include "heed/heed.h"
#include "heed_host.h"

int heed_alignment_in_c(void) { return (int)HEED_ALIGNMENT; }
