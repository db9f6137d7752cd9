# Queue, LifoQueue, PriorityQueue, SimpleQueue: the drop-in for the standard
# library's queue, as `gochan.queue` shows it.
#
# The methods are thin: fast halves of chan_value.pxi, else queue_ops.pxi, which
# turns to queue_hooks.pxi where Python code takes part.


cdef tuple QUEUE_PUT = ("put",)
cdef tuple QUEUE_GET = ("get",)
cdef tuple QUEUE_HOOKS = ("_init", "_qsize", "_put", "_get")


@cython.no_gc_clear  # a method that a late finalizer calls finds ch and state
cdef class Queue:
    """Queue(maxsize=0)
--

A first-in, first-out queue between threads: `queue.Queue`, compiled.

    >>> q = Queue(maxsize=2)
    >>> q.put("a"); q.put("b")
    >>> q.get()
    'a'

maxsize (int): put waits while so many items are in it; 0 or less: no limit

Arguments, exceptions and messages are those of the standard class, and so are
the hooks for subclasses (`_init`, `_qsize`, `_put`, `_get`) and the attributes
`mutex`, `not_empty`, `not_full`, `all_tasks_done`, `queue`, `unfinished_tasks`.
A queue whose hooks are overridden, whose insides are used, or whose maxsize is
set, works from then on as the standard one does, at about its speed; any
other queue is a channel, and its `chan` can stand in a `gochan.select`.

Waiting putters and getters are served in the order in which they came.
Finalizers and signal handlers may call any method; a forked child may go on
using the queue.

Memory order: what a thread did before a put happens before what follows the get
of that item; what came before the last `task_done` happens before the return
of `join`.

Source: https://docs.python.org/3/library/queue.html
"""

    cdef Chan ch
    cdef QueueState state
    cdef tuple retired  # what __init__ replaced; another thread may still be in it
    cdef bint own_put   # a subclass overrides put, so put_nowait goes through it
    cdef bint own_get
    cdef dict __dict__
    cdef object __weakref__

    def __cinit__(self):
        queue_prepare()
        self.state = QueueState(0)
        self.ch = queue_chan(QUEUE_UNBOUNDED, CHAN_FIFO)

    def __init__(self, maxsize=0):
        cdef type base = queue_base(self)
        cdef QueueHooks before = self.state.hooks
        cdef Chan old = self.ch
        cdef size_t limit = queue_limit(maxsize)
        cdef int order = CHAN_FIFO
        if base is not Queue:
            order = CHAN_LIFO if base is LifoQueue else CHAN_HEAP
        self.retired = (self.retired, self.state, old)
        self.state = QueueState(maxsize)
        self.ch = queue_chan(limit, order)
        while chan_available(&old.c) > 0:  # its items go now
            bulk_take_more(old, chan_available(&old.c), [])
        self.own_put = queue_overrides(self, QUEUE_PUT, base)
        self.own_get = queue_overrides(self, QUEUE_GET, base)
        if limit == 0 or before is not None or queue_overrides(self, QUEUE_HOOKS, base):
            queue_make_hooks(self, before)

    def put(self, item, block=True, timeout=None):
        """Put an item into the queue, waiting while it is full.

        item (object)
        block (bool): False: do not wait
        timeout (float | None): seconds to wait

        Raises Full when there was no room in time; ShutDown; ValueError for a
        negative timeout.
        """
        if timeout is not None or not chan_put_fast(&self.ch.c, <PyObject *>item):
            queue_send(self, item, block, timeout)

    def get(self, block=True, timeout=None):
        """Remove an item from the queue and return it, waiting until there is one.

        block (bool): False: do not wait
        timeout (float | None): seconds to wait

        Raises Empty when there was none in time; ShutDown when the queue was shut
        down and is empty; ValueError for a negative timeout.
        """
        cdef void *item
        if timeout is None:
            item = chan_take_fast(&self.ch.c)
            if item != NULL:
                return gch_own(item)
        return queue_recv(self, block, timeout)

    def put_nowait(self, item):
        """put(item, block=False)."""
        if self.own_put:
            self.put(item, block=False)
        elif not chan_put_fast(&self.ch.c, <PyObject *>item):
            queue_send(self, item, False, None)

    def get_nowait(self):
        """get(block=False)."""
        cdef void *item
        if self.own_get:
            return self.get(block=False)
        item = chan_take_fast(&self.ch.c)
        return gch_own(item) if item != NULL else queue_recv(self, False, None)

    def put_many(self, items, timeout=None):
        """Put every item of an iterable, in order; returns how many.

        items (Iterable)
        timeout (float | None): seconds for the whole call

        Raises what `put` raises, and what the iterable raises.  The exception
        carries ``sent``: exactly so many items were put.
        """
        return queue_put_many(self, items, timeout)

    def get_many(self, max, min=1, timeout=None):
        """Get between `min` and `max` items as a list.

        Waits until `min` items came, then takes what is there without waiting.

        max (int): at most so many, 1 or more
        min (int): wait for so many, 0 to max
        timeout (float | None): seconds for the whole call

        A queue that was shut down gives what is left, then raises ShutDown.
        When the timeout passes the items that came are returned; Empty if there
        are none.
        """
        return queue_get_list(self, self.ch, max, min, timeout)

    def task_done(self):
        """Say that an item that was got is done with: one call for each item.

        Raises ValueError when called more often than items were put.
        """
        if queue_finish(self, 1) == 0:
            if self.state.hooks is None:
                raise ValueError("task_done() called too many times")
            hooks_task_done(self.state.hooks)

    def join(self, timeout=None):
        """Wait until every item that was put is done with (`task_done`).

        timeout (float | None): seconds to wait

        Raises TimeoutError.
        """
        cdef int64_t deadline = queue_deadline(True, timeout)
        if self.state.hooks is None:
            queue_join(self, deadline)
        if self.state.hooks is not None:
            hooks_join(self.state.hooks, deadline)

    def shutdown(self, immediate=False):
        """Shut the queue down: put raises ShutDown, and so does get once the queue
        is empty.  Everybody who waits in one of them is woken.

        immediate (bool): drop the items that are left; each counts as done
        """
        if self.state.hooks is None:
            queue_shutdown(self, immediate)
        if self.state.hooks is not None:
            hooks_shutdown(self, self.state.hooks, immediate)

    def qsize(self):
        """How many items are in the queue at this moment."""
        return queue_size(self)

    def empty(self):
        """Whether no item is in the queue at this moment."""
        return not queue_size(self)

    def full(self):
        """Whether the queue has maxsize items at this moment."""
        return 0 < self.maxsize <= queue_size(self)

    def stats(self):
        """A QueueStats of this instant: len, maxsize, is_shutdown, unfinished_tasks,
        and how many threads wait in get, put and join."""
        return queue_stats(self)

    @property
    def chan(self):
        """The channel that this queue is (Chan): sending is putting, receiving is
        getting, closing is shutting down.  For use in a `gochan.select`.

        Raises AttributeError for a queue whose hooks or insides are in use.
        """
        cdef Chan ch = queue_show_chan(self)
        if ch is None:
            raise AttributeError(
                "this queue has no channel: a subclass overrides its hooks, or its insides "
                "(mutex, queue, a new maxsize) were used"
            )
        return ch

    @property
    def maxsize(self):
        """How many items fit; 0 or less: no limit.  Setting it makes this a queue
        that works as the standard one."""
        cdef QueueState s = self.state
        return s.maxsize if s.hooks is None else hooks_maxsize(s.hooks)

    @maxsize.setter
    def maxsize(self, value):
        hooks_set_maxsize(queue_hooks(self), value)

    @property
    def is_shutdown(self):
        """Whether the queue was shut down (bool)."""
        cdef bint closed = chan_closed(&self.ch.c)
        return closed if self.state.hooks is None else self.state.hooks.is_shutdown

    @is_shutdown.setter
    def is_shutdown(self, value):
        queue_hooks(self).is_shutdown = value

    @property
    def unfinished_tasks(self):
        """How many items were put and are not done with (int)."""
        cdef uint64_t unfinished = queue_unfinished(self)
        return unfinished if self.state.hooks is None else self.state.hooks.unfinished

    @unfinished_tasks.setter
    def unfinished_tasks(self, value):
        queue_hooks(self).unfinished = value

    @property
    def mutex(self):
        """The lock of the insides, as in the standard queue (`threading.RLock`)."""
        return queue_inside(self).mutex

    @property
    def not_empty(self):
        """The condition on `mutex` that an item came."""
        return queue_inside(self).not_empty

    @property
    def not_full(self):
        """The condition on `mutex` that an item went."""
        return queue_inside(self).not_full

    @property
    def all_tasks_done(self):
        """The condition on `mutex` that no task is unfinished."""
        return queue_inside(self).all_tasks_done

    @property
    def queue(self):
        """The container of the items, as in the standard queue; hold `mutex` to
        look at it."""
        return hooks_items(queue_hooks(self))

    @queue.setter
    def queue(self, value):
        hooks_set_items(queue_hooks(self), value)

    def _init(self, maxsize):
        self.queue = deque()

    def _qsize(self):
        return len(self.queue)

    def _put(self, item):
        self.queue.append(item)

    def _get(self):
        return self.queue.popleft()

    def __iter__(self):
        return self

    def __next__(self):
        cdef void *item
        if not self.own_get:
            item = chan_take_fast(&self.ch.c)
            if item != NULL:
                return gch_own(item)
        try:
            return self.get()
        except queue_shut_down:
            raise StopIteration from None

    def __contains__(self, item):
        raise TypeError(f"argument of type {type(self).__name__!r} is not a container")

    def __copy__(self):
        """A copy shares the items, the tasks and the limit."""
        cdef Queue copy = <Queue>type(self).__new__(type(self))
        copy.ch = self.ch
        copy.state = self.state
        copy.own_put = self.own_put
        copy.own_get = self.own_get
        vars(copy).update(vars(self))
        return copy

    def __getstate__(self):
        raise TypeError(
            f"cannot pickle {type(self).__name__!r} object: it connects the threads of one process"
        )

    def __sizeof__(self):
        return type(self).__basicsize__ + self.ch.__sizeof__()

    @classmethod
    def __class_getitem__(cls, item):
        """Queue[int] for type checkers."""
        return GenericAlias(cls, item)


@cython.no_gc_clear
cdef class LifoQueue(Queue):
    """LifoQueue(maxsize=0)
--

A last-in, first-out queue: `queue.LifoQueue`, compiled.  As `Queue` otherwise.
"""

    # All four, as in the standard class: what a class that is also another kind of
    # queue gets from which is the same then.

    def _init(self, maxsize):
        self.queue = []

    def _qsize(self):
        return len(self.queue)

    def _put(self, item):
        self.queue.append(item)

    def _get(self):
        return self.queue.pop()


@cython.no_gc_clear
cdef class PriorityQueue(Queue):
    """PriorityQueue(maxsize=0)
--

A queue that gives the smallest item first: `queue.PriorityQueue`, compiled.
Items are compared by ``<``; often they are ``(priority, item)`` pairs.  As
`Queue` otherwise.

put raises what the comparison of the item raises, such as TypeError, and nothing
was put then.  A get whose comparison raises has got nothing.
"""

    def _init(self, maxsize):
        self.queue = []

    def _qsize(self):
        return len(self.queue)

    def _put(self, item):
        heappush(self.queue, item)

    def _get(self):
        return heappop(self.queue)


@cython.no_gc_clear
cdef class SimpleQueue:
    """SimpleQueue()
--

An unbounded first-in, first-out queue without tasks: `queue.SimpleQueue`.
put never waits, and every method may be called by finalizers and signal handlers.

Source: https://docs.python.org/3/library/queue.html#simplequeue-objects
"""

    cdef Chan ch
    cdef object __weakref__

    def __cinit__(self):
        queue_prepare()
        self.ch = queue_chan(QUEUE_UNBOUNDED, CHAN_FIFO)

    def __init__(self):
        pass

    def put(self, item, block=True, timeout=None):
        """Put an item into the queue; this never waits.

        item (object)
        block, timeout: as for `Queue.put`; ignored
        """
        if not chan_put_fast(&self.ch.c, <PyObject *>item):
            simple_send(self, item)

    def get(self, block=True, timeout=None):
        """Remove an item from the queue and return it, waiting until there is one.

        block (bool): False: do not wait
        timeout (float | None): seconds to wait

        Raises Empty when there was none in time; ValueError for a negative
        timeout.
        """
        cdef void *item
        if timeout is None:
            item = chan_take_fast(&self.ch.c)
            if item != NULL:
                return gch_own(item)
        return simple_recv(self, block, timeout)

    def put_nowait(self, item):
        """put(item)."""
        if not chan_put_fast(&self.ch.c, <PyObject *>item):
            simple_send(self, item)

    def get_nowait(self):
        """get(block=False)."""
        cdef void *item = chan_take_fast(&self.ch.c)
        return gch_own(item) if item != NULL else simple_recv(self, False, None)

    def put_many(self, items):
        """Put every item of an iterable, in order; returns how many.

        items (Iterable)

        Raises what the iterable raises; the exception carries ``sent``.
        """
        return chan_send_many(self.ch, items, None)

    def get_many(self, max, min=1, timeout=None):
        """Get between `min` and `max` items as a list; as `Queue.get_many`."""
        return queue_get_list(None, self.ch, max, min, timeout)

    def qsize(self):
        """How many items are in the queue at this moment."""
        return chan_len(&self.ch.c)

    def empty(self):
        """Whether no item is in the queue at this moment."""
        return chan_len(&self.ch.c) == 0

    @property
    def chan(self):
        """The channel that this queue is (Chan), for use in a `gochan.select`."""
        return self.ch

    def __getstate__(self):
        raise TypeError(
            f"cannot pickle {type(self).__name__!r} object: it connects the threads of one process"
        )

    def __sizeof__(self):
        return type(self).__basicsize__ + self.ch.__sizeof__()

    @classmethod
    def __class_getitem__(cls, item):
        """SimpleQueue[int] for type checkers."""
        return GenericAlias(cls, item)


(<chan_type_t *><PyObject *>Queue).tp_name = "gochan.queue.Queue"
(<chan_type_t *><PyObject *>LifoQueue).tp_name = "gochan.queue.LifoQueue"
(<chan_type_t *><PyObject *>PriorityQueue).tp_name = "gochan.queue.PriorityQueue"
(<chan_type_t *><PyObject *>SimpleQueue).tp_name = "gochan.queue.SimpleQueue"
