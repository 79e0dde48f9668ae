package plain

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"adze/internal/desk"
	"adze/internal/ui/draw"
)

// isCommand reports whether text is a command.
func isCommand(text string) bool {
	_, _, ok := desk.Parse(text)
	return ok
}

// complete completes a command, its argument or a mentioned file.
func (f *Front) complete(before string) (completed string, choices []string) {
	if f.talk == nil {
		return before, nil
	}
	return f.talk.Complete(context.Background(), before)
}

// carryOut carries out what a command has answered.
func (f *Front) carryOut(ctx context.Context, e ending) {
	if e.err != nil {
		f.out.fail(e.err)
		return
	}
	switch a := e.answer.(type) {
	case desk.Page:
		f.out.page(a)
	case desk.List:
		a.Choices = a.Choices[:min(maxChoices, len(a.Choices))]
		f.out.lines(draw.Choices(a, f.out.options()))
		f.out.say("Enter a number to choose, or anything else to continue.")
		f.offer = &offer{a}
	case desk.Prompt:
		runner{f}.queue(ctx, a.Said())
	case desk.Operation:
		if f.submit(ctx, a.Op) {
			f.out.page(a.Page)
			f.awaited = a.Entries
		}
	case desk.Edit:
		if err := f.edit(a.Path); err != nil {
			f.out.fail(err)
			return
		}
		f.out.page(a.Page)
	case desk.Program:
		if start(f, a.Args) {
			f.out.page(a.Page)
		}
	case desk.Follow:
		f.out.page(a.Page)
		f.followed, f.awaited = follow(a.Task), true
	case desk.Copy:
		if err := copyText(f.cfg, a.Text); err != nil {
			f.out.fail(err)
			return
		}
		f.out.page(a.Page)
	case desk.Switch:
		if (exit{f}).confirmed() {
			f.next = &a.Session
		}
	case desk.Leave:
		exit{f}.ask()
	}
}

// maxCopied is how much a terminal is sent for the clipboard, in bytes; many drop more.
const maxCopied = 74_000

// copyText puts text on the clipboard: by a program if there is one, or else by asking the terminal.
func copyText(cfg Config, text string) error {
	if cfg.Programs.Copy != nil {
		if done, err := cfg.Programs.Copy(text); done || err != nil {
			return err
		}
	}
	switch {
	case !cfg.Keys:
		return errors.New("this terminal has no clipboard, and neither wl-copy, xclip, xsel nor pbcopy is there")
	case len(text) > maxCopied:
		return errors.New("the answer is too long for the terminal's clipboard; /export writes the session to a file")
	}
	_, err := io.WriteString(cfg.Out, "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte(text))+"\a")
	return err
}

func (f *Front) edit(path string) error {
	if f.cfg.Programs.Edit == nil {
		return desk.NoEditor(path)
	}
	f.out.leave()
	return f.cfg.Programs.Edit(path)
}

// start starts this program again with arguments, and reports whether it succeeded.
func start(f *Front, args []string) bool {
	if f.cfg.Programs.Start == nil {
		f.out.fail(errors.New("use adze " + strings.Join(args, " ")))
		return false
	}
	f.out.leave()
	done, err := f.cfg.Programs.Start(args)
	if err != nil {
		f.out.fail(err)
	}
	return done && err == nil
}

// maxChoices is how many choices a list offers.
const maxChoices = 20

// An offer is a list from which the user may choose with the next line, by number.
type offer struct{ desk.List }

// pick returns the choice with the number in text, or nil. The offer may be nil.
func (o *offer) pick(text string) *desk.Choice {
	if o == nil {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(o.Choices) {
		return nil
	}
	return &o.Choices[n-1]
}

// answers reports whether text can only be meant for the offer, though it is no choice: another number, a letter, a yes
// or a no. It is nothing to ask a model. The offer may be nil.
func (o *offer) answers(text string) bool {
	_, err := strconv.Atoi(text)
	return o != nil && (err == nil || utf8.RuneCountInString(text) == 1 || wordOf(text) != saysElse)
}
