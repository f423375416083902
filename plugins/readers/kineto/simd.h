/* SPDX-License-Identifier: Apache-2.0 */
/* The few things that the fast scanner does with many bytes at a time. The including file says for
 * which instructions: SIMD_AVX2, SIMD_SSE2, SIMD_NEON or SIMD_SCALAR. All give the same results.
 * They may read up to SIMD_BEYOND bytes past what they are asked for. */
#ifndef KINETO_SIMD_H
#define KINETO_SIMD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SIMD_BEYOND 64

/* simd_same: do the first `length` bytes at p, 1 or more, but only 32 of them, equal those of text,
 * which has 32?
 * simd_plain_end: the first byte from p on that is '"', '\\', a control byte (NUL ends every text)
 * or no ASCII. simd_string_end: the first byte from p on that is '"', '\\' or NUL.
 * simd_blanks_end: the first byte from p on that is none of the four blanks of JSON. */

#if defined SIMD_AVX2
#include <immintrin.h>

static inline bool simd_same(const char *p, const uint8_t *text, unsigned length) {
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)p);
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)text);
    uint32_t differ = ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b));
    return _bzhi_u32(differ, length) == 0;
}

static inline const char *simd_plain_end(const char *p) {
    for (;; p += 32) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
        __m256i quote = _mm256_cmpeq_epi8(v, _mm256_set1_epi8('"'));
        __m256i slash = _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\\'));
        __m256i odd = _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), v); /* signed: 0x80 and up too */
        uint32_t hit =
            (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(quote, slash), odd));
        if (hit)
            return p + __builtin_ctz(hit);
    }
}

static inline const char *simd_string_end(const char *p) {
    for (;; p += 32) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
        __m256i quote = _mm256_cmpeq_epi8(v, _mm256_set1_epi8('"'));
        __m256i slash = _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\\'));
        __m256i nul = _mm256_cmpeq_epi8(v, _mm256_setzero_si256());
        uint32_t hit =
            (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(_mm256_or_si256(quote, slash), nul));
        if (hit)
            return p + __builtin_ctz(hit);
    }
}

static inline const char *simd_blanks_end(const char *p) {
    /* By its low half, what a byte must be to be a blank. */
    const __m256i blank = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0));
    for (;; p += 32) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
        __m256i same = _mm256_cmpeq_epi8(v, _mm256_shuffle_epi8(blank, v));
        uint32_t other = ~(uint32_t)_mm256_movemask_epi8(same);
        if (other)
            return p + __builtin_ctz(other);
    }
}

#elif defined SIMD_SSE2
#include <emmintrin.h>

static inline uint32_t simd_equal16(const char *p, const uint8_t *text) {
    __m128i a = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i b = _mm_loadu_si128((const __m128i *)(const void *)text);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b));
}

static inline bool simd_same(const char *p, const uint8_t *text, unsigned length) {
    uint32_t differ = ~(simd_equal16(p, text) | simd_equal16(p + 16, text + 16) << 16);
    return length < 32 ? differ << (32 - length) == 0 : differ == 0;
}

static inline const char *simd_plain_end(const char *p) {
    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
        __m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
        __m128i odd = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20));
        uint32_t hit = (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), odd));
        if (hit)
            return p + __builtin_ctz(hit);
    }
}

static inline const char *simd_string_end(const char *p) {
    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
        __m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
        __m128i nul = _mm_cmpeq_epi8(v, _mm_setzero_si128());
        uint32_t hit = (uint32_t)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), nul));
        if (hit)
            return p + __builtin_ctz(hit);
    }
}

static inline const char *simd_blanks_end(const char *p) {
    for (;; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i in_line = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8(' ')),
                                       _mm_cmpeq_epi8(v, _mm_set1_epi8('\t')));
        __m128i line_end = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('\n')),
                                        _mm_cmpeq_epi8(v, _mm_set1_epi8('\r')));
        uint32_t other = ~(uint32_t)_mm_movemask_epi8(_mm_or_si128(in_line, line_end)) & 0xffff;
        if (other)
            return p + __builtin_ctz(other);
    }
}

#elif defined SIMD_NEON
#include <arm_neon.h>

/* Four bits a byte: NEON has no movemask, but narrowing by four comes close. */
static inline uint64_t simd_nibbles(uint8x16_t hit) {
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(hit), 4)), 0);
}

static inline bool simd_same16(const char *p, const uint8_t *text, unsigned length) {
    uint8x16_t a = vld1q_u8((const uint8_t *)p), b = vld1q_u8(text);
    uint64_t differ = ~simd_nibbles(vceqq_u8(a, b));
    return length == 0 || differ << (64 - 4 * length) == 0;
}

static inline bool simd_same(const char *p, const uint8_t *text, unsigned length) {
    unsigned low = length < 16 ? length : 16, high = length < 32 ? length - low : 16;
    return simd_same16(p, text, low) && simd_same16(p + 16, text + 16, high);
}

static inline const char *simd_plain_end(const char *p) {
    for (;; p += 16) {
        uint8x16_t v = vld1q_u8((const uint8_t *)p);
        uint8x16_t odd = vcltq_s8(vreinterpretq_s8_u8(v), vdupq_n_s8(0x20));
        uint8x16_t stop = vorrq_u8(vceqq_u8(v, vdupq_n_u8('"')), vceqq_u8(v, vdupq_n_u8('\\')));
        uint64_t hit = simd_nibbles(vorrq_u8(stop, odd));
        if (hit)
            return p + (__builtin_ctzll(hit) >> 2);
    }
}

static inline const char *simd_string_end(const char *p) {
    for (;; p += 16) {
        uint8x16_t v = vld1q_u8((const uint8_t *)p);
        uint8x16_t stop = vorrq_u8(vceqq_u8(v, vdupq_n_u8('"')), vceqq_u8(v, vdupq_n_u8('\\')));
        uint64_t hit = simd_nibbles(vorrq_u8(stop, vceqzq_u8(v)));
        if (hit)
            return p + (__builtin_ctzll(hit) >> 2);
    }
}

static inline const char *simd_blanks_end(const char *p) {
    for (;; p += 16) {
        uint8x16_t v = vld1q_u8((const uint8_t *)p);
        uint8x16_t in_line = vorrq_u8(vceqq_u8(v, vdupq_n_u8(' ')), vceqq_u8(v, vdupq_n_u8('\t')));
        uint8x16_t line_end =
            vorrq_u8(vceqq_u8(v, vdupq_n_u8('\n')), vceqq_u8(v, vdupq_n_u8('\r')));
        uint64_t other = ~simd_nibbles(vorrq_u8(in_line, line_end));
        if (other)
            return p + (__builtin_ctzll(other) >> 2);
    }
}

#else /* SIMD_SCALAR */

static inline bool simd_same(const char *p, const uint8_t *text, unsigned length) {
    return memcmp(p, text, length < 32 ? length : 32) == 0;
}

static inline const char *simd_plain_end(const char *p) {
    while ((signed char)*p >= 0x20 && *p != '"' && *p != '\\')
        p++;
    return p;
}

static inline const char *simd_string_end(const char *p) {
    while (*p != '\0' && *p != '"' && *p != '\\')
        p++;
    return p;
}

static inline const char *simd_blanks_end(const char *p) {
    while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')
        p++;
    return p;
}

#endif

/* ---------------------------------------------------------------- digits */

/* How many digits stand at `at`, of at most 16, and their value. */
static inline unsigned simd_digits(const char *at, uint64_t *ret_value) {
#if defined SIMD_AVX2
    /* Digits to the right end of the register, then neighbours are joined: to two of decimal
     * digits, four, eight. Left of the first digit the window holds what makes zeros. */
    static const uint8_t window[32] = {128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
                                       128, 128, 128, 128, 128, 0,   1,   2,   3,   4,   5,
                                       6,   7,   8,   9,   10,  11,  12,  13,  14,  15};
    __m128i v =
        _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(const void *)at), _mm_set1_epi8('0'));
    __m128i digit = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(9)), v);
    unsigned n = (unsigned)__builtin_ctz(~(uint32_t)_mm_movemask_epi8(digit));
    v = _mm_shuffle_epi8(v, _mm_loadu_si128((const __m128i *)(const void *)(window + n)));
    v = _mm_maddubs_epi16(v, _mm_set1_epi16(10 + (1 << 8)));
    v = _mm_madd_epi16(v, _mm_set1_epi32(100 + (1 << 16)));
    v = _mm_packus_epi32(v, v);
    v = _mm_madd_epi16(v, _mm_set1_epi32(10000 + (1 << 16)));
    uint64_t halves = (uint64_t)_mm_cvtsi128_si64(v);
    uint64_t value = (halves & UINT32_MAX) * 100000000 + (halves >> 32);
#elif defined SIMD_SCALAR || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    unsigned n = 0;
    uint64_t value = 0;
    for (; n < 16 && at[n] >= '0' && at[n] <= '9'; n++)
        value = 10 * value + (uint64_t)(at[n] - '0');
#else
    static const uint64_t powers[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    unsigned n = 0, part;
    uint64_t value = 0;
    do { /* eight bytes at a time: the first that is no digit, then the digits before it at once */
        uint64_t word;
        memcpy(&word, at + n, 8);
        word ^= UINT64_C(0x3030303030303030);
        uint64_t over =
            ((word + UINT64_C(0x7676767676767676)) | word) & UINT64_C(0x8080808080808080);
        part = over ? (unsigned)__builtin_ctzll(over) >> 3 : 8;
        if (part == 0)
            break;
        word <<= 8 * (8 - part);
        word = word * 10 + (word >> 8);
        word = ((word & UINT64_C(0xff000000ff)) * UINT64_C(0xf424000000064) +
                (word >> 16 & UINT64_C(0xff000000ff)) * UINT64_C(0x271000000001)) >>
               32;
        value = value * powers[part] + word;
        n += part;
    } while (part == 8 && n < 16);
#endif
    *ret_value = value;
    return n;
}

/* The first n (1 to 8) bytes as one word, another one for any other text without NUL. */
static inline uint64_t simd_key(const char *text, unsigned n) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return word << (64 - 8 * n);
#else
    return word >> (64 - 8 * n);
#endif
}

#endif
