package controller

import (
	"context"
	"errors"
	"strings"

	"adze/internal/commands"
)

// carryOut executes a command's answer.
func (d runner) carryOut(ctx context.Context, e commandResult) {
	if e.err != nil {
		d.view.Fail(e.err)
		return
	}
	d.chosen = e.chosen
	defer func() { d.chosen = false }()
	switch a := e.answer.(type) {
	case commands.Page:
		d.view.Page(a)
	case commands.List:
		d.offer = &a
		d.view.Offer(ctx, a)
	case commands.Prompt:
		d.queue(ctx, a.Said())
	case commands.Operation:
		if d.Submit(ctx, a.Op) {
			d.view.Page(a.Page)
			d.awaited = a.Entries
			if a.Draft != "" {
				d.view.Return(a.Draft)
			}
		}
	case commands.Edit:
		d.after(d.Edit(a.Path), a.Page)
	case commands.Program:
		if d.start(a.Args) {
			d.view.Page(a.Page)
		}
	case commands.Follow:
		d.view.Page(a.Page)
		d.followed, d.awaited = follow(a.Task), true
	case commands.Copy:
		d.after(d.copy(a.Text), a.Page)
	case commands.Switch:
		if exit(d).confirmed() {
			if a.Said != "" {
				d.view.Say(a.Said)
			}
			d.next = &a.Session
		}
	case commands.Leave:
		d.Exit()
	}
}

// after shows a page, or an error.
func (d runner) after(err error, page commands.Page) {
	if err != nil {
		d.view.Fail(err)
		return
	}
	d.view.Page(page)
}

// copy copies text to the clipboard, with a program if available, otherwise through the
// terminal.
func (d runner) copy(text string) error {
	if d.cfg.Programs.Copy != nil {
		if done, err := d.cfg.Programs.Copy(text); done || err != nil {
			return err
		}
	}
	return d.view.Clipboard(text)
}

// Edit opens a file in the user's editor.
func (d *Driver) Edit(path string) error {
	if d.cfg.Programs.Edit == nil {
		return commands.NoEditor(path)
	}
	d.view.Yield()
	return d.cfg.Programs.Edit(path)
}

// start starts this program again with arguments, and reports whether it succeeded.
func (d runner) start(args []string) bool {
	if d.cfg.Programs.Start == nil {
		d.view.Fail(errors.New("use adze " + strings.Join(args, " ")))
		return false
	}
	d.view.Yield()
	done, err := d.cfg.Programs.Start(args)
	if err != nil {
		d.view.Fail(err)
	}
	return done && err == nil
}

// Offered returns the list the user may choose from, or nil.
func (d *Driver) Offered() *commands.List { return d.offer }

// Choose chooses from the offered list.
func (d *Driver) Choose(ctx context.Context, c commands.Choice) {
	list := d.offer
	if list == nil {
		return
	}
	d.offer = nil
	d.unfollow()
	runner{d}.run(ctx, c.Title, func(ctx context.Context) commandResult {
		answer, err := list.Choose(ctx, c)
		return commandResult{answer: answer, err: err, chosen: true}
	})
	if d.Open(ctx) && !d.Busy() {
		d.view.Ready()
	}
}

// Proceed executes an answer that resulted from the offered list.
func (d *Driver) Proceed(ctx context.Context, a commands.Answer) {
	d.offer = nil
	d.unfollow()
	runner{d}.carryOut(ctx, commandResult{answer: a, chosen: true})
}

// Chosen reports whether the current answer results from a choice in a list.
func (q *questionQueue) Chosen() bool { return q.chosen }

// Reoffer offers a list again, when the user returns to it from the result of a choice.
func (q *questionQueue) Reoffer(l commands.List) {
	q.leave()
	q.offer = &l
}

// leave dismisses the offered list, and reports whether there was one.
func (q *questionQueue) leave() bool {
	list := q.offer
	q.offer = nil
	if list != nil && list.Leave != nil {
		list.Leave()
	}
	return list != nil
}

// Decline dismisses the offered list, and reports whether there was one.
func (d *Driver) Decline() bool { return d.leave() }
