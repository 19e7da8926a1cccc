/* Covers naming/packages: import paths in names, and which of them have short names. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "naming/symbols.h"

static struct packages packages;

FIXTURE(start)
{
    packages = (struct packages){0};
}

FIXTURE(end)
{
    packages_deinit(&packages);
}

static void add(const char *path, const char *name)
{
    assert_true(packages_add(&packages, bytes_of(path), bytes_of(name)));
}

static void add_function(const char *symbol)
{
    assert_true(packages_add_function(&packages, bytes_of(symbol)));
}

static void expect(const char *name, const char *expected)
{
    struct text text = {0};
    text_append_short(&text, &packages, (const uint8_t *)name, strlen(name));
    assert_false(text.failed);
    if (text.size != strlen(expected) ||
        (text.size > 0 && memcmp(text.data, expected, text.size) != 0))
        fail_msg("%s becomes %.*s, not %s", name, (int)text.size, text.data, expected);
    text_deinit(&text);
}

TEST(paths_become_names)
{
    add("net/http", "http");
    add("gopkg.in/yaml.v3", "yaml");
    add("github.com/acme/go-store/v2", "store");
    add("main", "main");
    expect("", "");
    expect("main.T", "main.T");
    expect("net/http.conn", "http.conn");
    expect("net/http", "http");
    expect("[]*net/http.conn", "[]*http.conn");
    expect("map[net/http.key]chan *net/http.conn", "map[http.key]chan *http.conn");
    expect("func(net/http.ResponseWriter, ...net/http.Request) error",
           "func(http.ResponseWriter, ...http.Request) error");
    expect("main.Box[net/http.T,*gopkg.in/yaml.v3.Node]", "main.Box[http.T,*yaml.Node]");
    expect("func net/http.(*conn).serve-fm", "func http.(*conn).serve-fm");
    expect("net/http.HandlerFunc.ServeHTTP.func1", "http.HandlerFunc.ServeHTTP.func1");
    expect("struct { net/http.Handler; net/http.x int }", "struct { http.Handler; http.x int }");
    expect("github.com/acme/go-store/v2.Leaf", "store.Leaf");
    expect("gopkg.in/yaml.v3", "yaml");
    expect("gopkg.in/yaml.v3.(*parser).parse", "yaml.(*parser).parse");
    expect("net/http.T\xc2\xb7"
           "1",
           "http.T\xc2\xb7"
           "1");
}

TEST(what_is_no_path_stays)
{
    add("net/http", "http");
    expect("net/httptest.Server", "net/httptest.Server");
    expect("my/net/http.T", "my/net/http.T");
    expect("/net/http.T", "/net/http.T");
    expect("net/http/internal.T", "net/http/internal.T");
    expect("net/", "net/");
    expect("...", "...");
    expect("./.", "./.");
    expect("struct { A net/http.T \"json:\\\"net/http.T\\\"\" }",
           "struct { A http.T \"json:\\\"net/http.T\\\"\" }");
    expect("struct { A int \"net/http.T", "struct { A int \"net/http.T");
    expect("struct { A int \"net/http.T\\", "struct { A int \"net/http.T\\");
}

TEST(the_same_name_is_none)
{
    add("a.com/store", "store");
    expect("a.com/store.T", "store.T");
    add("b.com/go-store", "store");
    add("b.com/sync", "sync");
    expect("b.com/sync.T", "sync.T");
    add("sync", "sync");
    expect("a.com/store.T", "a.com/store.T");
    expect("b.com/go-store.T", "b.com/go-store.T");
    expect("b.com/sync.T", "b.com/sync.T");
    expect("sync.T", "sync.T");
    /* Adding a path again is no conflict, and its first name is believed. */
    add("c.com/queue", "queue");
    add("c.com/queue", "queue");
    add("c.com/queue", "store");
    expect("c.com/queue.T", "queue.T");
    /* A third package does not make the name unique again. */
    add("d.com/store", "store");
    expect("d.com/store.T", "d.com/store.T");
    /* The name that a path of one element gives itself is never shown in place of the path. */
    add("yamlv3", "yaml");
    add("x.org/yaml", "yaml");
    expect("x.org/yaml.T", "yaml.T");
    add("x.org/yamlv3", "yamlv3");
    expect("x.org/yamlv3.T", "x.org/yamlv3.T");
}

TEST(functions_have_packages)
{
    add_function("net/http.(*conn).serve");
    add_function("net/http.glob..func1");
    add_function("gopkg.in/yaml%2ev3.(*parser).parse");
    add_function("etcd.io/server/v3.New");
    add_function("etcd.io/v3.New");
    add_function("v3.New");
    add_function("slices.SortFunc[go.shape.[]a.com/b.T]");
    expect("net/http.T", "http.T");
    expect("gopkg.in/yaml.v3.Node", "yaml.Node");
    expect("etcd.io/server/v3.T", "server.T");
    expect("etcd.io/v3.T", "etcd.io.T");
    expect("a.com/b.T", "a.com/b.T");
    /* The compiler's functions, and those of C. */
    add_function("type:.eq.a.com/http.T");
    add_function("type..eq.a.com/yaml.T");
    add_function("go:struct { a.com/server.T }.Lock");
    add_function("x_cgo/http");
    add_function("");
    add_function("(*T).M");
    expect("net/http.T", "http.T");
    expect("gopkg.in/yaml.v3.Node", "yaml.Node");
    expect("etcd.io/server/v3.T", "server.T");
    add_function("a.com/http.(*T).M");
    expect("net/http.T", "net/http.T");
}

/* A method of another package that only that package may call has both packages in its name. */
TEST(embedded_methods_have_two)
{
    add("google.golang.org/grpc", "grpc");
    add("etcd.io/v3/client", "client");
    add("main", "main");
    add("go", "go");
    add_function("etcd.io/v3/client.option.google.golang.org/grpc.before");
    add_function("main.option.google.golang.org/grpc.before");
    add_function("go.example.com/grpcs.F");
    expect("google.golang.org/grpc.T", "grpc.T");
    expect("etcd.io/v3/client.option.google.golang.org/grpc.before", "client.option.grpc.before");
    expect("main.option.google.golang.org/grpc.before", "main.option.grpc.before");
    expect("etcd.io/v3/client.(*option).google.golang.org/grpc.before-fm",
           "client.(*option).grpc.before-fm");
    expect("go.example.com/grpcs.T", "grpcs.T");
    add("x.org/client", "client");
    expect("etcd.io/v3/client.option.google.golang.org/grpc.before",
           "etcd.io/v3/client.option.grpc.before");
}

/* The work depends on a name's size, not on its contents. */
TEST(adverse_names_take_no_time)
{
    enum { SIZE = 1 << 20 };
    static const char *const patterns[] = {"a/", "a.", "/.", "\"", "\\\"", "a/b.", ".", "a/b\""};
    char *name = malloc(SIZE);
    assert_non_null(name);
    add("a/b", "b");
    for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
        struct text text = {0};
        const size_t size = strlen(patterns[i]);
        for (size_t j = 0; j < SIZE; j++)
            name[j] = patterns[i][j % size];
        text_append_short(&text, &packages, (const uint8_t *)name, SIZE);
        assert_in_range(text.size, 1, SIZE);
        text_deinit(&text);
        assert_true(
            packages_add_function(&packages, (struct g2h_bytes){(const uint8_t *)name, SIZE}));
    }
    free(name);
}

UNIT_MAIN(start, end)
