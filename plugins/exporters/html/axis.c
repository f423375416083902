/* SPDX-License-Identifier: Apache-2.0 */
/* An axis of a chart: see axis.h. */
#include "axis.h"

#include <math.h>
#include <tracemill/kit/number.h>

/* The steps that people count in: 1, 2 or 5 times a power of ten. */
static double round_step(double raw) {
    double power = pow(10, floor(log10(raw))), first = raw / power;
    return power * (first <= 1 ? 1 : first <= 2 ? 2 : first <= 5 ? 5 : 10);
}

bool axis_fit(axis *ret_axis, double lo, double hi, int ticks) {
    if (!isfinite(lo) || !isfinite(hi) || hi < lo || fmax(fabs(lo), fabs(hi)) > 1e290)
        return false;
    double size = fmax(fabs(lo), fabs(hi));
    if (hi - lo <= size * 1e-9) { /* one value: it lies in the middle */
        double room = size > 0 ? size / 2 : 0.5;
        lo -= room;
        hi += room;
    }
    double step = round_step((hi - lo) / ticks);
    if (step < 1e-290)
        return false;
    *ret_axis = (axis){.lo = floor(lo / step + 1e-9) * step,
                       .hi = ceil(hi / step - 1e-9) * step,
                       .step = step,
                       .decimals = (int)fmax(0, -floor(log10(step) + 1e-9))};
    return true;
}

int axis_ticks(const axis *a) {
    return (int)floor((a->hi - a->lo) / a->step + 0.5) + 1;
}

double axis_tick(const axis *a, int i) {
    return a->lo + i * a->step;
}

void axis_label(GString *page, const axis *a, double value) {
    char digits[KIT_NUMBER_MAX], format[16];
    double size = fmax(fabs(a->lo), fabs(a->hi));
    if (size >= 1e15 || a->decimals > 6) {
        g_string_append(page, g_ascii_formatd(digits, sizeof digits, "%.4g", value));
    } else if (a->decimals == 0) {
        g_string_append(page, kit_format_int(digits, llround(value), KIT_GROUP));
    } else {
        g_snprintf(format, sizeof format, "%%.%df", a->decimals);
        double clean = fabs(value) < a->step / 2 ? 0 : value; /* no "-0.0" */
        g_string_append(page, g_ascii_formatd(digits, sizeof digits, format, clean));
    }
}

double axis_place(const axis *a, double value) {
    return (value - a->lo) / (a->hi - a->lo);
}
