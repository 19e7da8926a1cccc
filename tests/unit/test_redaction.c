/* Covers base/siphash and base/redaction: the published vectors, and what a redacted text tells. */
#include "unit.h"

#include "base/redaction.h"

/* ---- SipHash ---- */

/* vectors_sip128 of the authors' reference (github.com/veorq/SipHash): the key is 00 01 … 0f, a
 * text of n bytes 00 01 … n - 1. */
TEST(siphash_is_what_was_published)
{
    static const struct {
        size_t size;
        const char *expected;
    } vectors[] = {
        {0, "a3817f04ba25a8e66df67214c7550293"},  {1, "da87c1d86b99af44347659119b22fc45"},
        {2, "8177228da4a45dc7fca38bdef60affe4"},  {7, "a1f1ebbed8dbc153c0b84aa61ff08239"},
        {8, "3b62a9ba6258f5610f83e264f31497b4"},  {9, "264499060ad9baabc47f8b02bb6d71ed"},
        {15, "5493e99933b0a8117e08ec0f97cfc3d9"}, {16, "6ee2a4ca67b054bbfd3315bf85230577"},
        {17, "473d06e8738db89854c066c47ae47740"}, {31, "2939b0183223fafc1723de4f52c43d35"},
        {32, "7c3956ca5eeafc3e363e9d556546eb68"}, {63, "5150d1772f50834a503e069a973fbd7c"},
    };
    uint8_t key[SIPHASH_KEY], hash[SIPHASH_SIZE];
    char text[2 * SIPHASH_SIZE + 1];
    for (uint8_t i = 0; i < SIPHASH_KEY; i++)
        key[i] = i;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        /* memory of exactly that size, so that the sanitizers see a read beyond it */
        uint8_t *data = malloc(vectors[i].size + 1);
        for (size_t j = 0; j < vectors[i].size; j++)
            data[1 + j] = (uint8_t)j;
        siphash(key, data + 1, vectors[i].size, hash);
        free(data);
        for (size_t j = 0; j < SIPHASH_SIZE; j++)
            sprintf(text + 2 * j, "%02x", hash[j]);
        assert_string_equal(text, vectors[i].expected);
    }
}

/* ---- redacted texts ---- */

static const char *redacted(const uint8_t *key, const char *text, size_t size)
{
    static char results[4][REDACTED_MOST + 1];
    static unsigned next;
    struct g2h_redaction redaction;
    char *result = results[next++ % 4];
    assert_no_error(redaction_init(&redaction, key));
    result[redaction_write(&redaction, text, size, result)] = '\0';
    return result;
}

static const uint8_t key[G2H_REDACT_KEY] = "one of two keys", other_key[] = "the other one..";

/* A redacted text has this form, with as many digits of the hash as are promised. */
TEST(is_a_size_and_a_hash)
{
    const char *text = redacted(key, "1234", 4);
    assert_memory_equal(text, "(<=16 bytes, #", 14);
    assert_int_equal(strspn(text + 14, "0123456789abcdef"), 20);
    assert_string_equal(text + 34, ")");
}

/* Sizes are rounded up to 16 bytes, so smaller sizes are not told, nor whether a text is empty. */
TEST(sizes_are_rounded_up)
{
    static const struct {
        size_t size;
        const char *expected;
    } sizes[] = {
        {0, "(<=16 b"},  {1, "(<=16 b"},  {15, "(<=16 b"},
        {16, "(<=16 b"}, {17, "(<=32 b"}, {32, "(<=32 b"},
        {33, "(<=48 b"}, {64, "(<=64 b"}, {1000000, "(<=1000000 b"},
    };
    char *text = calloc(1, 1000000);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        assert_memory_equal(redacted(key, text, sizes[i].size), sizes[i].expected,
                            strlen(sizes[i].expected));
    free(text);
}

TEST(texts_are_equal_by_key_only)
{
    assert_string_equal(redacted(key, "1234", 4), redacted(key, "1234", 4));
    assert_string_not_equal(redacted(key, "1234", 4), redacted(key, "1235", 4));
    assert_string_not_equal(redacted(key, "", 0), redacted(key, "\0", 1));
    assert_string_not_equal(redacted(key, "1234", 4), redacted(other_key, "1234", 4));
}

/* Without a given key, each redaction has another one. */
TEST(keys_are_random)
{
    struct g2h_redaction one, other;
    static const struct g2h_redaction none;
    assert_no_error(redaction_init(&one, NULL));
    assert_no_error(redaction_init(&other, NULL));
    assert_memory_not_equal(one.key, other.key, SIPHASH_KEY);
    assert_memory_not_equal(one.key, none.key, SIPHASH_KEY);
    assert_memory_not_equal(one.key + SIPHASH_KEY / 2, none.key, SIPHASH_KEY / 2);
}

/* When the hash had no key, one could try all texts of four bytes. Here the test tries all texts of
 * four digits, with keys that somebody may think of. */
TEST(texts_cannot_be_tried_out)
{
    static const uint8_t zeros[SIPHASH_KEY],
        counted[SIPHASH_KEY] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const uint8_t *const guessed[] = {zeros, counted, other_key};
    struct g2h_redaction redaction;
    char secret[REDACTED_MOST], guess[REDACTED_MOST], text[8];
    assert_no_error(redaction_init(&redaction, NULL));
    const size_t size = redaction_write(&redaction, "4711", 4, secret);
    unsigned hits = 0;
    for (size_t i = 0; i < 4; i++)
        for (unsigned number = 0; number < 10000; number++) {
            struct g2h_redaction own = redaction; /* the last key is the right one */
            if (i < 3)
                assert_no_error(redaction_init(&own, guessed[i]));
            sprintf(text, "%04u", number);
            assert_int_equal(redaction_write(&own, text, 4, guess), size);
            const bool hit = memcmp(guess, secret, size) == 0;
            assert_false(hit && i < 3);
            hits += hit;
        }
    assert_int_equal(hits, 1);
}

UNIT_MAIN(NULL, NULL)
