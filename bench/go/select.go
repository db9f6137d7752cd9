package main

// A select's cases are written down, not counted: so there is one loop for each width.

func select2(c []channel, n int) {
	a, b := c[0], c[1]
	for i := 0; i < n; i++ {
		select {
		case <-a:
		case <-b:
		}
	}
}

func select4(c []channel, n int) {
	for i := 0; i < n; i++ {
		select {
		case <-c[0]:
		case <-c[1]:
		case <-c[2]:
		case <-c[3]:
		}
	}
}

func select16(c []channel, n int) {
	for i := 0; i < n; i++ {
		select {
		case <-c[0]:
		case <-c[1]:
		case <-c[2]:
		case <-c[3]:
		case <-c[4]:
		case <-c[5]:
		case <-c[6]:
		case <-c[7]:
		case <-c[8]:
		case <-c[9]:
		case <-c[10]:
		case <-c[11]:
		case <-c[12]:
		case <-c[13]:
		case <-c[14]:
		case <-c[15]:
		}
	}
}

var selectOf = map[int]func([]channel, int){2: select2, 4: select4, 16: select16}

func channels(width int) []channel {
	found := make([]channel, width)
	for i := range found {
		found[i] = make(channel)
	}
	return found
}

func selects(width, n int) Sample {
	loop, c := selectOf[width], channels(width)
	c[width/2] = filled(n)
	return timed(func() { loop(c, n) })
}

func selectDefault(n int) Sample {
	a, b := make(channel, 1), make(channel, 1)
	return timed(func() {
		for i := 0; i < n; i++ {
			select {
			case <-a:
			case <-b:
			default:
			}
		}
	})
}

func selectParks(width, n int) Sample {
	wait, ask, c := selectOf[width], make(channel), channels(width)
	asks := func() {
		for i := 0; i < n; i++ {
			ask <- nil
			wait(c, 1)
		}
	}
	answers := func() {
		for i := 0; i < n; i++ {
			<-ask
			c[i%width] <- nil
		}
	}
	return together(asks, answers)
}
