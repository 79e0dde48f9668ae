package gitinfo

import (
	"context"

	"adze/internal/platform/cachefile"
	"adze/internal/platform/gitrepo"
)

var format = cachefile.Format{Mark: "adze-git 1\n", Max: 1 << 20}

// A record caches git's answers for later processes.
type record struct {
	repo *gitrepo.Repository // nil if git must run
	head string              // the commit that is checked out; empty if it is not known
	log  string              // the log of that commit
	slow bool                // the status took longer than a start can wait
}

// load returns the valid parts of a saved record.
func load(c Config) (k record) {
	if c.Cache == "" {
		return k
	}
	r := format.Load(c.Cache)
	if r == nil || r.Foreign() {
		return k
	}
	head, log, slow := r.Text(), r.Text(), r.Flags()[0]
	repo := c.Judge.Load(r, c.Dir)
	if repo == nil || !r.Whole() {
		return k
	}
	return record{repo, head, log, slow}
}

// same reports whether another record would be saved alike.
func (k *record) same(o *record) bool {
	return k.head == o.head && k.log == o.log && k.slow == o.slow && k.repo.Same(o.repo)
}

// save saves a record in the background.
func (s *Source) save(k record) {
	w := &cachefile.Writer{}
	w.Text(k.head, k.log)
	w.Flags(k.slow)
	ctx, cancel := context.WithTimeout(context.Background(), limit) // also when the source is closed
	defer cancel()
	if k.repo.Save(ctx, w, s.cfg.Dir) {
		s.saver.Save(format, s.cfg.Cache, func() *cachefile.Writer { return w })
	}
}
