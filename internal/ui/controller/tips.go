package controller

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/commands/tips"
	"adze/internal/permission"
	"adze/internal/platform/fs/paths"
	"adze/internal/session"
)

// A tipAdvisor decides from the user's actions whether a tip would help. A session shows at
// most one tip, after the turn has ended.
type tipAdvisor struct {
	enabled bool
	home    string
	post    func(do func()) // runs do in the driver's goroutine

	approved map[string]int // calls a rule would allow, by rule
	stopped  time.Time      // time the user last stopped the model
	spoken   bool           // a message was sent
	next     string         // pending tip; may be empty
	over     bool           // a tip was already chosen in this session
}

func (d *Driver) newTipAdvisor() *tipAdvisor {
	return &tipAdvisor{
		enabled: d.cfg.Tip != nil, home: d.cfg.Home,
		post: func(do func()) { d.Post(d.ctx, func(context.Context) { do() }) },
	}
}

// open reports whether a tip may still be chosen.
func (t *tipAdvisor) open() bool { return t.enabled && !t.over && t.next == "" }

// observe records a user action.
func (t *tipAdvisor) observe(a tips.Action) {
	if t.open() {
		t.next = tips.For(a)
	}
}

// corrects is the time after a stop in which a message counts as a correction.
const corrects = 2 * time.Minute

// said records a message. Whether it names an outside directory is checked in the background,
// because a file system may be slow.
func (t *tipAdvisor) said(text string, c *Conversation) {
	a := tips.Action{Said: text, First: !t.spoken && len(c.Conversation()) == 0, Stopped: time.Since(t.stopped) < corrects}
	t.spoken = true
	t.observe(a)
	named := places(text)
	if !t.open() || len(named) == 0 {
		return
	}
	roots := []string{c.Dir}
	if c.Permission.Dirs != nil {
		roots = append(roots, c.Permission.Dirs()...)
	}
	go func() {
		if a.Outside = elsewhere(named, t.home, roots); a.Outside {
			t.post(func() { t.observe(a) })
		}
	}()
}

// maxPlaces is the maximum number of paths checked per message.
const maxPlaces = 3

// places returns the paths in a message that are absolute, or in the home directory.
func places(text string) (all []string) {
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, "\"'`(),.:;?!")
		if len(all) < maxPlaces && len(word) > 2 && (filepath.IsAbs(word) || strings.HasPrefix(word, "~/")) {
			all = append(all, word)
		}
	}
	return all
}

// elsewhere reports whether any of the paths is a directory outside the roots.
func elsewhere(named []string, home string, roots []string) bool {
	for _, path := range named {
		if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
			path = filepath.Join(home, rest)
		}
		inside := false
		for _, root := range roots {
			inside = inside || path == root || paths.Relative(root, path) != path
		}
		if info, err := os.Stat(path); !inside && err == nil && info.IsDir() {
			return true
		}
	}
	return false
}

// answered records the answer to a question.
func (t *tipAdvisor) answered(q session.Question, r session.Reply) {
	asked, ok := q.(session.Permission)
	said, allows := r.(session.Decision)
	if !ok || !allows || said.Behavior != permission.Allow || len(said.Updates) > 0 || len(asked.Lasting()) == 0 || len(asked.Lasting()[0].Rules) == 0 {
		return
	}
	if t.approved == nil {
		t.approved = map[string]int{}
	}
	rule := asked.Lasting()[0].Rules[0].String()
	t.approved[rule]++
	t.observe(tips.Action{Approved: t.approved[rule]})
}

// take returns the pending tip, or "". No other is chosen afterwards.
func (t *tipAdvisor) take() string {
	name := t.next
	if name == "" || t.over {
		return ""
	}
	t.next, t.over = "", true
	return name
}

// showTip shows the pending tip unless the user has seen it before. That is looked up in a
// file, in the background.
func (d *Driver) showTip() {
	name := d.tips.take()
	if name == "" {
		return
	}
	go func() {
		if text := d.cfg.Tip(d.ctx, name); text != "" {
			d.Post(d.ctx, func(context.Context) {
				d.view.Page(commands.Page{Blocks: []commands.Block{commands.Remark(text)}})
				d.resume()
			})
		}
	}()
}
