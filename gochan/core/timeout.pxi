# Timeouts: seconds at the door, one absolute deadline within.

cdef extern from "c/clock.h" nogil:
    int64_t gch_now()


cdef int64_t timeout_deadline_slow(object timeout) except? -1:
    cdef double seconds
    if isinstance(timeout, bool):
        raise TypeError("timeout must be None or a number of seconds, not a bool")
    try:
        seconds = timeout
    except OverflowError:  # a huge int
        seconds = float("inf") if timeout > 0 else -1.0
    except TypeError:
        raise TypeError(
            f"timeout must be None or a number of seconds, not {type(timeout).__name__}"
        ) from None
    if not seconds >= 0.0:  # NaN too
        raise ValueError(
            f"timeout must be zero or more seconds, not {timeout!r}; None waits for ever"
        )
    if seconds == 0.0:
        return GCH_NOW
    if seconds >= 9.0e9:  # beyond the clock: 285 years
        return GCH_NEVER
    return gch_deadline_in(<int64_t>(seconds * 1e9) + 1)


cdef inline int64_t timeout_deadline(object timeout) except? -1:
    """GCH_NEVER for None and infinity, GCH_NOW for 0, else the monotonic time
    at which to give up."""
    return GCH_NEVER if timeout is None else timeout_deadline_slow(timeout)
