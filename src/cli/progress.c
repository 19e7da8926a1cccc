/*
 * progress; see progress.h. The line overwrites itself, ten times a second at most.
 *
 * The percentage is that of the whole, not of a step: reading a dump is a tenth of it. The shares
 * of the steps are those of a heap of 2 million objects; a step that knows how much it has to do
 * moves within its share, the others stay at its beginning.
 */
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
    double last_shown;
    const char *phase;
    bool visible;
    enum progress_plan plan;
} line;

enum { STEPS = 7, PLANS = PROGRESS_DATABASE_UNTYPED + 1 };

/* The steps of a conversion after a process has been copied, and at which percentage each ends. */
static const struct {
    const char *phase;
    unsigned end;
} plans[PLANS][STEPS] = {
    [PROGRESS_NONE] = {{NULL, 0}},
    [PROGRESS_REPORT] = {{"reading", 10}, {"types", 40}, {"graph", 55}, {"report", 100}},
    [PROGRESS_REPORT_UNTYPED] = {{"reading", 5}, {"graph", 18}, {"report", 100}},
    [PROGRESS_FILE] = {{"reading", 8}, {"types", 30}, {"graph", 73}, {"writing", 100}},
    [PROGRESS_FILE_UNTYPED] = {{"reading", 10}, {"graph", 65}, {"writing", 100}},
    [PROGRESS_PAGE] = {{"reading", 6}, {"types", 30}, {"graph", 44}, {"dominators", 100}},
    [PROGRESS_PAGE_UNTYPED] = {{"reading", 8}, {"graph", 26}, {"dominators", 100}},
    [PROGRESS_DATABASE] = {{"reading", 1},
                           {"types", 6},
                           {"graph", 9},
                           {"dominators", 18},
                           {"writing", 59},
                           {"indexing", 100}},
    [PROGRESS_DATABASE_UNTYPED] =
        {{"reading", 1}, {"graph", 4}, {"dominators", 13}, {"writing", 56}, {"indexing", 100}},
};

/* Prints which step of how many this is, and how much of the whole is done. Steps that are not
 * planned, such as copying a process, have a percentage of their own. */
static void show_share(const char *phase, uint64_t done, uint64_t total)
{
    const double part = total > 0 ? (double)done / (double)total : 0;
    unsigned begin = 0, end = 0, number = 0, count = 0;
    for (unsigned last = 0; count < STEPS && plans[line.plan][count].phase; count++) {
        if (strcmp(plans[line.plan][count].phase, phase) == 0) {
            number = count + 1;
            begin = last;
            end = plans[line.plan][count].end;
        }
        last = plans[line.plan][count].end;
    }
    if (number > 0)
        fprintf(stderr, ", step %u of %u, %3.0f %%", number, count,
                begin + part * (double)(end - begin));
    else if (total > 0)
        fprintf(stderr, " %3.0f %%", 100 * part);
}

static void show(const char *phase, uint64_t done, uint64_t total, uint64_t objects)
{
    double time = clock_seconds();
    const bool is_new = !line.phase || strcmp(line.phase, phase) != 0;
    line.phase = phase;
    if (!is_new && time - line.last_shown < 0.1)
        return;
    line.last_shown = time;
    line.visible = true;
    fprintf(stderr, "\r\033[K%s", phase);
    show_share(phase, done, total);
    if (strcmp(phase, "reading") == 0 || strcmp(phase, "spooling") == 0)
        fprintf(stderr, ", %.0f MB", (double)done / 1e6);
    if (objects > 0)
        fprintf(stderr, ", %.1f M objects", (double)objects / 1e6);
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

void progress_set_plan(enum progress_plan plan)
{
    line.plan = plan;
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
