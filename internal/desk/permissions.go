package desk

import (
	"context"

	"adze/internal/platform/amount"
)

func permissionsCommand() Command {
	return Command{Name: "permissions", Doc: "show the permission mode, the rules and the denied calls",
		Run: func(_ context.Context, d *Desk, _ string) (Answer, error) { return permissionsPage(d), nil }}
}

// permissionsPage lists the rules, highest precedence first, and points out those that never take effect.
func permissionsPage(d *Desk) Page {
	p := Say("The permission mode is " + d.Permission.Mode() + ".")
	policy := d.Permission.Policy()
	shadows := policy.Shadowed()
	table := Table{Columns: []Column{{Name: "Rule"}, {Cut: true}, {Name: "from"}}}
	var notices []Block
	for i, r := range policy.Rules() {
		table.Rows = append(table.Rows, []string{string(r.Behavior), r.Text(), r.Where()})
		if by, ok := shadows[i]; ok {
			notices = append(notices, Notice(string(r.Behavior)+" "+r.Text()+" never takes effect: "+string(by.Behavior)+" "+by.Text()+" comes first"))
		}
		if err := r.Flaw(); err != nil {
			notices = append(notices, Notice(string(r.Behavior)+" "+r.Text()+" never takes effect: "+err.Error()))
		}
	}
	if len(table.Rows) == 0 {
		p.Add(Text("There are no permission rules."))
	} else {
		p.Add(table)
	}
	p.Add(notices...)
	if len(d.Permission.Dirs) > 0 {
		p.Add(Text("Additional working directories:"), Items(d.Permission.Dirs))
	}
	denials := d.Session.Denials()
	if len(denials) == 0 {
		return p
	}
	p.Add(Text(amount.Of(len(denials), "call was", "calls were") + " denied in this session:"))
	denied := Table{Columns: []Column{{}, {Cut: true}}, Indented: true}
	for _, x := range denials[max(0, len(denials)-most):] {
		denied.Rows = append(denied.Rows, []string{x.Tool, string(x.Input)})
	}
	p.Add(denied)
	return p
}
