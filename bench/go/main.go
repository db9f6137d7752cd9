// The contender Go: the shapes of ../shapes.py and ../figures.py, on Go's own channels.
//
// It reads lines of JSON, [kind, [arguments], n], does n operations of that kind of
// shape and answers with a line, [seconds of the clock, seconds of CPU time]; or with a
// string that says what is wrong with the request.  It ends when its input does.
//
// A value is nil in an interface, as it is None in Python: a reference, not a number.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"runtime"
	"syscall"
	"time"
)

type channel = chan interface{}

// Sample is a round, in seconds: of the clock, and of all threads' CPU time.
// For what is no time per operation, the first is the figure itself.
type Sample [2]float64

func figure(value float64) Sample {
	return Sample{value, 0}
}

type request struct {
	kind string
	args []interface{}
	n    int
}

func (r *request) UnmarshalJSON(line []byte) error {
	return json.Unmarshal(line, &[]interface{}{&r.kind, &r.args, &r.n})
}

func (r request) arg(i int) int {
	return int(r.args[i].(float64))
}

func (r request) port() string {
	return r.args[0].(string)
}

// answer is the Sample of a round, or a string that says what is wrong.
func (r request) answer() interface{} {
	switch r.kind {
	case "pair":
		return pair(r.arg(0), r.n)
	case "nonblocking":
		return nonblocking(r.arg(0), r.n)
	case "fill_drain":
		return fillDrain(r.n)
	case "iteration":
		return iteration(r.n)
	case "select":
		return selects(r.arg(0), r.n)
	case "select_default":
		return selectDefault(r.n)
	case "ping_pong":
		return pingPong(r.arg(0), r.n)
	case "many_to_many":
		return manyToMany(r.arg(0), r.arg(1), r.n)
	case "select_parks":
		return selectParks(r.arg(0), r.n)
	case "step":
		return step(r.port(), r.n)
	case "step_shared":
		return stepShared(r.port(), r.arg(1), r.n)
	case "hand_over":
		return handOver(r.n)
	case "wake_up":
		return wakeUp(r.args[0].(float64), r.n)
	case "close":
		return closing(r.n)
	case "fair_receivers":
		return fairReceivers(r.arg(0), r.n)
	case "fair_senders":
		return fairSenders(r.arg(0), r.n)
	}
	return "no shape of this kind: " + r.kind
}

// -- measuring ---------------------------------------------------------------

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	used := syscall.TimevalToNsec(usage.Utime) + syscall.TimevalToNsec(usage.Stime)
	return float64(used) / 1e9
}

func timed(loop func()) Sample {
	runtime.GC() // what the rounds before have left is not this one's work
	start, before := time.Now(), cpuSeconds()
	loop()
	return Sample{time.Since(start).Seconds(), cpuSeconds() - before}
}

// together runs loops at once, each in a goroutine, until all have ended.
func together(loops ...func()) Sample {
	gate, over := make(chan struct{}), make(chan struct{})
	for _, loop := range loops {
		loop := loop
		go func() {
			<-gate
			loop()
			over <- struct{}{}
		}()
	}
	return timed(func() {
		close(gate)
		for range loops {
			<-over
		}
	})
}

func times(count int, loop func()) []func() {
	loops := make([]func(), count)
	for i := range loops {
		loops[i] = loop
	}
	return loops
}

// -- the loop over the requests ----------------------------------------------

func main() {
	answers := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			panic(err)
		}
		if err := answers.Encode(r.answer()); err != nil {
			return // whoever asked is gone
		}
	}
}
