/*
 * target_mcp: an input is what a client of --mcp sends, message after message, a line each. They
 * are answered from one heap of the corpus, with types and with values.
 *
 * Whatever comes, an answer must be one line of JSON in UTF-8 with an id and a result or an error;
 * that of a tool no larger than the client may ask for, which must be JSON unless it is an error.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "corpus_heap.h"
#include "inspect/http.h"
#include "inspect/inspect_json.h"
#include "mcp/mcp.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct corpus_heap corpus; /* all inputs are about it */
static struct answers *answers;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    corpus_heap_open(&corpus);
    const struct answers_options options = {.view = corpus.conversion.view,
                                            .input = corpus.input,
                                            .source = "fuzz",
                                            .threads = 1,
                                            .has_values = true};
    must(answers_create(&options, &answers));
    return 0;
}

static struct answers *await(void *context)
{
    (void)context;
    return answers;
}

/* Checks what a tool has said. */
static void check_content(struct json_value result)
{
    struct json_value content = json_member(result, "content"), said;
    struct text text = {0};
    if (content.size == 0)
        return;
    CHECK(content.size > 2);
    const struct json_value first = {content.data + 1, content.size - 2}; /* the list's only one */
    CHECK(json_text(json_member(first, "text"), &text) && !text.failed);
    const bool is_error = json_is_true(json_member(result, "isError"));
    CHECK(is_error || (text.size <= 100000 && json_read(text.data, text.size, &said)));
    text_deinit(&text);
}

static void check_answer(const struct text *answer)
{
    struct json_value value;
    if (answer->size == 0)
        return;
    CHECK(!answer->failed && answer->data[answer->size - 1] == '\n');
    CHECK(!memchr(answer->data, '\n', answer->size - 1));
    CHECK(websocket_is_utf8(answer->data, answer->size));
    CHECK(json_read(answer->data, answer->size, &value));
    const struct json_value result = json_member(value, "result"),
                            error = json_member(value, "error");
    CHECK(json_member(value, "id").size > 0 && (result.size > 0) != (error.size > 0));
    check_content(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct mcp_settings settings = {.has_values = true};
    struct protocol protocol = {.settings = &settings, .await = await};
    struct lines lines = {.fd = -1};
    struct text answer = {0};
    char path[FUZZ_PATH];
    enum lines_state state = LINES_READ;
    lines.fd = fuzz_file(data, size, path);
    CHECK(lseek(lines.fd, 0, SEEK_SET) == 0);
    for (; state != LINES_END; answer.size = 0) {
        must(lines_read(&lines, &state));
        if (state == LINES_READ)
            protocol_answer(&protocol, lines.line, lines.size, &answer);
        else if (state == LINES_TOO_LONG)
            protocol_refuse_long(&answer);
        check_answer(&answer);
    }
    close(lines.fd);
    lines_deinit(&lines);
    text_deinit(&answer);
    return 0;
}
