/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text in plain C: finds where values end, without recursion and without copying. */
#include "json.h"

#include <string.h>
#include <strings.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool is_token(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
}

json_status json_blanks(json *j) {
    while (j->at < j->end && is_blank(*j->at))
        j->at++;
    return j->at < j->end ? JSON_OK : JSON_MORE;
}

bool json_is(json_value value, const char *text) {
    return value.length == strlen(text) && !memcmp(value.at, text, value.length);
}

/* The cursor stands at the opening quote. Raw control bytes are let through: writers leave them. */
static json_status read_string(json *j, json_value *ret) {
    const char *p = j->at + 1;
    bool escaped = false;
    while (p < j->end && *p != '"') {
        if (*p == '\\') {
            escaped = true;
            p++;
        }
        p++;
    }
    if (p >= j->end)
        return JSON_MORE;
    *ret = (json_value){j->at + 1, (size_t)(p - j->at - 1), JSON_STRING, escaped};
    j->at = p + 1;
    return JSON_OK;
}

static json_kind kind_of_token(json_value token) {
    static const char *const odd[] = {"nan", "inf", "infinity"};
    size_t sign = token.length && (*token.at == '-' || *token.at == '+');
    const char *body = token.at + sign;
    size_t length = token.length - sign;
    if (length && ((*body >= '0' && *body <= '9') || *body == '.'))
        return JSON_NUMBER;
    if (json_is(token, "true") || json_is(token, "false") || json_is(token, "null"))
        return JSON_WORD;
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        if (length == strlen(odd[i]) && !strncasecmp(body, odd[i], length))
            return JSON_NOT_A_NUMBER;
    return JSON_NONE;
}

static json_status read_token(json *j, json_value *ret) {
    const char *p = j->at;
    while (p < j->end && is_token(*p))
        p++;
    if (p == j->end)
        return JSON_MORE;
    json_value token = {j->at, (size_t)(p - j->at), JSON_NONE, false};
    token.kind = kind_of_token(token);
    if (token.kind == JSON_NONE)
        return JSON_BAD;
    j->not_numbers += token.kind == JSON_NOT_A_NUMBER;
    j->at = p;
    *ret = token;
    return JSON_OK;
}

json_status json_key(json *j, bool first, json_value *ret_key) {
    json_status s = json_blanks(j);
    if (s == JSON_OK && !first && *j->at == ',') {
        j->at++;
        s = json_blanks(j);
        first = true;
    } else if (s == JSON_OK && *j->at == '}') {
        j->at++;
        return JSON_END;
    }
    if (s == JSON_OK)
        s = first && *j->at == '"' ? read_string(j, ret_key) : JSON_BAD;
    if (s == JSON_OK)
        s = json_blanks(j);
    if (s == JSON_OK && *j->at != ':')
        return JSON_BAD;
    if (s != JSON_OK)
        return s;
    j->at++;
    return json_blanks(j);
}

json_status json_element(json *j, bool first) {
    json_status s = json_blanks(j);
    if (s != JSON_OK)
        return s;
    if (*j->at == ']') {
        j->at++;
        return JSON_END;
    }
    if (first)
        return JSON_OK;
    if (*j->at != ',')
        return JSON_BAD;
    j->at++;
    return json_blanks(j);
}

/* The cursor stands at the opening bracket. One bit a level tells objects from arrays. */
static json_status read_nested(json *j, json_value *ret) {
    uint64_t is_object[JSON_DEPTH_MAX / 64];
    const char *begin = j->at;
    size_t depth = 0;
    bool first = false;
    json_value scalar;
    for (;;) {
        json_status s = JSON_OK;
        if (*j->at == '{' || *j->at == '[') {
            if (depth == JSON_DEPTH_MAX)
                return JSON_BAD;
            uint64_t *word = &is_object[depth / 64], object = *j->at == '{';
            uint64_t below = depth % 64 ? *word & ((1ull << depth % 64) - 1) : 0;
            *word = below | object << depth % 64;
            depth++;
            j->at++;
            first = true;
        } else {
            s = *j->at == '"' ? read_string(j, &scalar) : read_token(j, &scalar);
            first = false;
        }
        while (s == JSON_OK) { /* on to the next value, closing what ends before it */
            bool object = is_object[(depth - 1) / 64] >> ((depth - 1) % 64) & 1;
            s = object ? json_key(j, first, &scalar) : json_element(j, first);
            if (s != JSON_END)
                break;
            if (--depth == 0) {
                json_kind kind = *begin == '{' ? JSON_OBJECT : JSON_ARRAY;
                *ret = (json_value){begin, (size_t)(j->at - begin), kind, false};
                return JSON_OK;
            }
            first = false;
            s = JSON_OK;
        }
        if (s != JSON_OK)
            return s;
    }
}

json_status json_read(json *j, json_value *ret_value) {
    if (j->at == j->end)
        return JSON_MORE;
    if (*j->at == '"')
        return read_string(j, ret_value);
    if (*j->at == '{' || *j->at == '[')
        return read_nested(j, ret_value);
    return read_token(j, ret_value);
}

static int32_t hex4(const char *p, const char *end) {
    if (end - p < 4)
        return -1;
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

static size_t put_utf8(char *to, uint32_t c) {
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)((0xf00u >> n & 0xf0) | c);
    return n;
}

/* p stands behind a "\u". Returns the bytes of text used, 0 if they are no character. */
static size_t unescape_unicode(const char *p, const char *end, char *to, size_t *ret_n) {
    int32_t c = hex4(p, end);
    size_t used = 4;
    if (c >= 0xd800 && c < 0xdc00) {
        int32_t low = end - p >= 10 && p[4] == '\\' && p[5] == 'u' ? hex4(p + 6, end) : -1;
        if (low < 0xdc00 || low >= 0xe000)
            return 0;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        used = 10;
    }
    if (c <= 0 || (c >= 0xdc00 && c < 0xe000))
        return 0;
    *ret_n = put_utf8(to, (uint32_t)c);
    return used;
}

size_t json_unescape(json_value value, char *to, bool *ret_bad) {
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const char *p = value.at, *end = value.at + value.length;
    char *out = to;
    *ret_bad = false;
    while (p < end) {
        if (*p != '\\' || p + 1 == end) {
            *out++ = *p++;
            continue;
        }
        const char *known = memchr(from, p[1], sizeof from - 1);
        size_t written = 1, used = known ? 2 : 0;
        if (known)
            *out = into[known - from];
        else if (p[1] == 'u' && (used = unescape_unicode(p + 2, end, out, &written)))
            used += 2;
        if (!used) { /* stays as it is written */
            *ret_bad = true;
            used = written = 1;
            *out = '\\';
        }
        out += written;
        p += used;
    }
    return (size_t)(out - to);
}

bool json_utf8(const char *text, size_t length) {
    const unsigned char *p = (const unsigned char *)text, *end = p + length;
    while (p < end) {
        if (*p < 0x80) {
            p++;
            continue;
        }
        size_t n = *p >= 0xc2 && *p < 0xe0   ? 1
                   : *p >= 0xe0 && *p < 0xf0 ? 2
                   : *p >= 0xf0 && *p < 0xf5 ? 3
                                             : 0;
        if (n == 0 || (size_t)(end - p) <= n)
            return false;
        /* The second byte rules out overlong forms, surrogates, and what lies beyond U+10FFFF. */
        unsigned char low = *p == 0xe0 ? 0xa0 : *p == 0xf0 ? 0x90 : 0x80;
        unsigned char high = *p == 0xed ? 0x9f : *p == 0xf4 ? 0x8f : 0xbf;
        if (p[1] < low || p[1] > high)
            return false;
        for (size_t i = 2; i <= n; i++)
            if ((p[i] & 0xc0) != 0x80)
                return false;
        p += n + 1;
    }
    return true;
}
