/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the arena and of interned strings. */
#include <glib.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracemill/kit/arena.h>
#include <tracemill/kit/intern.h>

#define PIECES 50000

/* ---------------------------------------------------------------- arena */

/* Every piece is zeroed, aligned, and no other's: each is filled with its own byte, and all are
 * looked at in the end. Sizes cross those of blocks. */
static void test_pieces(void) {
    kit_arena arena = {0};
    static unsigned char *pieces[PIECES];
    static size_t sizes[PIECES];
    for (size_t i = 0; i < PIECES; i++) {
        sizes[i] = (size_t)g_test_rand_int_range(0, i % 1000 == 0 ? 200000 : 40);
        bool is_text = g_test_rand_bit();
        if (is_text) {
            g_autofree char *text = g_strnfill(sizes[i], 't');
            pieces[i] = (unsigned char *)kit_arena_text(&arena, text, sizes[i]);
            g_assert_cmpstr((char *)pieces[i], ==, text);
        } else {
            pieces[i] = kit_arena_alloc(&arena, sizes[i]);
            g_assert_cmpuint((uintptr_t)pieces[i] % alignof(max_align_t), ==, 0);
            for (size_t k = 0; k < sizes[i]; k++)
                g_assert_cmpuint(pieces[i][k], ==, 0);
        }
        memset(pieces[i], (int)(i & 0xff), sizes[i]);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            g_assert_cmpuint(pieces[i][k], ==, i & 0xff);
    kit_arena_finish(&arena);
}

static void test_arena_again(void) {
    kit_arena arena = {0};
    kit_arena_finish(&arena);
    g_assert_nonnull(kit_arena_alloc(&arena, 0));
    kit_arena_finish(&arena);
    g_assert_cmpstr(kit_arena_text(&arena, "abc", 2), ==, "ab");
    g_assert_cmpstr(kit_arena_text(&arena, NULL, 0), ==, "");
    g_assert_cmpmem(kit_arena_text(&arena, "a\0b", 3), 4, "a\0b", 4);
    kit_arena_finish(&arena);
}

static void test_alloc(void) {
    int *v = kit_alloc(1000, sizeof *v);
    for (int i = 0; i < 1000; i++)
        g_assert_cmpint(v[i], ==, 0);
    v[999] = 7;
    v = kit_realloc(v, 100000, sizeof *v);
    g_assert_cmpint(v[999], ==, 7);
    free(v);
}

static void ask_alloc(void) {
    kit_alloc(SIZE_MAX / 2, 4);
}

static void ask_realloc(void) {
    kit_realloc(NULL, SIZE_MAX / 2, 4);
}

static void ask_arena(void) {
    kit_arena arena = {0};
    kit_arena_alloc(&arena, SIZE_MAX);
}

static void ask_text(void) {
    kit_arena arena = {0};
    kit_arena_text(&arena, "", SIZE_MAX);
}

/* Asking for more than there can be ends the process with a message. */
static void test_too_much(void) {
    const char *const ways[] = {"alloc", "realloc", "arena", "text"};
    for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
        g_autofree char *path = g_strconcat("/kit/arena/too-much/subprocess/", ways[i], NULL);
        g_test_trap_subprocess(path, 0, 0);
        g_test_trap_assert_failed();
        g_test_trap_assert_stderr("*out of memory*");
    }
}

/* ---------------------------------------------------------------- interned strings */

static void test_numbers(void) {
    kit_intern *table = kit_intern_create();
    g_assert_cmpuint(kit_intern_count(table), ==, 0);
    g_assert_cmpuint(kit_intern_find(table, "a", 1, 0), ==, UINT32_MAX);
    g_assert_cmpuint(kit_intern_add(table, "a", 1, 0), ==, 0);
    g_assert_cmpuint(kit_intern_add(table, "", 0, 0), ==, 1);
    g_assert_cmpuint(kit_intern_add(table, NULL, 0, 0), ==, 1);
    g_assert_cmpuint(kit_intern_add(table, "a", 1, 5), ==, 2);
    g_assert_cmpuint(kit_intern_add(table, "a\0b", 3, 0), ==, 3);
    g_assert_cmpuint(kit_intern_add(table, "a\0c", 3, 0), ==, 4);
    g_assert_cmpuint(kit_intern_add(table, "a", 2, 0), ==, 5); /* the NUL counts */
    g_assert_cmpuint(kit_intern_add(table, "a", 1, 0), ==, 0);
    g_assert_cmpuint(kit_intern_find(table, "a", 1, 5), ==, 2);
    g_assert_cmpuint(kit_intern_find(table, "a", 1, 6), ==, UINT32_MAX);
    g_assert_cmpuint(kit_intern_count(table), ==, 6);
    g_assert_cmpuint(kit_intern_tag(table, 2), ==, 5);
    size_t length;
    const char *text = kit_intern_text(table, 4, &length);
    g_assert_cmpmem(text, length + 1, "a\0c", 4);
    g_assert_cmpstr(kit_intern_text(table, 1, NULL), ==, "");
    kit_intern_destroy(table);
    kit_intern_destroy(NULL);
}

/* Names that differ in one place only, at every length, so that a hash that skips bytes shows. */
static void make_name(GString *name, uint32_t i) {
    g_string_printf(name, "%*s%u%*s", (int)(i % 23), "", i, (int)(i % 7), "");
}

static void test_many(void) {
    const uint32_t n = 200000;
    kit_intern *table = kit_intern_create();
    g_autoptr(GString) name = g_string_new(NULL);
    for (int again = 0; again < 2; again++)
        for (uint32_t i = 0; i < n; i++) {
            make_name(name, i);
            g_assert_cmpuint(kit_intern_add(table, name->str, name->len, i & 1), ==, i);
        }
    g_assert_cmpuint(kit_intern_count(table), ==, n);
    for (uint32_t i = 0; i < n; i++) {
        make_name(name, i);
        size_t length;
        const char *text = kit_intern_text(table, i, &length);
        g_assert_cmpmem(text, length, name->str, name->len);
        g_assert_cmpuint(kit_intern_tag(table, i), ==, i & 1);
        g_assert_cmpuint(kit_intern_find(table, name->str, name->len, i & 1), ==, i);
        g_assert_cmpuint(kit_intern_find(table, name->str, name->len, 2), ==, UINT32_MAX);
    }
    kit_intern_destroy(table);
}

/* So many that some share all 32 bits of their hash (about n^2 / 2^33 pairs, whatever the hash):
 * texts that differ, then one text under tags that differ. */
static void test_collisions(void) {
    const uint32_t n = 400000;
    kit_intern *table = kit_intern_create();
    for (uint32_t i = 0; i < n; i++) {
        char text[16];
        snprintf(text, sizeof text, "kernel%08u", i);
        g_assert_cmpuint(kit_intern_add(table, text, 14, 0), ==, i);
    }
    for (uint32_t i = 0; i < n; i++)
        g_assert_cmpuint(kit_intern_add(table, "kernel", 6, i), ==, n + i);
    kit_intern_destroy(table);
}

/* All strings of up to four bytes from a small alphabet: the numbers are those of a plain list. */
static void test_short_strings(void) {
    kit_intern *table = kit_intern_create();
    uint32_t expected = 0;
    for (uint32_t bits = 0; bits < 4 * 256; bits++) {
        char text[4];
        size_t length = bits % 4 + 1;
        for (size_t k = 0; k < 4; k++)
            text[k] = "\0\001\377a"[bits / 4 >> 2 * k & 3];
        if (kit_intern_find(table, text, length, 0) == UINT32_MAX)
            g_assert_cmpuint(kit_intern_add(table, text, length, 0), ==, expected++);
    }
    g_assert_cmpuint(expected, ==, 4 + 16 + 64 + 256);
    kit_intern_destroy(table);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/kit/arena/pieces", test_pieces);
    g_test_add_func("/kit/arena/again", test_arena_again);
    g_test_add_func("/kit/arena/alloc", test_alloc);
    g_test_add_func("/kit/arena/too-much", test_too_much);
    g_test_add_func("/kit/arena/too-much/subprocess/alloc", ask_alloc);
    g_test_add_func("/kit/arena/too-much/subprocess/realloc", ask_realloc);
    g_test_add_func("/kit/arena/too-much/subprocess/arena", ask_arena);
    g_test_add_func("/kit/arena/too-much/subprocess/text", ask_text);
    g_test_add_func("/kit/intern/numbers", test_numbers);
    g_test_add_func("/kit/intern/many", test_many);
    g_test_add_func("/kit/intern/collisions", test_collisions);
    g_test_add_func("/kit/intern/short-strings", test_short_strings);
    return g_test_run();
}
