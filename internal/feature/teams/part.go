package teams

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"adze/internal/domain/team"
	"adze/internal/feature"
	"adze/internal/permission"
	"adze/internal/setup"
	"adze/internal/tool"
	teamtool "adze/internal/tools/team"
)

// A Membership is a conversation's role in a team: potential lead or teammate. The zero value is
// neither.
type Membership struct {
	Lead *Lead
	Mate *Teammate

	end func() // stops a teammate in its own process; may be nil
}

// join makes this process a teammate, as recorded by its lead.
func join(c TeammateConfig) (*Teammate, error) {
	_, err := c.Store.Update(context.Background(), c.Team, func(t *team.Team) error {
		me := t.Member(c.Name)
		switch {
		case me == nil || c.Name == team.Lead:
			return fmt.Errorf("the team %s has no teammate %s", c.Team, c.Name)
		case me.Process.Alive():
			return fmt.Errorf("the teammate %s of the team %s runs already", c.Name, c.Team)
		}
		me.Process = team.CurrentProcess()
		return nil
	})
	if err != nil {
		return nil, setup.Errorf("--team-name: %v", err)
	}
	return NewTeammate(c), nil
}

// work runs a teammate in its own process. left is called when it has ended by itself, with an
// error unless it agreed to shut down.
func (p *Membership) work(left func(why error)) {
	life, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	p.end = func() { stop(); <-done }
	go func() {
		defer close(done)
		err := p.Mate.Run(life)
		if life.Err() == nil {
			left(err)
		}
	}()
}

// Close ends a lead's team, or a teammate in its own process, which its lead notices.
func (p *Membership) Close() {
	p.Lead.Close()
	if p.end != nil {
		p.end()
	}
}

// Part returns the membership's contribution to a conversation.
func (p *Membership) Part() feature.Part {
	return feature.Part{Name: "team", Tools: p.Tools(), Close: p.Close}
}

// Tools returns the team tools.
func (p *Membership) Tools() []tool.Tool {
	switch {
	case p.Mate != nil:
		return []tool.Tool{teamtool.Always(p.Mate)}
	case p.Lead != nil:
		return []tool.Tool{teamtool.Create(p.Lead), teamtool.Delete(p.Lead), teamtool.Send(p.Lead)}
	}
	return nil
}

// Await returns a function that makes an unattended turn wait for teammates, and then calls
// other.
func (p *Membership) Await(other func(context.Context, func() bool) bool) func(context.Context, func() bool) bool {
	return func(ctx context.Context, heard func() bool) bool {
		for p.Lead.Busy() {
			if heard() || ctx.Err() != nil {
				return true
			}
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
		}
		return other(ctx, heard)
	}
}

// Attach routes a teammate's prompts to its lead, and runs it if it has its own process.
func (p *Membership) Attach(g *permission.Gate, s Spec, say func(string)) {
	if p.Mate == nil {
		return
	}
	g.SetAsk(p.Mate.Ask)
	if s.Mate != nil {
		return // run by its lead
	}
	p.work(func(why error) {
		if why != nil {
			say(why.Error())
		}
		s.Left()
	})
}

// ownPath returns the path of this program for other processes, or "" if program is empty
// because it must not be started.
func ownPath(program string) string {
	if program == "" {
		return ""
	}
	if path, err := exec.LookPath(os.Args[0]); err == nil {
		if abs, err := filepath.Abs(path); err == nil {
			return abs
		}
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}
