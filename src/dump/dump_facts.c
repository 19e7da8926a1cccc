/* dump_facts: makes the words for how a process ended, "killed by the OOM killer" or its signal or
 * status, from the fact FACT_ENDING that a dump made from outside may have; see dump_facts.h. */
#include "dump/dump_facts.h"

#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

/* Returns how a process ended, in words. The OOM killer is named first: the signal alone would not
 * say so. */
void g2h_ending_words(const struct g2h_ending *ending, char ret_how[G2H_ENDING_WORDS],
                      char ret_when[G2H_ENDING_TIME])
{
    const int status = (int)ending->status;
    const time_t seconds = (time_t)ending->seconds;
    struct tm tm;
    if (ending->by_oom)
        snprintf(ret_how, G2H_ENDING_WORDS, "killed by the OOM killer%s",
                 ending->by_group ? "" : " (as /proc/vmstat counts)");
    else if (status == 0)
        snprintf(ret_how, G2H_ENDING_WORDS, "alive");
    else if (WIFSIGNALED(status))
        snprintf(ret_how, G2H_ENDING_WORDS, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(ret_how, G2H_ENDING_WORDS, "ended with status %d", WEXITSTATUS(status));
    strftime(ret_when, G2H_ENDING_TIME, "%Y-%m-%d %H:%M:%SZ", gmtime_r(&seconds, &tm));
}
