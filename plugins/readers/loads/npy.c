/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy's .npy files. */
#include "array.h"

mill_status ld_read_npy(ld_reading *r) {
    kit_npy a;
    char error[KIT_NPY_ERROR];
    r->format = "npy";
    if (!kit_npy_read(r->bytes, r->n, &a, error))
        return mill_fail(r->run, MILL_E_DATA, "%s: npy: %s", r->name, error);
    return ld_read_array(r, &a);
}
