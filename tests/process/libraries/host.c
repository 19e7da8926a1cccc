/*
 * A program that is not Go and loads Go libraries:
 *
 *   host DUMP LIBRARY...        (with EXITS in the environment, its first thread exits)
 *
 * The first library makes 1000 books, the second one 2000 and so on. The first one writes a heap
 * dump to DUMP. Then the program waits, with threads of which Go knows nothing.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *wait_forever(void *argument)
{
    (void)argument;
    for (;;)
        pause();
}

static void *find(void *library, const char *name)
{
    void *function = dlsym(library, name);
    if (!function) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return function;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    for (int i = 0; i < 4; i++)
        pthread_create(&thread, NULL, wait_forever, NULL);
    for (int i = 2; i < count; i++) {
        void *library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
        void (*fill)(long long), (*dump)(char *);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        *(void **)&fill = find(library, "Fill");
        *(void **)&dump = find(library, "Dump");
        fill(1000 * (i - 1));
        if (i == 2)
            dump(arguments[1]);
    }
    puts("ready");
    fflush(stdout);
    if (getenv("EXITS"))
        pthread_exit(NULL);
    wait_forever(NULL);
}
