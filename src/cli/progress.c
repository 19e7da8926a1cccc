/* progress; see progress.h. The line overwrites itself, ten times a second at most. */
#include "cli/progress.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* --watch captures and converts at the same time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    double phase_start, last_shown;
    const char *phase;
    bool visible;
} line;

static void show(const char *phase, uint64_t done, uint64_t total, uint64_t objects)
{
    double time = clock_seconds();
    const bool is_new = !line.phase || strcmp(line.phase, phase) != 0;
    if (is_new) {
        line.phase = phase;
        line.phase_start = time;
    }
    if (!is_new && time - line.last_shown < 0.1)
        return;
    line.last_shown = time;
    line.visible = true;
    fprintf(stderr, "\r\033[K%s", phase);
    if (total > 0)
        fprintf(stderr, " %3.0f %%", 100.0 * (double)done / (double)total);
    if (strcmp(phase, "reading") == 0 || strcmp(phase, "spooling") == 0)
        fprintf(stderr, ", %.0f MB", (double)done / 1e6);
    if (objects > 0)
        fprintf(stderr, ", %.1f M objects", (double)objects / 1e6);
    if (total > 0 && done > total / 20)
        fprintf(stderr, ", %.0f s left",
                (time - line.phase_start) * (double)(total - done) / (double)done);
}

static void update(void *context, const char *phase, uint64_t done, uint64_t total,
                   uint64_t objects)
{
    (void)context;
    pthread_mutex_lock(&lock);
    show(phase, done, total, objects);
    pthread_mutex_unlock(&lock);
}

const struct g2h_progress *progress_start(void)
{
    static const struct g2h_progress progress = {update, NULL};
    return isatty(STDERR_FILENO) ? &progress : NULL;
}

void progress_begin(const struct g2h_progress *progress, const char *phase)
{
    if (progress)
        progress->update(progress->context, phase, 0, 0, 0);
}

void progress_clear(void)
{
    pthread_mutex_lock(&lock);
    if (line.visible)
        fprintf(stderr, "\r\033[K");
    line.visible = false;
    pthread_mutex_unlock(&lock);
}
