# The debug build seen from Python; c/debug.h has the macros and what they mean.

cdef extern from "c/debug.h" nogil:
    """
    #ifdef GCH_DEBUG
    #define GCH_IS_DEBUG 1
    static uint32_t gch_path_read(int path) { return gch_word_load(&gch_paths[path]); }
    static void gch_chaos_set(uint32_t rate) { gch_word_store(&gch_chaos_rate, rate); }
    #else
    #define GCH_IS_DEBUG 0
    static uint32_t gch_path_read(int path) { (void)path; return 0; }
    static void gch_chaos_set(uint32_t rate) { (void)rate; }
    #endif
    """
    bint GCH_IS_DEBUG
    void GCH_COUNT(int path)
    void GCH_CHAOS()
    void GCH_CHECK(bint)
    int GCH_PATH_END, GCH_PATH_send_fast, GCH_PATH_send_slow, GCH_PATH_send_handoff
    int GCH_PATH_send_parked, GCH_PATH_recv_fast, GCH_PATH_recv_slow, GCH_PATH_recv_handoff
    int GCH_PATH_recv_refill, GCH_PATH_recv_parked, GCH_PATH_select_polled
    int GCH_PATH_select_parked, GCH_PATH_cancelled, GCH_PATH_cancel_lost, GCH_PATH_unreceived
    const char **gch_path_names
    uint32_t gch_path_read(int path)
    void gch_chaos_set(uint32_t rate)

DEBUG = bool(GCH_IS_DEBUG)


def debug_paths():
    """How often each path was taken since the start, by name (debug build)."""
    cdef int i
    return {(<bytes>gch_path_names[i]).decode(): gch_path_read(i) for i in range(GCH_PATH_END)}


def debug_chaos(uint32_t rate):
    """At one dangerous moment in `rate` yield the CPU or sleep; 0 is off (debug build)."""
    gch_chaos_set(rate)
