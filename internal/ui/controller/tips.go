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

// A tipState holds the observations for choosing a tip. A session shows at most one tip, after
// the turn has ended.
type tipState struct {
	approved map[string]int // calls a rule would allow, by rule
	stopped  time.Time      // time the user last stopped the model
	said     bool           // a message was sent
	next     string         // pending tip; may be empty
	over     bool           // a tip was already chosen in this session
}

// A tipAdvisor decides whether a tip would help.
type tipAdvisor struct{ *Driver }

// did records a user action.
func (d tipAdvisor) did(deed tips.Action) {
	if d.cfg.Tip == nil || d.tips.over || d.tips.next != "" {
		return
	}
	d.tips.next = tips.For(deed)
}

// corrects is the time after a stop in which a message counts as a correction.
const corrects = 2 * time.Minute

// said records a message. Whether it names an outside directory is checked in the background,
// because a file system may be slow.
func (d tipAdvisor) said(text string) {
	deed := tips.Action{Said: text, First: !d.tips.said && len(d.talk.Conversation()) == 0, Stopped: time.Since(d.tips.stopped) < corrects}
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
func (d tipAdvisor) answered(q session.Question, r session.Reply) {
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
	d.did(tips.Action{Approved: d.tips.approved[rule]})
}

// show shows the pending tip unless the user has seen it before. That is looked up in a file,
// in the background.
func (d tipAdvisor) show() {
	name := d.tips.next
	if name == "" || d.tips.over {
		return
	}
	d.tips.next, d.tips.over = "", true
	go func() {
		if text := d.cfg.Tip(d.ctx, name); text != "" {
			d.Post(d.ctx, func(context.Context) {
				d.view.Page(commands.Page{Blocks: []commands.Block{commands.Remark(text)}})
				conversationLoop(d).resume()
			})
		}
	}()
}
