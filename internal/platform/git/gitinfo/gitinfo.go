// Package gitinfo takes a snapshot of a git repository: from git's files if they are simple
// enough, otherwise by running git. It never writes to the repository and runs git only if a
// [gitrepo.Judge] trusts it. It caches stable answers for later processes, so that starting in
// an unchanged repository does not wait for git.
package gitinfo

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"adze/internal/platform/fs/cachefile"
	"adze/internal/platform/git/gitrepo"
)

const (
	// limit is the timeout for each command.
	limit = 5 * time.Second
	// statusDelay is how long after the first snapshot a slow status starts, so that git does
	// not compete with the first request.
	statusDelay = 100 * time.Millisecond
	// maxStatus is the maximum length of the status, in characters.
	maxStatus = 2000
)

// A Snapshot describes a repository. Fields are empty if git did not answer, or not in time.
type Snapshot struct {
	Branch  string // empty if HEAD is detached
	Default string // default branch
	User    string
	// Status is in short format. Clean means that it is empty, Cut that it was truncated,
	// Pending that git has not answered yet.
	Status              string
	Clean, Cut, Pending bool
	Log                 string // latest commits, one per line
}

// Config configures a [Source]. Judge and Dir are required.
type Config struct {
	Judge *gitrepo.Judge
	Dir   string
	// Cache is the cache file; if empty, nothing is cached.
	Cache string
	// Wait is how long the first snapshot waits for the status, which is slow in large
	// repositories.
	Wait time.Duration
	// Quick, if non-nil, computes the output of git status --short in dir without running git,
	// if it can. The index has no changes if it would commit tree.
	Quick func(ctx context.Context, repo *gitrepo.Repository, dir, tree string) (string, bool)
}

// A Source reads a repository in the background. It is safe for concurrent use.
type Source struct {
	cfg    Config
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	saver  cachefile.Saver

	facts  chan struct{} // closed when everything but the status is known
	status chan struct{} // closed when the status is known or will not be
	asked  chan struct{} // closed by the first Snapshot
	once   sync.Once
	slow   bool // the last status was slow; set before facts is closed

	mu  sync.Mutex
	now Snapshot
}

// Open starts reading the repository that contains c.Dir. The caller must call Close.
func Open(c Config) *Source {
	s := &Source{cfg: c, facts: make(chan struct{}), status: make(chan struct{}), asked: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.work.Go(s.read)
	return s
}

// Snapshot returns the known facts. The first call waits for everything but the status, and for
// the status up to Config.Wait.
func (s *Source) Snapshot() Snapshot {
	s.once.Do(func() {
		<-s.facts
		if !s.slow {
			timer := time.NewTimer(s.cfg.Wait)
			defer timer.Stop()
			select {
			case <-s.status:
			case <-timer.C:
			}
		}
		close(s.asked)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Close stops reading and waits for the background work to end.
func (s *Source) Close() {
	s.cancel()
	s.work.Wait()
	s.saver.Close()
}

// read fills the snapshot and saves a record for later processes.
func (s *Source) read() {
	kept := load(s.cfg)
	repo := kept.repo
	if repo == nil {
		repo = s.cfg.Judge.Of(s.cfg.Dir).Repository()
	}
	if repo == nil {
		close(s.facts)
		close(s.status)
		return
	}
	s.slow = kept.slow
	s.set(func(all *Snapshot) { all.User, all.Pending = firstLine(repo.User()), true })
	now := record{head: kept.head, tree: kept.tree, log: kept.log}
	head, direct := s.readRefs(repo)
	if head == "" || head != kept.head {
		now.head, now.tree, now.log = "", "", ""
	}
	tree := now.tree
	var status sync.WaitGroup
	status.Go(func() {
		now.repo, now.slow = s.readStatus(repo, tree)
		close(s.status)
	})
	if !direct {
		s.askRefs(repo)
	}
	if now.head == "" {
		if repo := s.renew(repo); repo != nil {
			if log, ok := s.ask(repo, "log", "--no-decorate", "--format=tformat:%T %h %s", "-n", "5"); ok {
				now.head = head
				now.tree, now.log = splitLog(log)
			}
		}
	}
	s.set(func(all *Snapshot) { all.Log = now.log })
	close(s.facts)
	status.Wait()
	if s.cfg.Cache != "" && now.repo != nil && !now.same(&kept) {
		s.save(now)
	}
}

// splitLog removes the trees from the lines of a log, and returns the first one.
func splitLog(text string) (tree, log string) {
	var lines []string
	for line := range strings.Lines(text) {
		id, line, _ := strings.Cut(line, " ")
		if tree == "" {
			tree = id
		}
		lines = append(lines, line)
	}
	return tree, strings.Join(lines, "")
}

// readStatus reads the status. It returns the repository's state at that time and whether the
// status took longer than startup can wait. If git was slow last time, it runs only after
// startup.
func (s *Source) readStatus(repo *gitrepo.Repository, tree string) (*gitrepo.Repository, bool) {
	if tree != "" && s.cfg.Quick != nil {
		if now := s.renew(repo); now != nil {
			began := time.Now()
			if out, ok := s.cfg.Quick(s.ctx, now, s.cfg.Dir, tree); ok {
				s.setStatus(out)
				return now, time.Since(began) > s.cfg.Wait
			}
		}
	}
	if s.slow && !s.afterStart() {
		return repo, true
	}
	if repo = s.renew(repo); repo == nil {
		s.set(func(all *Snapshot) { all.Pending = false })
		return nil, s.slow
	}
	began := time.Now()
	out, ok := s.ask(repo, "status", "--short")
	if ok {
		s.setStatus(out)
	} else {
		s.set(func(all *Snapshot) { all.Pending = false })
	}
	return repo, time.Since(began) > s.cfg.Wait
}

func (s *Source) setStatus(out string) {
	s.set(func(all *Snapshot) {
		all.Status, all.Cut = cut(out)
		all.Clean, all.Pending = out == "", false
	})
}

// renew returns the current state of the repository, or nil if git must not run in it. A commit
// changes the index, so a saved repository is out of date after it.
func (s *Source) renew(repo *gitrepo.Repository) *gitrepo.Repository {
	if now := repo.Current(); now != nil {
		return now
	}
	return s.cfg.Judge.Of(s.cfg.Dir).Repository()
}

// afterStart waits until the first snapshot has been taken and used. It reports whether the
// source is still open.
func (s *Source) afterStart() bool {
	select {
	case <-s.asked:
	case <-s.ctx.Done():
		return false
	}
	timer := time.NewTimer(statusDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

func (s *Source) set(change func(*Snapshot)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.now)
}

func (s *Source) ask(repo *gitrepo.Repository, args ...string) (string, bool) {
	ctx, cancel := context.WithTimeout(s.ctx, limit)
	defer cancel()
	out, err := repo.Ask(ctx, s.cfg.Dir, args...)
	return strings.TrimRight(strings.ToValidUTF8(string(out[:min(len(out), maxOutput)]), "\uFFFD"), "\n"), err == nil
}

// readRefs finds the branches in git's files, if it can. It returns the checked-out commit, or
// "" if unknown.
func (s *Source) readRefs(repo *gitrepo.Repository) (head string, ok bool) {
	r, ok := openRefs(repo)
	if !ok {
		return "", false
	}
	usual := r.usual()
	s.set(func(all *Snapshot) { all.Branch, all.Default = r.branch, usual })
	return r.current(), true
}

// askRefs finds the branches by running git.
func (s *Source) askRefs(repo *gitrepo.Repository) {
	var both sync.WaitGroup
	both.Go(func() {
		if out, ok := s.ask(repo, "symbolic-ref", "--short", "HEAD"); ok {
			s.set(func(all *Snapshot) { all.Branch = out })
		}
	})
	both.Go(func() {
		out, ok := s.ask(repo, "for-each-ref", "--format=%(refname) %(symref)", "refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master")
		if ok {
			s.set(func(all *Snapshot) { all.Default = defaultBranch(out) })
		}
	})
	both.Wait()
}

// defaultBranch returns the remote's default branch, or a branch with a usual name.
func defaultBranch(refs string) string {
	usual := ""
	for line := range strings.Lines(refs) {
		name, target, _ := strings.Cut(strings.TrimSpace(line), " ")
		if branch, ok := strings.CutPrefix(target, "refs/remotes/origin/"); ok {
			return branch
		}
		if branch, ok := strings.CutPrefix(name, "refs/heads/"); ok && usual == "" {
			usual = branch
		}
	}
	return usual
}

// cut truncates an overlong status at a line end.
func cut(status string) (string, bool) {
	if utf8.RuneCountInString(status) <= maxStatus {
		return status, false
	}
	end := 0
	for range maxStatus {
		_, n := utf8.DecodeRuneInString(status[end:])
		end += n
	}
	if i := strings.LastIndexByte(status[:end], '\n'); i > 0 {
		end = i
	}
	return status[:end], true
}

// maxOutput is the number of output bytes kept, more than a snapshot holds.
const maxOutput = 64 << 10

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.ToValidUTF8(text, "\uFFFD"), "\n")
	return line
}
