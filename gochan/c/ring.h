/* A ring of elements of one fixed size: the buffer of a channel.
 *
 * What it is not: a concurrent structure (the caller holds the channel's lock)
 * or an owner of references (a slot holds what was moved into it, bit by bit).
 *
 * State, all guarded by the channel's lock:
 *   slots     room * itemsize bytes; NULL while room is 0
 *   room      slots allocated; room >= cap
 *   cap       how many elements may be in it; changes only by gch_ring_grow
 *   head      slot of the oldest element, < room (0 when room is 0)
 *   count     elements held, <= room
 *   itemsize  bytes of one element; sizeof(void *) for object channels
 * Invariants: (1) count <= room  (2) head < room or both are 0
 *   (3) count > cap only after an element that was handed to a waiter which could
 *   not take it went back (gch_ring_unpop, gch_ring_repush), even to a full ring.
 */
#ifndef GCH_RING_H
#define GCH_RING_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *slots;
    size_t room;
    size_t cap;
    size_t head;
    size_t count;
    size_t itemsize;
} gch_ring;

/* One element from here to there.  The common sizes become single moves. */
static inline void gch_move(void *to, const void *from, size_t itemsize)
{
    if (itemsize == sizeof(void *)) {
        memcpy(to, from, sizeof(void *));
    } else {
        memcpy(to, from, itemsize);
    }
}

static inline int gch_ring_init(gch_ring *r, size_t cap, size_t itemsize)
{
    memset(r, 0, sizeof *r);
    r->cap = r->room = cap;
    r->itemsize = itemsize;
    if (cap != 0 && (r->slots = (char *)calloc(cap, itemsize)) == NULL) {
        return -1;
    }
    return 0;
}

static inline void gch_ring_free(gch_ring *r)
{
    free(r->slots);
    r->slots = NULL;
    r->room = r->head = r->count = 0;
}

static inline size_t gch_ring_wrap(const gch_ring *r, size_t i)
{
    return i >= r->room ? i - r->room : i;
}

static inline char *gch_ring_slot(const gch_ring *r, size_t nth)
{
    return r->slots + gch_ring_wrap(r, r->head + nth) * r->itemsize;
}

/* Caller: count < room. */
static inline void gch_ring_push(gch_ring *r, const void *elem)
{
    gch_move(gch_ring_slot(r, r->count), elem, r->itemsize);
    r->count++;
}

/* Caller: count > 0. */
static inline void gch_ring_pop(gch_ring *r, void *elem)
{
    gch_move(elem, gch_ring_slot(r, 0), r->itemsize);
    r->head = gch_ring_wrap(r, r->head + 1);
    r->count--;
}

/* The same two for a ring of pointers: no multiplication, one move. */
static inline void gch_ring_push_ptr(gch_ring *r, void *p)
{
    ((void **)r->slots)[gch_ring_wrap(r, r->head + r->count)] = p;
    r->count++;
}

static inline void *gch_ring_pop_ptr(gch_ring *r)
{
    void *p = ((void **)r->slots)[r->head];
    r->head = gch_ring_wrap(r, r->head + 1);
    r->count--;
    return p;
}

/* Append up to n elements while count < cap; returns how many. */
static inline size_t gch_ring_push_many(gch_ring *r, const char *from, size_t n)
{
    size_t space = r->count < r->cap ? r->cap - r->count : 0;
    n = n < space ? n : space;
    for (size_t done = 0; done < n;) {
        size_t at = gch_ring_wrap(r, r->head + r->count);
        size_t run = r->room - at < n - done ? r->room - at : n - done;
        memcpy(r->slots + at * r->itemsize, from + done * r->itemsize, run * r->itemsize);
        r->count += run;
        done += run;
    }
    return n;
}

/* Take up to n of the oldest elements; returns how many. */
static inline size_t gch_ring_pop_many(gch_ring *r, char *to, size_t n)
{
    n = n < r->count ? n : r->count;
    for (size_t done = 0; done < n;) {
        size_t run = r->room - r->head < n - done ? r->room - r->head : n - done;
        memcpy(to + done * r->itemsize, r->slots + r->head * r->itemsize, run * r->itemsize);
        r->head = gch_ring_wrap(r, r->head + run);
        r->count -= run;
        done += run;
    }
    return n;
}

/* The newest element of a ring of pointers.  Caller: count > 0. */
static inline void *gch_ring_pop_back_ptr(gch_ring *r)
{
    r->count--;
    return ((void **)r->slots)[gch_ring_wrap(r, r->head + r->count)];
}

/* Move to `room` slots (at least count), the oldest element into the first one.
 * Returns -1, with nothing changed, when memory is out. */
static inline int gch_ring_move(gch_ring *r, size_t room)
{
    char *slots = (char *)malloc(room * r->itemsize);
    if (slots == NULL) {
        return -1;
    }
    size_t first = r->room - r->head < r->count ? r->room - r->head : r->count;
    if (r->count != 0) {
        memcpy(slots, r->slots + r->head * r->itemsize, first * r->itemsize);
        memcpy(slots + first * r->itemsize, r->slots, (r->count - first) * r->itemsize);
    }
    free(r->slots);
    r->slots = slots;
    r->room = room;
    r->head = 0;
    return 0;
}

enum { GCH_RING_FIRST = 8 }; /* slots that a growing ring starts with */

/* Double the capacity, and so on until n more elements fit, but not beyond
 * `most`.  Returns -1, with nothing changed, when memory is out. */
static inline int gch_ring_grow(gch_ring *r, size_t n, size_t most)
{
    size_t cap = r->cap < GCH_RING_FIRST ? GCH_RING_FIRST : r->cap;
    size_t wanted = r->count < most && n <= most - r->count ? r->count + n : most;
    while (cap < wanted) {
        cap = cap <= most / 2 ? 2 * cap : most;
    }
    if (cap > most) {
        cap = most;
    }
    if (cap > SIZE_MAX / r->itemsize || (cap > r->room && gch_ring_move(r, cap) < 0)) {
        return -1;
    }
    r->cap = cap;
    return 0;
}

/* Give memory back: `room` slots stay, at least count.  It grows anew.  Where there
 * is no memory to move to, nothing changes. */
static inline void gch_ring_shrink(gch_ring *r, size_t room)
{
    if (gch_ring_move(r, room) == 0) {
        r->cap = room;
    }
}

/* Put an element back to the front, growing by one slot where there is none.
 * Returns -1, with nothing changed, when memory is out. */
static inline int gch_ring_unpop(gch_ring *r, const void *elem)
{
    if (r->count == r->room && gch_ring_move(r, r->room + 1) < 0) {
        return -1;
    }
    r->head = r->head == 0 ? r->room - 1 : r->head - 1;
    gch_move(r->slots + r->head * r->itemsize, elem, r->itemsize);
    r->count++;
    return 0;
}

/* The same to the back. */
static inline int gch_ring_repush(gch_ring *r, const void *elem)
{
    if (r->count == r->room && gch_ring_move(r, r->room + 1) < 0) {
        return -1;
    }
    gch_ring_push(r, elem);
    return 0;
}

#endif
