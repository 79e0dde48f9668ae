package plain

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adze/internal/model"
	"adze/internal/platform/spell"
	"adze/internal/platform/term"
	"adze/internal/session"
	"adze/internal/tool"
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
		{"compact", "[FOCUS]", "go on with a summary of the conversation; up-to or from: of a part of it", (*Front).compact},
		{"force-snip", "", "cut out what the model has called stale, an experiment", (*Front).snip},
		{"summary", "", "bring the notes about this session up to date and show them", (*Front).summary},
		{"memory", "[on|off]", "show what is remembered, or leave it aside; edit NAME opens a memory or instructions", (*Front).memory},
		{"context", "", "show what fills the context window", (*Front).context},
		{"tasks", "[ID]", "show what runs in the background; stop ID ends it, fg ID waits for it", (*Front).tasks},
		{"cost", "", "show what this session has cost", (*Front).cost},
		{"exit", "", "leave; also Ctrl-D", func(f *Front, _ context.Context, _ string) { f.quit() }},
	}
}

const (
	most  = 20 // entries of a list
	minID = 8  // characters of an id that are shown, and needed to mean it
)

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
	f.out.line("  #TEXT              add a line to your instructions; after a space it is a prompt")
	f.out.line("A line that ends in \\ goes on; so it does after Alt-Enter or Ctrl-J.")
	f.out.line("Ctrl-B moves the command that runs to the background.")
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
	f.propose(choices, func(_ context.Context, c *Choice) { f.next = &c.ID })
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

// compact has the conversation summed up, or one side of something that was said in it.
func (f *Front) compact(ctx context.Context, arg string) {
	op := session.Compact{Focus: arg}
	side, rest, _ := strings.Cut(arg, " ")
	if side == "up-to" || side == "from" {
		which, focus, _ := strings.Cut(strings.TrimSpace(rest), " ")
		id := f.said(which)
		if id == "" {
			return
		}
		op = session.Compact{Focus: strings.TrimSpace(focus), UpTo: id}
		if side == "from" {
			op.UpTo, op.From = "", id
		}
	}
	f.awaited = f.submit(ctx, op)
}

// said returns the id of what the person said that is meant by its number, counted from the end, or by
// how its id begins. If there is none it says which ones there are.
func (f *Front) said(which string) string {
	turns := f.talk.Turns()
	if n, err := strconv.Atoi(which); err == nil && n >= 1 && n <= len(turns) {
		return turns[n-1].ID
	}
	var found []string
	for _, t := range turns {
		if len(which) >= minID && strings.HasPrefix(t.ID, which) {
			found = append(found, t.ID)
		}
	}
	switch {
	case len(found) == 1:
		return found[0]
	case len(turns) == 0:
		f.out.say("There is nothing to compact yet.")
		return ""
	case which != "":
		f.out.say("There is no message " + which + ".")
	}
	for i, t := range turns[:min(most, len(turns))] {
		f.out.line(fmt.Sprintf("%3d  %s  %s", i+1, t.ID[:min(minID, len(t.ID))], term.Sanitize(tool.OneLine(t.Text, f.out.width()-16))))
	}
	f.out.say("/compact up-to N sums up what was before message N, and /compact from N sums up message N and what follows. The rest stays as it is.")
	return ""
}

func (f *Front) snip(ctx context.Context, _ string) { f.awaited = f.submit(ctx, session.Snip{}) }

func (f *Front) summary(ctx context.Context, _ string) {
	f.awaited = f.submit(ctx, session.Notes{})
}

func (f *Front) memory(ctx context.Context, arg string) {
	if f.cfg.Memory == nil {
		f.out.say("Nothing is remembered here.")
		return
	}
	text, err := f.cfg.Memory(ctx, arg)
	if err != nil {
		text = err.Error()
	}
	f.out.say(text)
}

func (f *Front) context(ctx context.Context, _ string) {
	if f.cfg.Context == nil {
		f.out.say("Nothing is known about the context window here.")
		return
	}
	text, err := f.cfg.Context(ctx)
	if err != nil {
		text = err.Error()
	}
	for line := range strings.Lines(text) {
		f.out.line(term.Sanitize(strings.TrimSuffix(line, "\n")))
	}
}

func (f *Front) cost(context.Context, string) {
	for _, line := range draw.Cost(f.talk.Totals()) {
		f.out.line(line)
	}
}
