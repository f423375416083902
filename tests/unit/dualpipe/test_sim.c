/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation on small plans whose times are worked out by hand. */
#include "bench_host.h"
#include "sim.h"
int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    return g_test_run();
}
