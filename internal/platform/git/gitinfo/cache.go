package gitinfo

import (
	"context"

	"adze/internal/platform/fs/cachefile"
	"adze/internal/platform/git/gitrepo"
)

var format = cachefile.Format{Mark: "adze-git 2\n", Max: 1 << 20}

// A record caches git's answers for later processes.
type record struct {
	repo *gitrepo.Repository // nil if git must run
	head string              // checked-out commit; empty if unknown
	tree string              // that commit's tree
	log  string              // log of that commit
	slow bool                // the status took longer than startup can wait
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
	head, tree, log, slow := r.Text(), r.Text(), r.Text(), r.Flags()[0]
	repo := c.Judge.Load(r, c.Dir)
	if repo == nil || !r.Whole() {
		return k
	}
	return record{repo, head, tree, log, slow}
}

// same reports whether both records serialize to the same data.
func (k *record) same(o *record) bool {
	return k.head == o.head && k.tree == o.tree && k.log == o.log && k.slow == o.slow && k.repo.Same(o.repo)
}

func (s *Source) save(k record) {
	w := &cachefile.Writer{}
	w.Text(k.head, k.tree, k.log)
	w.Flags(k.slow)
	ctx, cancel := context.WithTimeout(context.Background(), limit) // runs even after Close
	defer cancel()
	if k.repo.Save(ctx, w, s.cfg.Dir) {
		s.saver.Save(format, s.cfg.Cache, func() *cachefile.Writer { return w })
	}
}
