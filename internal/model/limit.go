package model

import "time"

// A Limit is a provider's rate limit for the user.
type Limit struct {
	Name       string // such as requests or tokens
	Most, Left int
	Reset      time.Time // time of the full reset; zero if unknown
}

// Used returns the used percentage of the limit.
func (l Limit) Used() int { return 100 - 100*l.Left/l.Most }

// LimitReporter is a provider that reports its limits with each answer.
type LimitReporter interface{ Limits() []Limit }
