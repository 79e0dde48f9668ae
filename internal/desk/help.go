package desk

import "context"

func helpCommand() Command {
	return Command{Name: "help", Doc: "show this list", Run: func(_ context.Context, d *Desk, _ string) (Answer, error) { return help(d), nil }}
}

// help lists the commands and what else can be typed.
func help(d *Desk) Page {
	t := Table{Columns: make([]Column, 2), Indented: true}
	for _, c := range d.Commands() {
		t.Rows = append(t.Rows, []string{c.usage(), c.Doc})
	}
	if !d.Terminal {
		return Page{Blocks: []Block{t}}
	}
	t.Rows = append(t.Rows,
		[]string{"!COMMAND", "run a command yourself; the model sees what it printed"},
		[]string{"#TEXT", "add a line to your instructions; after a space it is a prompt"})
	return Page{Blocks: []Block{
		t,
		Text("A line that ends in \\ goes on; so it does after Alt-Enter or Ctrl-J."),
		Text("Ctrl-B moves the command that runs to the background."),
		Text("Ctrl-C interrupts, and leaves when pressed again. What you type while the model works reaches it at once."),
	}}
}
