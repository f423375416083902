/* SPDX-License-Identifier: Apache-2.0 */
/* Every version of the fast scanner's primitives against a loop that is obviously right: all
 * bytes, lengths and places. Plain C without GLib, so that it is also built for other processors
 * and run by an emulator. */
#include "simd_version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simd.h"

#define LONGEST 80 /* more than two steps of the widest version */
#define PLACES 64  /* of the first byte */

static char *memory; /* a page behind which nothing may be read */
static size_t page;

/* The last `length` bytes that a primitive may be given: it may look SIMD_BEYOND bytes further. */
static char *last_bytes(size_t length) {
    return memory + page - SIMD_BEYOND - length;
}

static void expect(bool right, const char *what, const char *text, size_t length) {
    if (right)
        return;
    printf("Bail out! %s:", what);
    for (size_t i = 0; i < length; i++)
        printf(" %02x", (uint8_t)text[i]);
    printf("\n");
    exit(1);
}

/* ---------------------------------------------------------------- ends of strings */

static const char *naive_end(const char *p, bool plain) {
    while (*p != '"' && *p != '\\' && *p != '\0' &&
           !(plain && ((uint8_t)*p < 0x20 || (uint8_t)*p >= 0x80)))
        p++;
    return p;
}

static void check_ends(const simd_version *v, const char *text, const char *stop) {
    size_t length = (size_t)(stop - text) + 1;
    expect(v->plain_end(text) == naive_end(text, true), "plain_end", text, length);
    expect(v->string_end(text) == naive_end(text, false), "string_end", text, length);
    expect(v->blanks_end(text) == text + strspn(text, " \t\n\r"), "blanks_end", text, length);
}

/* Each byte at each distance, before others that would end the search too. */
static void test_ends(const simd_version *v) {
    static const char fillers[] = {'a', ' ', '!', '#', '[', ']', 0x7f};
    for (size_t place = 0; place < PLACES; place++)
        for (size_t distance = 0; distance < LONGEST; distance++) {
            char *text = last_bytes(LONGEST + 2 + place);
            for (size_t i = 0; i < distance; i++)
                text[i] = fillers[(i + place) % sizeof fillers];
            memcpy(text + distance + 1, "\"", 2);
            for (int byte = 0; byte < 256; byte++) {
                text[distance] = (char)byte;
                check_ends(v, text, text + distance + 1);
            }
        }
}

/* Blanks of all kinds, and each byte behind them. */
static void test_blanks(const simd_version *v) {
    for (size_t place = 0; place < PLACES; place++)
        for (size_t distance = 0; distance < LONGEST; distance++) {
            char *text = last_bytes(LONGEST + 2 + place);
            for (size_t i = 0; i < distance; i++)
                text[i] = " \t\n\r"[(i * 7 + place) % 4];
            memcpy(text + distance + 1, "\"", 2);
            for (int byte = 0; byte < 256; byte++) {
                text[distance] = (char)byte;
                check_ends(v, text, text + distance + 1);
            }
        }
}

/* The end at the last byte that may be read on purpose. */
static void test_bounds(const simd_version *v) {
    memset(memory, 'a', page);
    for (size_t length = 1; length <= LONGEST; length++) {
        char *text = last_bytes(length);
        text[length - 1] = '"';
        check_ends(v, text, text + length - 1);
        text[length - 1] = '7';
        uint64_t value;
        expect(v->digits(text + length - 1, &value) == 1 && value == 7, "digits", text, length);
        text[length - 1] = 'a';
    }
    memset(memory, 0, page);
}

/* ---------------------------------------------------------------- equal bytes */

static void test_same(const simd_version *v) {
    for (size_t place = 0; place < PLACES; place++)
        for (unsigned length = 1; length <= 32; length++) {
            char *text = last_bytes(length + place);
            uint8_t other[32];
            for (unsigned i = 0; i < 32; i++) {
                text[i] = (char)(i * 37 + place * 11);
                other[i] = (uint8_t)text[i];
            }
            expect(v->same(text, other, length), "same", text, length);
            for (unsigned i = 0; i < 32; i++)
                for (unsigned bit = 1; bit < 256; bit <<= 1) {
                    other[i] ^= (uint8_t)bit;
                    expect(v->same(text, other, length) == (i >= length), "same", text, length);
                    other[i] ^= (uint8_t)bit;
                }
        }
}

/* ---------------------------------------------------------------- digits */

static void check_digits(const simd_version *v, const char *text) {
    unsigned n = 0;
    uint64_t right = 0, value;
    for (; n < 16 && text[n] >= '0' && text[n] <= '9'; n++)
        right = 10 * right + (uint64_t)(text[n] - '0');
    expect(v->digits(text, &value) == n && value == right, "digits", text, 24);
}

/* All lengths, with each byte behind the digits. */
static void test_digits(const simd_version *v) {
    static const char digits[] = "98765432109876543210";
    for (size_t place = 0; place < PLACES; place++)
        for (size_t length = 0; length < sizeof digits; length++)
            for (int byte = 0; byte < 256; byte++) {
                char *text = last_bytes(24 + place);
                memcpy(text, digits, length);
                memset(text + length, byte, 24 - length);
                check_digits(v, text);
                memset(text + length + 1, '9', 23 - length);
                check_digits(v, text);
            }
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Bytes close to what ends a search, close to digits, and with the highest bit. */
static void test_random(const simd_version *v) {
    static const char bytes[] = "0123456789/:\"!#\\[]a \x1f\x7f\x80\xb0\xb9\xdc\xa2\xff";
    uint64_t state = 1;
    for (int round = 0; round < 200000; round++) {
        char *text = last_bytes(PLACES + LONGEST) + next_random(&state) % PLACES;
        size_t most = 1 + next_random(&state) % (sizeof bytes); /* few digits, or all bytes */
        for (size_t i = 0; i < LONGEST - 1; i++)
            text[i] = bytes[next_random(&state) % most];
        text[LONGEST - 1] = '\0';
        check_ends(v, text, text + LONGEST - 1);
        check_digits(v, text);
    }
}

/* ---------------------------------------------------------------- all */

static const simd_version *const versions[] = {
#if defined __x86_64__
    &simd_avx2,
    &simd_sse2,
#elif defined __aarch64__
    &simd_neon,
#endif
    &simd_scalar,
};

static bool can_run(const simd_version *v) {
#if defined __x86_64__
    return v != &simd_avx2 || __builtin_cpu_supports("avx2");
#else
    return v != NULL;
#endif
}

int main(void) {
    static const struct {
        const char *name;
        void (*test)(const simd_version *v);
    } tests[] = {
        {"ends", test_ends},     {"bounds", test_bounds}, {"same", test_same},
        {"blanks", test_blanks}, {"digits", test_digits}, {"random", test_random},
    };
    size_t n_versions = sizeof versions / sizeof versions[0], n = sizeof tests / sizeof tests[0];
    page = (size_t)sysconf(_SC_PAGESIZE);
    memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE) != 0) {
        printf("Bail out! no memory\n");
        return 1;
    }
    printf("1..%zu\n", n_versions * n);
    for (size_t i = 0; i < n_versions * n; i++) {
        const simd_version *v = versions[i / n];
        if (can_run(v))
            tests[i % n].test(v);
        printf("ok %zu - %s/%s%s\n", i + 1, v->name, tests[i % n].name,
               can_run(v) ? "" : " # SKIP this processor lacks it");
    }
    return 0;
}
