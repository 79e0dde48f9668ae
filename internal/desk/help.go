package desk

import (
	"context"

	"adze/internal/platform/amount"
)

func helpCommand() Command {
	return Command{Name: "help", Doc: "show this list", Run: func(_ context.Context, d *Desk, _ string) (Answer, error) { return help(d), nil }}
}

// maxOffered is how many commands that come and go are listed.
const maxOffered = 30

// help lists the commands, special input and keys.
func help(d *Desk) Page {
	var t Terms
	all := d.Commands()
	most := min(len(all), len(d.commands)+maxOffered)
	for _, c := range all[:most] {
		t = append(t, Term{c.usage(), c.Doc})
	}
	if more := len(all) - most; more > 0 {
		t = append(t, Term{"/" + all[most].Name, amount.Of(more, "more command", "more commands") + " of servers from here on; Tab completes them"})
	}
	t = append(t, Term{"@PATH", `attach a file or a directory to your message; @PATH#L10-20 attaches lines, @"MY FILE" a name with blanks`})
	if !d.Terminal {
		return Page{Blocks: []Block{t}}
	}
	t = append(t,
		Term{"!COMMAND", "run a shell command; the model sees its output with your next prompt"},
		Term{"#TEXT", "add a line to your instructions; with a space before #, it is a prompt"})
	return Page{Blocks: []Block{
		t,
		Text("What you type while the model works is sent to it as soon as the running call is done. Ctrl-C interrupts it. /keys lists the keys."),
	}}
}

func keysCommand() Command {
	return Command{Name: "keys", Doc: "show the keys", Terminal: true, Run: func(context.Context, *Desk, string) (Answer, error) { return keys(), nil }}
}

// keys lists the keys of a terminal.
func keys() Page {
	return Page{Blocks: []Block{Terms{
		{"Enter", "send the message"},
		{"Alt-Enter, Ctrl-J", "begin a new line; so does Enter after a \\"},
		{"Tab", "complete a command, its argument or @PATH"},
		{"Esc", "interrupt the model; twice at an empty prompt: /rewind"},
		{"Ctrl-C", "interrupt the model, or drop what you typed; twice: exit"},
		{"Ctrl-D", "exit, at an empty prompt"},
		{"Ctrl-B", "move the running command to the background"},
		{"Shift-Tab", "change to the next permission mode"},
		{"Ctrl-O", "show the whole output of the last command"},
		{"Up, Down", "move between lines, and to earlier messages"},
		{"Ctrl-R", "search earlier messages"},
		{"Alt-B, Alt-F", "move by a word; so do Ctrl-Left and Ctrl-Right"},
		{"Ctrl-A, Ctrl-E", "move to the start or the end of the line"},
		{"Ctrl-W, Alt-D", "delete the word before or after the cursor"},
		{"Ctrl-U, Ctrl-K", "delete to the start or the end of the line"},
		{"Ctrl-Y", "insert what was deleted last"},
		{"Ctrl-_", "undo the last change to the message"},
		{"Ctrl-L", "clear the screen"},
		{"?", "show this list, at an empty prompt"},
		{"Ctrl-Z", "suspend adze; fg in the shell continues it"},
	}}}
}
