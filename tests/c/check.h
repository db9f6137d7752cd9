/* A test harness in one page.
 *
 *   TEST(name) { CHECK(cond); CHECK_EQ(got, expected); }
 *   int main(void) { RUN(name); ...; return check_summary("ring"); }
 *
 * A failed check prints its line and the test goes on.  A test that hangs is
 * ended, by name, after CHECK_SECONDS: a lost wake shows as exactly that.
 * Checks may be made by any thread of the running test.
 */
#ifndef CHECK_H
#define CHECK_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CHECK_SECONDS
#define CHECK_SECONDS 60
#endif

static int check_passed, check_failed; /* tests */
static int check_errors;               /* failed checks of the running test */
static const char *check_running = "";
static pthread_mutex_t check_mutex = PTHREAD_MUTEX_INITIALIZER;

#define TEST(name) static void name(void)

#define CHECK(cond)                                                                               \
    do {                                                                                          \
        if (!(cond)) {                                                                            \
            check_error(__LINE__, "%s", #cond);                                                   \
        }                                                                                         \
    } while (0)

#define CHECK_EQ(got, expected)                                                                   \
    do {                                                                                          \
        long long check_g = (long long)(got), check_e = (long long)(expected);                    \
        if (check_g != check_e) {                                                                 \
            check_error(__LINE__, "%s is %lld, expected %lld", #got, check_g, check_e);           \
        }                                                                                         \
    } while (0)

#define RUN(name) check_run(name, #name)

/* Wait for a state that another thread reaches; the hang guard is the limit. */
#define WAIT_UNTIL(cond)                                                                          \
    do {                                                                                          \
        while (!(cond)) {                                                                         \
            sched_yield();                                                                        \
        }                                                                                         \
    } while (0)

__attribute__((format(printf, 2, 3))) static inline void check_error(int line, const char *format,
                                                                     ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&check_mutex);
    check_errors++;
    fprintf(stderr, "  %s, line %d: ", check_running, line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    pthread_mutex_unlock(&check_mutex);
    va_end(args);
}

static void check_hangs(int signal)
{
    (void)signal;
    static const char message[] = " hangs\n"; /* write: printf may hold a lock */
    if (write(2, check_running, strlen(check_running)) < 0 ||
        write(2, message, sizeof message - 1) < 0) {
        _exit(3);
    }
    _exit(2);
}

static inline void check_run(void (*test)(void), const char *name)
{
    check_running = name;
    check_errors = 0;
    signal(SIGALRM, check_hangs);
    alarm(CHECK_SECONDS);
    test();
    alarm(0);
    if (check_errors == 0) {
        check_passed++;
    } else {
        check_failed++;
    }
}

static inline int check_summary(const char *what)
{
    printf("%s: %d passed, %d failed\n", what, check_passed, check_failed);
    return check_failed != 0;
}

/* -- threads ------------------------------------------------------------------ */

static inline pthread_t check_thread(void *(*body)(void *), void *arg)
{
    pthread_t t;
    if (pthread_create(&t, NULL, body, arg) != 0) {
        abort();
    }
    return t;
}

static inline void check_threads(int n, void *(*body)(void *), void *arg)
{
    pthread_t threads[16];
    for (int i = 0; i < n; i++) {
        threads[i] = check_thread(body, arg);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* Run body in a child process; 1 when it made no failed check and ended. */
static inline int check_child(void (*body)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(CHECK_SECONDS); /* a child inherits no alarm */
        check_errors = 0;
        body();
        _exit(check_errors != 0);
    }
    int status = -1;
    while (waitpid(pid, &status, 0) != pid) {
    }
    return status == 0;
}

/* -- seeded choices: the same ones in every run ------------------------------- */

static inline uint32_t check_random(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

#endif
