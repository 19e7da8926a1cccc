/* Covers inspect/cdp_session, taken, remote and evaluate: what the Console and its objects are of
 * the heap of tests/golden/program, whose source says what must be there; and the session as the
 * process that the server asks. What live processes have is tested by golden:live, and the protocol
 * by test_hub. */
#include "unit.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inspect/cdp_session.h"
#include "inspect/inspect_json.h"
#include "inspect/remote.h"

static struct session session;

static void say_nothing(const char *line)
{
    (void)line;
}

static const char *const inputs[] = {"tests/golden/inputs/go1.27-dwarf.1.dump.gz",
                                     "tests/golden/inputs/go1.27-dwarf.2.dump.gz"};
static const struct session_options options = {
    .taken = {.exe = "tests/golden/inputs/go1.27-dwarf.exe.gz", .threads = 1},
    .inputs = inputs,
    .input_count = 2,
    .title = "program",
    .path = "/program",
    .say = say_nothing};

FIXTURE(set_up)
{
    const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    session.options = &options;
    session.count = 1;
    assert_no_error(session_take(&session, NULL, fd));
    assert_no_error(taken_need_iterators(&session.taken));
    close(fd);
}

FIXTURE(tear_down)
{
    taken_deinit(&session.taken);
    g2h_identity_destroy(session.identity);
    string_pool_deinit(&session.scripts.files);
    text_deinit(&session.lines);
}

/* ---- values ---- */

/* Gets the value of an expression: a checked result of Runtime.evaluate, in text. */
static struct json_value evaluated(const char *expression, unsigned flags, struct text *text)
{
    struct channel_evaluate asks = {.flags = flags};
    struct json_value all;
    asks.inspected[0] = taken_id(&session.taken, 1567);
    text->size = 0;
    assert_no_error(evaluate(&session.taken, &asks, expression, text));
    assert_true(json_read(text->data, text->size, &all));
    const struct json_value result = json_member(all, "result");
    assert_true(result.size > 0);
    return result;
}

/* Returns what the Console shows of a RemoteObject: its description, or its value. */
static const char *shown(struct json_value remote)
{
    static struct text text;
    text.size = 0;
    const struct json_value description = json_member(remote, "description"),
                            value = json_member(remote, "value");
    if (!json_text(description, &text) && !json_text(value, &text))
        text_append(&text, value.data, value.size);
    text_append(&text, "", 1);
    return text.data;
}

TEST(expressions)
{
    static const struct {
        const char *expression, *shown;
    } cases[] = {
        {"main.aServer.name", "a"},
        {" main.aServer. ", "main.aServer is followed by a dot without a name"},
        {"(main.aServer).name", "a"},
        {"*main.aServer", "{name: \"a\", mutex: {…}, jobs: len 3 cap 3}"},
        {"main.aServer.jobs", "chan *main.job len 3 cap 3"},
        {"main.bServer", "main.server"},
        {"main.aPanic.name", "what is panicked with"},
        {"main.never", "chan bool len 0 cap 0"},
        {"main", "package main"},
        {"main.aCache.byFloat", "map[float64]string 2 entries"},
        {"main.aCache.byFloat[0.5]", "half"},
        {"main.aCache.byFloat[-1e+300]", "small"},
        {"main.aCache.byBool[true].name", "yes"},
        {"main.aCache.byBool[false].name", "no"},
        {"main.aCache.inline[-2]", "minus two"},
        {"main.aCache.inline[2]", "no entry 2 in main.aCache.inline (2 entries: 1, -2)"},
        {"main.aCache.nested[\"outer\"][\"inner\"][1].name", "twice"},
        {"len(main.aCache.byName)", "100"},
        {"len(main.aServer.name)", "1"},
        {"retained(main.aCache.byName)", "6464"},
        {"retained(main.aCache)", "it is not an object, so it retains nothing"},
        {"instances(\"main.job\")", "9 × main.job"},
        {"instances(\"main.job\")[0]", "main.job"},
        {"instances(\"main.job\")[100]", "there is no 100 in it"},
        {"instances(\"main.none\")", "no object is of class main.none"},
        {"goroutines()", "26 × goroutine"},
        {"goroutine 1", "goroutine 1 [dumping heap] main.dump main.go:37 ← main.main"},
        {"goroutine 1 · none", "there is no none in it"},
        {"goroutine 99", "there is no goroutine 99"},
        {"$0", "main.job"},
        {"$1", "$1: select a row of the newest snapshot in Memory first"},
        {"main.aCache[\"byFloat\"]", "main.aCache is not a map"},
        {"main.aServer.jobs[0]", "main.aServer.jobs has fields, not elements"},
        {"main.group",
         "main.group is not in the dump: Go writes only variables that may have pointers in them"},
        {"cap(main.aServer.jobs)",
         "cap is not a function; there are len, retained, instances and goroutines"},
        {"(main.aServer", "expected ) before ''"},
        {"\"x\"", "unexpected '\"x\"'"},
        {"0xc000012345", "0xc000012345 is in no object"},
        {"this", ""},
        {"", ""},
        {"typeof x", ""},
    };
    struct text text = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *own = shown(evaluated(cases[i].expression, 0, &text));
        if (strcmp(own, cases[i].shown) != 0)
            fail_msg("%s: %s is not %s", cases[i].expression, own, cases[i].shown);
    }
    /* DevTools writes the class before the parts of an object. */
    static const char *const classes[][2] = {{"$0", "main.job"},
                                             {"main.aCache.byFloat", "map[float64]string"}};
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
        struct text class = {0};
        assert_true(
            json_text(json_member(evaluated(classes[i][0], 0, &text), "className"), &class));
        text_append(&class, "", 1);
        assert_string_equal(class.data, classes[i][1]);
        text_deinit(&class);
    }
    char deep[100];
    memset(deep, '(', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_string_equal(json_member(evaluated(deep, 0, &text), "subtype").data ? "error" : "",
                        "error");
    /* While the user types nothing is said to be wrong. */
    assert_null(memmem(text.data, text.size, "\"value\"", 7));
    text_deinit(&text);
}

/* ---- properties ---- */

/* Gets the properties of an expression's value, as Runtime.getProperties has them. */
static struct json_value properties_of(const char *expression, struct text *text)
{
    static struct remote_place place;
    struct text id = {0};
    struct json_value all;
    bool is_old;
    assert_true(json_text(json_member(evaluated(expression, 0, text), "objectId"), &id));
    text_append(&id, "", 1);
    assert_true(place_read(&session.taken, id.data, &place, &is_old));
    assert_false(is_old);
    text->size = 0;
    assert_no_error(properties_write(&session.taken, &place, text));
    assert_true(json_read(text->data, text->size, &all));
    text_deinit(&id);
    return json_member(all, "result");
}

/* Appends "name: what it is" of each property, a line each. */
static void list_properties(const char *expression, struct text *ret)
{
    struct text text = {0};
    struct json_value list = properties_of(expression, &text), left, value;
    ret->size = 0;
    assert_true(list.size > 2 && *list.data == '[');
    /* An object with the property as its only member. */
    for (size_t at = 1; at < list.size && list.data[at] == '{'; at += 2) { /* and the comma */
        int depth = 0;
        bool in_string = false;
        const size_t first = at;
        for (; at < list.size; at++) {
            const char c = list.data[at];
            if (in_string && c == '\\')
                at++;
            else if (c == '"')
                in_string = !in_string;
            else if (!in_string && (c == '{' || c == '}') && (depth += c == '{' ? 1 : -1) == 0)
                break;
        }
        assert_true(json_read(list.data + first, at + 1 - first, &left));
        assert_true(json_text(json_member(left, "name"), ret));
        value = json_member(left, "value");
        text_printf(ret, ": %s\n", shown(value));
    }
    text_append(ret, "", 1);
    text_deinit(&text);
}

TEST(properties)
{
    static const struct {
        const char *expression, *lines;
    } cases[] = {
        {"main.aServer", "name: a\nmutex: {mu: {…}}\njobs: chan *main.job len 3 cap 3\n"},
        {"main.aCache.byFloat", "0.5: half\n-1e+300: small\n"},
        {"main.aCache.inline", "1: one\n-2: minus two\n"},
        {"main.aCache.byBool[true]", "name: yes\nnext: nil\n"},
        {"instances(\"main.server\")", "0: main.server\n1: main.server\n"},
        {"main.aCache.nested[\"outer\"][\"inner\"]", "0: main.item\n1: main.item\n"},
    };
    struct text lines = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        list_properties(cases[i].expression, &lines);
        if (strcmp(lines.data, cases[i].lines) != 0)
            fail_msg("%s: %s", cases[i].expression, lines.data);
    }
    static const char *const parts[][2] = {
        {"main", "aServer: "}, {"goroutines()", "1: goroutine 1 "}, {"goroutine 1", "main.main"}};
    for (size_t i = 0; i < 3; i++) {
        list_properties(parts[i][0], &lines);
        if (!strstr(lines.data, parts[i][1]))
            fail_msg("%s: %s", parts[i][0], lines.data);
    }
    text_deinit(&lines);
}

/* ---- places ---- */

TEST(places_of_others)
{
    static const char *const bad[] = {"",
                                      "n",
                                      "n:1",
                                      "n:1:x:0:0:0:",
                                      "z:1:0:0:0:0:",
                                      "n:1:99999999:0:0:0:",
                                      "v:1:0:0:0:99:main.aServer",
                                      "v:1:0:0:0:4294967295:",
                                      "o:1:-1:0:0:0:",
                                      "s:1:0:18446744073709551616:0:0:"};
    static struct remote_place place;
    bool is_old;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        if (place_read(&session.taken, bad[i], &place, &is_old))
            fail_msg("%s is a place", bad[i]);
        assert_false(is_old);
    }
    (void)place_read(&session.taken, "g:2:0:0:0:0:", &place, &is_old);
    assert_true(is_old);
    assert_true(place_read(&session.taken, "g:1:0:0:0:0:", &place, &is_old));
    assert_int_equal(place.kind, PLACE_GOROUTINES);
}

/* ---- the session as a process ---- */

static int channel;

/* Receives a message of the session. Returns its kind; the body gets a zero at its end. */
static enum channel_kind receive(uint32_t number, struct text *body)
{
    struct channel_head head;
    assert_int_equal(recv(channel, &head, sizeof(head), MSG_WAITALL), sizeof(head));
    assert_int_equal(head.number, number);
    assert_true(head.size <= CHANNEL_MOST);
    body->size = 0;
    assert_true(text_grow(body, head.size + 1));
    if (head.size > 0)
        assert_int_equal(recv(channel, body->data, head.size, MSG_WAITALL), head.size);
    body->size = head.size;
    body->data[body->size] = '\0';
    return (enum channel_kind)head.kind;
}

/* Asks the session, and expects a kind of answer that has words in it. */
static void ask(enum channel_kind kind, const char *asked, enum channel_kind answered,
                const char *words)
{
    struct text text = {0}, body = {0};
    const struct channel_evaluate head = {.flags = 0};
    if (kind == CHANNEL_EVALUATE)
        text_append(&text, (const char *)&head, sizeof(head));
    text_append_string(&text, asked);
    assert_true(channel_send(channel, kind, 5, text.data, text.size));
    const enum channel_kind own = receive(5, &body);
    if (own != answered || !strstr(body.data, words))
        fail_msg("%s: %s", asked, body.data);
    text_deinit(&text);
    text_deinit(&body);
}

/* Takes a snapshot from the session, which must have an object of a class that the heap has. */
static void take_snapshot(uint32_t number, const char *class)
{
    struct text body = {0}, snapshot = {0};
    enum channel_kind kind;
    unsigned percent = 0;
    assert_true(channel_send(channel, CHANNEL_TAKE, number, NULL, 0));
    while ((kind = receive(number, &body)) == CHANNEL_PROGRESS) {
        assert_int_equal(body.size, 1);
        assert_true((unsigned char)*body.data >= percent);
        percent = (unsigned char)*body.data;
    }
    assert_int_equal(kind, CHANNEL_READY);
    do {
        assert_true(channel_send(channel, CHANNEL_MORE, number, NULL, 0));
        kind = receive(number, &body);
        text_append(&snapshot, body.data, body.size);
    } while (kind == CHANNEL_ANSWER);
    assert_int_equal(kind, CHANNEL_END);
    text_append(&snapshot, "", 1);
    assert_memory_equal(snapshot.data, "{\"snapshot\":", 12);
    assert_non_null(strstr(snapshot.data, class));
    text_deinit(&body);
    text_deinit(&snapshot);
}

TEST(a_process_with_heaps)
{
    int sockets[2], status;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        close(sockets[0]);
        session_run(&options, sockets[1]);
    }
    close(sockets[1]);
    channel = sockets[0];
    ask(CHANNEL_TARGET, "", CHANNEL_ANSWER, "\"title\":\"program\",\"url\":\"file:///program\"");
    ask(CHANNEL_EVALUATE, "main.aServer.name", CHANNEL_ANSWER, "there is no snapshot yet");
    ask(CHANNEL_OBJECT, "1", CHANNEL_ERROR, "there is no snapshot yet");
    ask(CHANNEL_PROPERTIES, "g:1:0:0:0:0:", CHANNEL_ERROR, "there is no snapshot yet");
    take_snapshot(7, "\"main.server\"");
    ask(CHANNEL_EVALUATE, "main.aServer.name", CHANNEL_ANSWER, "\"value\":\"a\"");
    ask(CHANNEL_EVALUATE, "", CHANNEL_ANSWER, "undefined");
    ask(CHANNEL_LINES, "", CHANNEL_ANSWER, "snapshot 1; ");
    ask(CHANNEL_SCRIPTS, "", CHANNEL_ANSWER, "goroutines.go");
    ask(CHANNEL_SOURCE, "100000", CHANNEL_ERROR, "there is no such file");
    ask(CHANNEL_USAGE, "", CHANNEL_ERROR, "not known");
    ask(CHANNEL_PROPERTIES, "g:1:0:0:0:0:", CHANNEL_ANSWER, "goroutine 1 [dumping heap]");
    ask(CHANNEL_PROPERTIES, "g:2:0:0:0:0:", CHANNEL_ERROR, "this is of an earlier snapshot");
    ask(CHANNEL_PROPERTIES, "g", CHANNEL_ERROR, "no objectId");
    ask(CHANNEL_OBJECT, "x", CHANNEL_ERROR, "no id");
    ask(CHANNEL_OBJECT, "2", CHANNEL_ERROR, "the newest snapshot has no such object");
    ask(CHANNEL_HEAP_ID, "g:1:0:0:0:0:", CHANNEL_ERROR, "it is not a node of the snapshot");
    ask((enum channel_kind)50, "", CHANNEL_ERROR, "no request");
    take_snapshot(9, "\"main.server\""); /* of the second dump, by another process */
    ask(CHANNEL_LINES, "", CHANNEL_ANSWER, "were there before");
    ask(CHANNEL_PROPERTIES, "g:1:0:0:0:0:", CHANNEL_ERROR, "this is of an earlier snapshot");
    close(channel);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

UNIT_MAIN_ONCE(set_up, tear_down)
