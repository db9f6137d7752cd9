"""Channels: unbuffered, buffered, and a producer with a consumer.

Threads stand in for goroutines.
"""

from threading import Thread

from gochan import Chan


def unbuffered():
    """A send waits for its receiver, so it needs a thread of its own."""
    ch = Chan()
    Thread(target=ch.send, args=(10,)).start()
    print(ch.recv())


def buffered():
    """Two sends find room in the buffer and wait for nobody."""
    ch = Chan(2)
    ch.send(1)
    ch.send(2)
    print(ch.recv())
    print(ch.recv())


def produce(out):
    for i in range(5):
        out.send(i)
        print(f"Produced: {i}\n", end="")  # a line in one write: two threads print
    # The sending side closes, and only once.  It tells the consumer that no more
    # comes; a channel that nobody uses any more needs no close.
    out.close()


def consume(values):
    # The loop ends when the channel is closed and what was sent has been received.
    for i in values:
        print(f"Consumed: {i}\n", end="")


def producer_and_consumer():
    """Each side gets a view that has only its own direction; the other one is
    an AttributeError.  (In Go the compiler refuses it.)"""
    ch = Chan()
    producer = Thread(target=produce, args=(ch.sender,))
    producer.start()
    consume(ch.receiver)
    producer.join()
    # Each side prints in order, but how their lines interleave is open: the
    # consumer may print "Consumed: 0" before the producer, back from its send,
    # prints "Produced: 0".  Neither side can be more than one value ahead.

    # A channel keeps those values in order that it hands over.  It does not guard
    # an object that the sender goes on using: both sides then have the same object.
    shared = ["sent"]
    ch = Chan(1)
    ch.send(shared)
    shared.append("and changed")
    print(ch.recv())


def main():
    unbuffered()
    buffered()
    producer_and_consumer()


if __name__ == "__main__":
    main()
