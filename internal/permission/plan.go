package permission

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// reminderEvery is after how many turns the model is reminded of the mode again.
const reminderEvery = 5

// planning is what the gate remembers about modes the model has to be told of.
type planning struct {
	left    bool // the person's answer chose the mode to go on in
	turns   int  // since the model was last reminded of plan mode
	told    bool // it has seen the full text
	entered bool // it has planned before, so that there may be an old plan
	news    []string
}

// changed notes what the model should hear about a change of mode.
func (s *planning) changed(was, now Mode) {
	switch {
	case now == Auto && was != Auto:
		s.news = append(s.news, autoOn)
	case was == Auto && now != Auto:
		s.news = append(s.news, autoOff)
	}
	if was == Plan && now != Plan {
		s.news = append(s.news, planOff)
		*s = planning{entered: true, news: s.news}
	}
}

const (
	autoOn  = "Auto mode is on: calls are judged by a classifier instead of being asked about. Go on without routine questions, but still keep away from what destroys, reaches outside the task, or sends data elsewhere."
	autoOff = "Auto mode is off: calls that are not allowed are asked about again."
	planOff = "Plan mode is over: you may make changes again, within what is allowed."
)

// enter saves the mode that planning begins in. The first one counts, however often it is entered.
func (g *Gate) enter() {
	if g.now.Saved == "" {
		g.now.Saved = g.now.Mode
		if g.now.Mode == Plan {
			g.now.Saved = Default
			if m := g.cfg.DefaultMode; m != "" && m != Plan && m != Bypass {
				g.now.Saved = m
			}
		}
	}
}

// ErrPlanning and ErrNotPlanning say that a plan tool was used at the wrong time.
var (
	ErrPlanning    = errors.New("plan mode is on already: explore, write the plan to its file, and present it with ExitPlanMode")
	ErrNotPlanning = errors.New("plan mode is not on, so there is no plan to present: go on with the task, or enter plan mode first")
)

// EnterPlan begins planning and returns what the model is told.
func (g *Gate) EnterPlan() (string, error) {
	if g.Mode() == Plan {
		return "", ErrPlanning
	}
	if err := g.SetMode(Plan); err != nil {
		return "", err
	}
	return strings.Join(g.Reminders(), "\n\n"), nil
}

// LeavePlan ends planning with an approved plan: in the chosen mode, or, if that is empty, in the one
// planning began in. It returns the mode.
func (g *Gate) LeavePlan(to Mode, prompts []Prompt) (Mode, error) {
	g.mu.Lock()
	mode, saved, left := g.now.Mode, g.now.Saved, g.plan.left
	g.plan.left = false
	g.mu.Unlock()
	switch {
	case mode != Plan && !left:
		return "", ErrNotPlanning
	case mode != Plan && to == "":
		to = mode
	case to == "":
		to = saved
	}
	if to == "" || to == Plan {
		to = Default
	}
	if err := g.SetMode(to); err != nil {
		return "", err
	}
	g.approve(prompts)
	return to, nil
}

// Reminders returns what the model has to be told at the beginning of a turn: that a mode began or
// ended, and every few turns that it plans.
func (g *Gate) Reminders() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	said := g.plan.news
	g.plan.news = nil
	if g.now.Mode != Plan {
		return said
	}
	g.plan.turns++
	switch {
	case !g.plan.told:
		said = append(said, planText(g.now.PlanFile, g.plan.entered))
		g.plan.told, g.plan.turns = true, 0
	case g.plan.turns >= reminderEvery:
		said = append(said, fmt.Sprintf(planShort, g.now.PlanFile))
		g.plan.turns = 0
	}
	return said
}

const planShort = "Plan mode is still on: nothing but the plan file %s may be written. Present the plan with ExitPlanMode when it is ready."

// planText tells the model how to plan.
func planText(file string, again bool) string {
	var b strings.Builder
	b.WriteString("Plan mode is on. The user wants a plan before anything is changed: make only calls that read, and ")
	fmt.Fprintf(&b, "write nothing but the plan file %s.\n", file)
	if again || hasText(file) {
		b.WriteString("There is a plan in that file from before: read it first, and change it or replace it, whichever fits the task.\n")
	}
	b.WriteString("1. Understand: read the code that the task concerns, and ask about what is unclear.\n")
	b.WriteString("2. Design: compare ways to do it and choose one.\n")
	b.WriteString("3. Write the plan to its file: the chosen way, the files to change, how to verify it.\n")
	b.WriteString("4. Present it with ExitPlanMode, which asks the user. Do not ask for approval in any other way.")
	return b.String()
}

func hasText(file string) bool {
	if file == "" {
		return false
	}
	info, err := os.Stat(file)
	return err == nil && info.Size() > 0
}
