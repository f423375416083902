/* SPDX-License-Identifier: Apache-2.0 */
/* What the option `overwrite` does, the same in each exporter. */
#ifndef EXPORTERS_OVERWRITE_H
#define EXPORTERS_OVERWRITE_H

/* Runs the class, with nothing to write, on a path at which a file is: overwrite = no refuses it,
 * and only it; by default it is replaced. */
void overwrite_check(const char *module, const char *class);

#endif
