package desk

import "context"

func helpCommand() Command {
	return Command{Name: "help", Doc: "show this list", Run: func(_ context.Context, d *Desk, _ string) (Answer, error) { return help(d), nil }}
}

// help lists the commands, special input and keys.
func help(d *Desk) Page {
	t := Table{Columns: make([]Column, 2), Indented: true}
	for _, c := range d.Commands() {
		t.Rows = append(t.Rows, []string{c.usage(), c.Doc})
	}
	if !d.Terminal {
		return Page{Blocks: []Block{t}}
	}
	t.Rows = append(t.Rows,
		[]string{"!COMMAND", "run a shell command; the model sees its output with your next prompt"},
		[]string{"#TEXT", "add a line to your instructions; with a space before #, it is a prompt"})
	return Page{Blocks: []Block{
		t,
		Text("To continue on the next line, end a line with \\ or press Alt-Enter or Ctrl-J."),
		Text("Ctrl-B moves the running command to the background."),
		Text("Ctrl-C interrupts; pressed again, it exits. What you type while the model works is sent to it at once."),
	}}
}
