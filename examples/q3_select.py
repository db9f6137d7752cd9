"""Select: whichever of two channels has something first.

Threads stand in for goroutines.
"""

import time
from threading import Thread

from gochan import Chan, select


def send_after(seconds, ch, text):
    time.sleep(seconds)
    ch.send(text)


def main():
    ch1, ch2 = Chan(), Chan()
    Thread(target=send_after, args=(0.1, ch1, "one")).start()
    Thread(target=send_after, args=(0.2, ch2, "two")).start()

    # Each round waits until one case can go, and does that one.  A case can also
    # go because its channel is closed; a None, which is the nil channel, never can.
    for _ in range(2):
        match select(ch1, ch2):
            case 0, _, True:
                print("Received from ch1")
            case 1, _, True:
                print("Received from ch2")

    # The order is certain although select chooses at random: it chooses among the
    # cases that can go at one instant, and at 0.1 s only ch1 can.  The order would
    # be open if the first select began when both senders are waiting already.


if __name__ == "__main__":
    main()
