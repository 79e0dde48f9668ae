package app

import (
	"fmt"

	"adze/internal/session/store"
)

// cleanUp removes old sessions in the background, when the user asked for it, and says how many.
func (b *builder) cleanUp(days int) {
	if days <= 0 {
		return
	}
	before := b.env.Now().AddDate(0, 0, -days)
	done := make(chan struct{})
	b.closers = append(b.closers, func() { <-done })
	go func() {
		defer close(done)
		removed, err := store.Cleanup(store.Projects(b.home), before, func(id string) []string { return belongings(b.home, id) })
		if err != nil {
			b.env.say(err.Error())
		}
		if removed > 0 {
			b.env.say(fmt.Sprintf("%d sessions older than %d days were removed (cleanupPeriodDays)", removed, days))
		}
	}()
}
