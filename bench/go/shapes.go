package main

const fill = 1000 // values in one fill

// -- one goroutine -----------------------------------------------------------

func pair(capacity, n int) Sample {
	c := make(channel, capacity)
	return timed(func() {
		for i := 0; i < n; i++ {
			c <- nil
			<-c
		}
	})
}

func nonblocking(capacity, n int) Sample {
	c := make(channel, capacity)
	return timed(func() {
		for i := 0; i < n; i++ {
			select {
			case c <- nil:
			default:
			}
			select {
			case <-c:
			default:
			}
		}
	})
}

func fillDrain(n int) Sample {
	c := make(channel, fill)
	return timed(func() {
		for i := 0; i < n/fill; i++ {
			for j := 0; j < fill; j++ {
				c <- nil
			}
			for j := 0; j < fill; j++ {
				<-c
			}
		}
	})
}

func iteration(n int) Sample {
	c := filled(n)
	close(c)
	return timed(func() {
		for range c {
		}
	})
}

func filled(n int) channel {
	c := make(channel, n)
	for i := 0; i < n; i++ {
		c <- nil
	}
	return c
}

// -- several goroutines ------------------------------------------------------

func sender(c channel, n int) func() {
	return func() {
		for i := 0; i < n; i++ {
			c <- nil
		}
	}
}

func receiver(c channel, n int) func() {
	return func() {
		for i := 0; i < n; i++ {
			<-c
		}
	}
}

func pingPong(capacity, n int) Sample {
	ping, pong := make(channel, capacity), make(channel, capacity)
	left := func() {
		for i := 0; i < n; i++ {
			ping <- nil
			<-pong
		}
	}
	right := func() {
		for i := 0; i < n; i++ {
			<-ping
			pong <- nil
		}
	}
	return together(left, right)
}

func manyToMany(pairs, capacity, n int) Sample {
	c := make(channel, capacity)
	senders := times(pairs, sender(c, n/pairs))
	return together(append(senders, times(pairs, receiver(c, n/pairs))...)...)
}
