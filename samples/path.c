/*
 * Prints what keeps an object alive: a shortest chain of strong edges from the root to it.
 *
 * Usage: path DUMP ADDRESS [EXE]. The address is hexadecimal, and may be that of any byte of the
 * object.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

static void print(const struct g2h_findings *findings)
{
    const struct g2h_step *step;
    for (size_t i = 0; (step = g2h_findings_step(findings, i)) != NULL; i++) {
        printf(i == 0 ? "%s%s" : "%s -> %s", step->edge, step->name);
        if (step->address != 0)
            printf(" @%" PRIx64, step->address);
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    struct g2h_session *session = NULL;
    struct g2h_findings *findings = NULL;
    uint32_t object;
    size_t length = 0;
    if (argc != 3 && argc != 4)
        return 2;
    struct g2h_error *error = g2h_open(argv[1], argv[3], NULL, &session);
    if (!error)
        error = g2h_session_findings(session, &findings);
    if (!error && g2h_heap_find(g2h_session_heap(session), strtoull(argv[2], NULL, 16), &object))
        error = g2h_findings_path(findings, g2h_view_object(g2h_session_view(session), object),
                                  &length);
    if (error)
        fprintf(stderr, "%s\n", error->message);
    else if (length == 0)
        fprintf(stderr, "%s: nothing is found at %s\n", argv[1], argv[2]);
    else
        print(findings);
    const int status = !error && length > 0 && fflush(stdout) == 0 ? 0 : 1;
    g2h_error_destroy(error);
    g2h_close(session);
    return status;
}
