/* atom.h under the model checker: the same vocabulary over Relacy's atomics.
 *
 * The names are macros, so that a reported history points at the line of the
 * product header and not into this one.
 *
 * A word made while the checker runs is explored.  A static word of a header
 * is made before that; it is a plain number here, which no model may depend on
 * (gch_spinners, gch_spin_limit: hints that decide whether to spin).
 */
#ifndef GCH_ATOM_MODEL_H
#define GCH_ATOM_MODEL_H

/* What one explored word needs.  All but value is where
 * futex_model.h sleeps. */
struct gch_model_word {
    rl::atomic<uint32_t> value;
    rl::mutex bucket;
    rl::condition_variable sleepers;
    int timeouts, signals; /* how many of these it still grants */
    gch_model_word() : value(0), timeouts(1), signals(1) {}
};

struct gch_word {
    bool explored;
    uint32_t plain;
    /* In place: Relacy tries every free() in two ways, which would double the
     * number of schedules for each word.  After the destructor a use of it is
     * reported as one of freed memory. */
    alignas(gch_model_word) char room[sizeof(gch_model_word)];

    gch_word() : explored(rl::is_ctx()), plain(0)
    {
        if (explored) {
            new (room) gch_model_word;
        }
    }
    ~gch_word()
    {
        if (explored) {
            m()->~gch_model_word();
        }
    }
    gch_model_word *m() { return (gch_model_word *)room; }
    uint32_t load(rl::memory_order mo, rl::debug_info_param at)
    {
        return explored ? m()->value.load(mo, at) : plain;
    }
    void store(uint32_t v, rl::memory_order mo, rl::debug_info_param at)
    {
        explored ? m()->value.store(v, mo, at) : (void)(plain = v);
    }
    uint32_t swap(uint32_t v, rl::memory_order mo, rl::debug_info_param at)
    {
        return explored ? m()->value.exchange(v, mo, at) : std::exchange(plain, v);
    }
    uint32_t add(uint32_t v, rl::memory_order mo, rl::debug_info_param at)
    {
        return explored ? m()->value.fetch_add(v, mo, at) : std::exchange(plain, plain + v);
    }
    bool cas(uint32_t expected, uint32_t v, rl::memory_order mo, rl::debug_info_param at)
    {
        if (explored) {
            return m()->value.compare_exchange_strong(expected, v, mo, at);
        }
        return plain == expected && (plain = v, true);
    }
    RL_NOCOPY(gch_word);
};

#define gch_word_load(w) ((w)->load(rl::mo_seq_cst, $))
#define gch_word_load_acq(w) ((w)->load(rl::mo_acquire, $))
#define gch_word_load_rlx(w) ((w)->load(rl::mo_relaxed, $))
#define gch_word_store(w, v) ((w)->store(v, rl::mo_seq_cst, $))
#define gch_word_store_rel(w, v) ((w)->store(v, rl::mo_release, $))
#define gch_word_store_rlx(w, v) ((w)->store(v, rl::mo_relaxed, $))
#define gch_word_swap(w, v) ((w)->swap(v, rl::mo_seq_cst, $))
#define gch_word_add(w, v) ((w)->add(v, rl::mo_seq_cst, $))
#define gch_word_cas(w, expected, v) ((w)->cas(expected, v, rl::mo_seq_cst, $))

/* A spinning thread lets the others run; without it the search would not end. */
#define gch_pause() rl::yield(1, $)

#endif
