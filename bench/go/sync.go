package main

import (
	"sync"
	"sync/atomic"
)

// stepsOf makes a loop of n operations on one object; all loops of it share the object.
// What no Python contender can do without a call, Go may inline.
func stepsOf(port string) func(n int) func() {
	times := func(f func()) func(n int) func() {
		return func(n int) func() {
			return func() {
				for i := 0; i < n; i++ {
					f()
				}
			}
		}
	}
	switch port {
	case "mutex":
		var mu sync.Mutex
		return times(func() { mu.Lock(); mu.Unlock() })
	case "read":
		var mu sync.RWMutex
		return times(func() { mu.RLock(); mu.RUnlock() })
	case "write":
		var mu sync.RWMutex
		return times(func() { mu.Lock(); mu.Unlock() })
	case "signal":
		cond := sync.NewCond(&sync.Mutex{})
		return times(cond.Signal)
	case "wait_group":
		var group sync.WaitGroup
		return times(func() { group.Add(1); group.Done() })
	case "once":
		var once sync.Once
		return times(func() { once.Do(func() {}) })
	case "map_load":
		var m sync.Map
		m.Store("key", nil)
		return times(func() { m.Load("key") })
	case "map_store":
		var m sync.Map
		return times(func() { m.Store("key", nil) })
	case "number":
		var number int64
		return times(func() { atomic.AddInt64(&number, 1) })
	}
	return nil
}

func step(port string, n int) Sample {
	return timed(stepsOf(port)(n))
}

func stepShared(port string, goroutines, n int) Sample {
	loop := stepsOf(port)(n / goroutines)
	return together(times(goroutines, loop)...)
}

func handOver(n int) Sample {
	var mu sync.Mutex
	cond, turn := sync.NewCond(&mu), 0
	side := func(me int) func() {
		return func() {
			mu.Lock()
			for i := 0; i < n; i++ {
				for turn != me {
					cond.Wait()
				}
				turn = 1 - me
				cond.Signal()
			}
			mu.Unlock()
		}
	}
	return together(side(0), side(1))
}
