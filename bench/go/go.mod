module gochan/bench

go 1.18
