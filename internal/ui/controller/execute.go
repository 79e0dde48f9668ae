package controller

import (
	"context"
	"errors"
	"strings"

	"adze/internal/commands"
)

// execute executes a command's answer.
func (d *Driver) execute(ctx context.Context, e commandResult) {
	if e.err != nil {
		d.view.Fail(e.err)
		return
	}
	d.questions.chosen = e.chosen
	defer func() { d.questions.chosen = false }()
	switch a := e.answer.(type) {
	case commands.Page:
		d.view.Page(a)
	case commands.List:
		d.questions.offer = &a
		d.view.Offer(ctx, a)
	case commands.Prompt:
		d.queuePrompt(ctx, a.Said())
	case commands.Operation:
		if d.Submit(ctx, a.Op) {
			d.view.Page(a.Page)
			d.awaited = a.Entries
			if a.Draft != "" {
				d.view.Return(a.Draft, a.Pasted)
			}
		}
	case commands.Edit:
		d.showAfter(d.Edit(a.Path), a.Page)
	case commands.Program:
		if d.restart(a.Args) {
			d.view.Page(a.Page)
		}
	case commands.Follow:
		d.view.Page(a.Page)
		d.followed, d.awaited = follow(a.Task), true
	case commands.Copy:
		d.showAfter(d.copyText(a.Text), a.Page)
	case commands.Switch:
		if d.mayLeave() {
			if a.Said != "" {
				d.view.Say(a.Said)
			}
			d.next = &a.Session
		}
	case commands.Leave:
		d.Exit()
	}
}

// showAfter shows the page of an answer that was executed, or the error.
func (d *Driver) showAfter(err error, page commands.Page) {
	if err != nil {
		d.view.Fail(err)
		return
	}
	d.view.Page(page)
}

// copyText copies text to the clipboard, with a program if available, otherwise through the
// terminal.
func (d *Driver) copyText(text string) error {
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

// restart starts this program again with arguments, and reports whether it succeeded.
func (d *Driver) restart(args []string) bool {
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

// Choose chooses from the offered list.
func (d *Driver) Choose(ctx context.Context, c commands.Choice) {
	list := d.questions.offer
	if list == nil {
		return
	}
	d.questions.offer = nil
	d.unfollow()
	d.runCommand(ctx, c.Title, func(ctx context.Context) commandResult {
		answer, err := list.Choose(ctx, c)
		return commandResult{answer: answer, err: err, chosen: true}
	})
	if d.Open(ctx) && !d.Busy() {
		d.view.Ready()
	}
}

// Proceed executes an answer that resulted from the offered list.
func (d *Driver) Proceed(ctx context.Context, a commands.Answer) {
	d.questions.offer = nil
	d.unfollow()
	d.execute(ctx, commandResult{answer: a, chosen: true})
}
