/* Prints the ten classes that retain most, as Summary in DevTools counts them: retained DUMP [EXE]
 */
#include <inttypes.h>
#include <stdio.h>

#include <go2heapsnapshot/go2heapsnapshot.h>

int main(int argc, char **argv)
{
    struct g2h_session *session = NULL;
    struct g2h_findings *findings = NULL;
    size_t count = 0;
    if (argc != 2 && argc != 3)
        return 2;
    struct g2h_error *error = g2h_open(argv[1], argv[2], NULL, &session);
    if (!error)
        error = g2h_session_findings(session, &findings);
    if (!error)
        error = g2h_findings_classes(findings, &count);
    if (error)
        fprintf(stderr, "%s\n", error->message);
    for (size_t i = 0; i < count && i < 10; i++) {
        const struct g2h_class *row = g2h_findings_class(findings, i);
        printf("%12" PRIu64 " bytes by %" PRIu64 " of %s\n", row->retained, row->objects,
               row->name);
    }
    const int status = !error && fflush(stdout) == 0 ? 0 : 1;
    g2h_error_destroy(error);
    g2h_close(session);
    return status;
}
