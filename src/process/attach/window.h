/*
 * window: the memory of the child of a fork, which is read on demand, page by page.
 *
 * If there is no memory for a copy of a process, only the pages that are accessed are read
 * (memory_at()), and pages that are no longer needed are returned to the system while the dump is
 * written (process/give_back.h). They have positions in a space like copied pages, so the code that
 * reads the memory need not know.
 */
#ifndef PROCESS_ATTACH_WINDOW_H
#define PROCESS_ATTACH_WINDOW_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct attach_pages;
struct attach_space;
struct window;

/* Makes a window for pages of a process, with positions in the mapping of space, which must outlive
 * it. Returns NULL if memory or descriptors run out. */
struct window *window_create(uint64_t pid, const struct attach_pages *pages,
                             const struct attach_space *space);

/* Frees a window; it may be NULL. */
void window_destroy(struct window *window);

/*
 * Reads the missing pages of [address, address + size); data is the position of the first byte.
 * Returns false if one of them cannot be read. Several threads may call this and the next
 * functions; pages that one thread drops must not be needed by another.
 */
bool window_fill(struct window *window, uint64_t address, uint64_t size, const uint8_t *data);

/* Drops the pages in [from, end) of the space as a whole, except those that are kept. */
void window_drop(struct window *window, uint64_t from, uint64_t end);

/* Does the same for size bytes from a position on. */
void window_drop_at(struct window *window, const uint8_t *place, uint64_t size);

/* Keeps the pages of [from, end). */
void window_keep(struct window *window, uint64_t from, uint64_t end);

/*
 * With -DWINDOW_CHECKS, for tests: every fork is read through a window; each page that is dropped,
 * or is present when this is called, is compared with the process's page at its address, and the
 * program calls abort() if they differ. Then prints how many were compared. Otherwise does nothing.
 * The process must still exist. With -DWINDOW_ALWAYS=1 every fork is read through a window, without
 * these checks.
 */
void window_check(struct window *window);
#ifndef WINDOW_ALWAYS
#ifdef WINDOW_CHECKS
#define WINDOW_ALWAYS 1
#else
#define WINDOW_ALWAYS 0
#endif
#endif

/* Returns how many bytes were read, and an errno value if some could not be read: ESRCH if the
 * process has ended, EINTR if a signal is pending that would end this program. */
uint64_t window_read(const struct window *window);
int window_error(const struct window *window);

#endif
