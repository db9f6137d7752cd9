package main

import (
	"math"
	"sort"
	"sync"
	"time"
)

const (
	parked  = 300 * time.Microsecond // after which a goroutine that waits has parked
	settled = 50 * time.Millisecond  // the same for a crowd on a busy machine
)

// -- latency -----------------------------------------------------------------

func percentile(values []float64, percent float64) float64 {
	sort.Float64s(values)
	index := float64(len(values)) * percent / 100
	return values[int(math.Min(index, float64(len(values)-1)))]
}

func wakeUp(percent float64, n int) Sample {
	c := make(channel, 1)
	sent, woken := make([]time.Time, n), make([]time.Time, n)
	receives := func() {
		for i := range woken {
			<-c
			woken[i] = time.Now()
		}
	}
	sends := func() {
		for i := range sent {
			time.Sleep(parked)
			sent[i] = time.Now()
			c <- nil
		}
	}
	together(receives, sends)
	took := make([]float64, n)
	for i := range took {
		took[i] = woken[i].Sub(sent[i]).Seconds()
	}
	return figure(percentile(took, percent))
}

// closing is per receiver, from the close until the last of them has woken.
func closing(n int) Sample {
	c := make(channel)
	var began, ended sync.WaitGroup
	began.Add(n)
	ended.Add(n)
	for i := 0; i < n; i++ {
		go func() {
			began.Done()
			<-c
			ended.Done()
		}()
	}
	began.Wait()
	time.Sleep(settled)
	start := time.Now()
	close(c)
	ended.Wait()
	return figure(time.Since(start).Seconds() / float64(n))
}

// -- fairness ----------------------------------------------------------------

// jain is 1 where all have the same, 1/len where one has everything.
func jain(counts []int) float64 {
	sum, squares := 0.0, 0.0
	for _, count := range counts {
		sum += float64(count)
		squares += float64(count) * float64(count)
	}
	return sum * sum / (float64(len(counts)) * squares)
}

// after is the time in so many milliseconds, when a round of fairness ends.
func after(ms int) time.Time {
	time.Sleep(settled / 5) // all of the others wait
	return time.Now().Add(time.Duration(ms) * time.Millisecond)
}

func fairReceivers(receivers, n int) Sample {
	c, counts := make(channel, 1), make([]int, receivers)
	loops := []func(){func() {
		for end := after(n); time.Now().Before(end); {
			c <- nil
		}
		close(c)
	}}
	for i := range counts {
		count := &counts[i]
		loops = append(loops, func() {
			own := 0
			for range c {
				own++
			}
			*count = own
		})
	}
	together(loops...)
	return figure(jain(counts))
}

func fairSenders(senders, n int) Sample {
	c, over, counts := make(channel, 1), make(chan struct{}), make([]int, senders)
	loops := []func(){func() {
		for end := after(n); time.Now().Before(end); {
			counts[(<-c).(int)]++
		}
		close(over)
	}}
	for i := range counts {
		i := i
		loops = append(loops, func() {
			for {
				select {
				case c <- i:
				case <-over:
					return
				}
			}
		})
	}
	together(loops...)
	return figure(jain(counts))
}
