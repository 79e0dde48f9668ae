package model

import "time"

// A Limit is how much of something a provider lets the user have in a while.
type Limit struct {
	Name       string // such as requests or tokens
	Most, Left int
	Reset      time.Time // when all of it is there again; zero if that is not known
}

// Used returns how much of the limit is used, in percent.
func (l Limit) Used() int { return 100 - 100*l.Left/l.Most }

// Limited is a provider that is told its limits with each answer.
type Limited interface{ Limits() []Limit }
