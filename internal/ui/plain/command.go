package plain

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adze/internal/model"
	"adze/internal/platform/spell"
	"adze/internal/session"
	"adze/internal/ui/draw"
)

// A command is something that the front end does itself.
type command struct {
	name, args, doc string
	run             func(f *Front, ctx context.Context, arg string)
}

func commands() []command {
	return []command{
		{"help", "", "show this list", (*Front).help},
		{"clear", "", "start a new session; this one is kept", func(f *Front, _ context.Context, _ string) { f.next = new(string) }},
		{"resume", "[SESSION]", "go on with an earlier session", (*Front).resume},
		{"rename", "TITLE", "give this session a title", (*Front).rename},
		{"export", "[FILE]", "write this session to a file: .md, .html or .json", (*Front).export},
		{"model", "[NAME]", "show or choose the model", (*Front).model},
		{"mode", "[MODE]", "show or choose the permission mode", (*Front).mode},
		{"effort", "LEVEL", "how hard the model tries: low, medium, high, max or auto", (*Front).effort},
		{"thinking", "on|off", "let the model think before it answers", (*Front).thinking},
		{"fast", "", "faster answers of the same model, where there are any", (*Front).fast},
		{"compact", "[FOCUS]", "go on with a summary of the conversation", (*Front).compact},
		{"summary", "", "bring the notes about this session up to date and show them", (*Front).summary},
		{"cost", "", "show what this session has cost", (*Front).cost},
		{"exit", "", "leave; also Ctrl-D", func(f *Front, _ context.Context, _ string) { f.quit() }},
	}
}

// find returns the command of that name, or nil.
func find(name string) *command {
	all := commands()
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name || name == "quit" && c.name == "exit" })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// isCommand reports whether a text that begins with a slash is meant as a command, and not as a path.
func isCommand(text string) bool {
	word, _, _ := strings.Cut(text[1:], " ")
	return !strings.ContainsAny(word, "/\n")
}

func (f *Front) command(ctx context.Context, text string) {
	name, arg, _ := strings.Cut(text[1:], " ")
	c := find(name)
	if c == nil {
		var names []string
		for _, c := range commands() {
			names = append(names, c.name)
		}
		hint := "/help lists them"
		if near := spell.Closest(name, names, 1); len(near) > 0 {
			hint = "did you mean /" + near[0] + "?"
		}
		f.out.say(fmt.Sprintf("There is no command /%s; %s", name, hint))
		return
	}
	c.run(f, ctx, strings.TrimSpace(arg))
}

// complete returns the command that text is the only beginning of.
func complete(text string) string {
	if !strings.HasPrefix(text, "/") {
		return text
	}
	var found []string
	for _, c := range commands() {
		if strings.HasPrefix("/"+c.name, text) {
			found = append(found, "/"+c.name)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return text
}

func (f *Front) help(context.Context, string) {
	for _, c := range commands() {
		f.out.line(fmt.Sprintf("  %-18s %s", strings.TrimSpace("/"+c.name+" "+c.args), c.doc))
	}
	f.out.line("  !COMMAND           run a command yourself; the model sees what it printed")
	f.out.line("A line that ends in \\ goes on; so it does after Alt-Enter or Ctrl-J.")
	f.out.line("Ctrl-C interrupts, and leaves when pressed again. What you type while the model works reaches it at once.")
}

func (f *Front) resume(_ context.Context, arg string) {
	if arg != "" {
		f.next = &arg
		return
	}
	if f.cfg.Sessions == nil {
		f.out.say("Earlier sessions are not available here.")
		return
	}
	choices, err := f.cfg.Sessions()
	switch {
	case err != nil:
		f.out.say(err.Error())
		return
	case len(choices) == 0:
		f.out.say("There is no earlier session of this directory.")
		return
	}
	const most = 20
	choices = choices[:min(most, len(choices))]
	for i, c := range choices {
		f.out.say(fmt.Sprintf("%3d  %s  (%s)", i+1, c.Title, c.About))
	}
	f.out.say("Enter a number, or go on as you were.")
	f.choices = choices
}

// pick returns the choice whose number text is, or nil.
func pick(choices []Choice, text string) *Choice {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(choices) {
		return nil
	}
	return &choices[n-1]
}

func (f *Front) rename(_ context.Context, arg string) {
	if f.cfg.Rename == nil {
		f.out.say("This session is not kept, so it needs no title.")
		return
	}
	if err := f.cfg.Rename(f.talk.ID(), arg); err != nil {
		f.out.say(err.Error())
		return
	}
	f.out.say("The session is called " + arg + ".")
}

func (f *Front) export(_ context.Context, arg string) {
	if f.cfg.Export == nil {
		f.out.say("This session is not kept, so it cannot be exported.")
		return
	}
	path, err := f.cfg.Export(f.talk.ID(), arg)
	if err != nil {
		f.out.say(err.Error())
		return
	}
	f.out.say("Written to " + path)
}

func (f *Front) model(ctx context.Context, arg string) {
	if arg != "" {
		f.awaited = f.submit(ctx, session.SetModel{Name: arg})
		return
	}
	f.out.say("The model is " + f.talk.Model() + ".")
	if f.cfg.Models != nil {
		f.out.say("To choose another: /model " + strings.Join(f.cfg.Models(), ", "))
	}
}

func (f *Front) mode(ctx context.Context, arg string) {
	if arg != "" {
		f.awaited = f.submit(ctx, session.SetMode{Mode: arg})
		return
	}
	if f.talk.Mode != nil {
		f.out.say("The permission mode is " + f.talk.Mode() + ".")
	}
	if f.cfg.Modes != nil {
		f.out.say("To choose another: /mode " + strings.Join(f.cfg.Modes(), ", "))
	}
}

func (f *Front) effort(ctx context.Context, arg string) {
	level := model.Effort(arg)
	switch level {
	case model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortMax:
	case "auto":
		level = ""
	default:
		f.out.say("Choose one of low, medium, high, max and auto.")
		return
	}
	if f.submit(ctx, session.SetEffort{Effort: level}) {
		f.out.say("The effort is " + arg + " from now on. To keep it: adze config set effort " + arg)
	}
}

func (f *Front) thinking(ctx context.Context, arg string) {
	var how model.Thinking
	switch arg {
	case "on":
		how.Mode = model.ThinkingAdaptive
	case "off":
	default:
		f.out.say("Choose on or off.")
		return
	}
	if f.submit(ctx, session.SetThinking{Thinking: how}) {
		f.out.say("Thinking is " + arg + " from now on.")
	}
}

// fast says that there is nothing to choose: no provider of this version has a faster variant.
func (f *Front) fast(context.Context, string) {
	f.out.say("The provider has no faster variant of " + f.talk.Model() + "; nothing was changed.")
}

func (f *Front) compact(ctx context.Context, arg string) {
	f.awaited = f.submit(ctx, session.Compact{Focus: arg})
}

func (f *Front) summary(ctx context.Context, _ string) {
	f.awaited = f.submit(ctx, session.Notes{})
}

func (f *Front) cost(context.Context, string) {
	for _, line := range draw.Cost(f.talk.Totals()) {
		f.out.line(line)
	}
}
