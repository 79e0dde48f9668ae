package talk

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/desk"
	"adze/internal/desk/tips"
	"adze/internal/permission"
	"adze/internal/platform/paths"
	"adze/internal/session"
)

// A tipping is what is known about the user for a tip, of which a session has one at most. It waits until the turn has
// ended.
type tipping struct {
	approved map[string]int // calls that a rule would allow, by the rule
	stopped  time.Time      // when the user stopped the model last
	said     bool           // a message was sent
	next     string         // the tip that waits; may be empty
	over     bool           // there was one
}

// A tipper finds out whether a tip would help.
type tipper struct{ *Driver }

// did notes what the user did.
func (d tipper) did(deed tips.Deed) {
	if d.cfg.Tip == nil || d.tips.over || d.tips.next != "" {
		return
	}
	d.tips.next = tips.For(deed)
}

// corrects is how long after the model was stopped a message says what it should do instead.
const corrects = 2 * time.Minute

// said notes a message. Whether it names a directory elsewhere is found out beside: a file system may be slow.
func (d tipper) said(text string) {
	deed := tips.Deed{Said: text, First: !d.tips.said && len(d.talk.Conversation()) == 0, Stopped: time.Since(d.tips.stopped) < corrects}
	d.tips.said = true
	d.did(deed)
	named := places(text)
	if d.cfg.Tip == nil || d.tips.over || d.tips.next != "" || len(named) == 0 {
		return
	}
	roots := []string{d.talk.Dir}
	if d.talk.Permission.Dirs != nil {
		roots = append(roots, d.talk.Permission.Dirs()...)
	}
	home := d.cfg.Home
	go func() {
		if deed.Outside = elsewhere(named, home, roots); deed.Outside {
			d.Post(d.ctx, func(context.Context) { d.did(deed) })
		}
	}()
}

// maxPlaces is how many paths of a message are looked at.
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

// elsewhere reports whether one of the paths is a directory outside the roots.
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

// answered notes the answer to a question.
func (d tipper) answered(q session.Question, r session.Reply) {
	asked, ok := q.(session.Permission)
	said, allows := r.(session.Decision)
	if !ok || !allows || said.Behavior != permission.Allow || len(said.Updates) > 0 || len(asked.Lasting()) == 0 || len(asked.Lasting()[0].Rules) == 0 {
		return
	}
	if d.tips.approved == nil {
		d.tips.approved = map[string]int{}
	}
	rule := asked.Lasting()[0].Rules[0].String()
	d.tips.approved[rule]++
	d.did(tips.Deed{Approved: d.tips.approved[rule]})
}

// show shows the tip that waits, if the user was not given it before. That is looked up beside, in a file.
func (d tipper) show() {
	name := d.tips.next
	if name == "" || d.tips.over {
		return
	}
	d.tips.next, d.tips.over = "", true
	go func() {
		if text := d.cfg.Tip(d.ctx, name); text != "" {
			d.Post(d.ctx, func(context.Context) {
				d.view.Page(desk.Page{Blocks: []desk.Block{desk.Remark(text)}})
				course(d).resume()
			})
		}
	}()
}
