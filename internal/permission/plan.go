package permission

import (
	"errors"
	"strings"

	"adze/internal/permission/approval"
	"adze/internal/permission/reminder"
)

// reminderEvery is after how many turns the model is reminded of the mode again.
const reminderEvery = 5

// planning is what a state remembers about modes the model has to be told of.
type planning struct {
	left  bool     // the user's answer chose the mode to continue in
	turns int      // since the model was last reminded of plan mode
	told  bool     // it has seen the full text
	news  []string // names of texts
}

// changed notes what the model should hear about a change of mode.
func (s *planning) changed(was, now Mode) {
	switch {
	case now == Auto && was != Auto:
		s.news = append(s.news, reminder.AutoOn)
	case was == Auto && now != Auto:
		s.news = append(s.news, reminder.AutoOff)
	}
	if was == Plan && now != Plan {
		s.news = append(s.news, reminder.PlanOff)
		*s = planning{news: s.news}
	}
}

// enter saves the mode that planning begins in. The first one counts, however often it is entered.
func (s *State) enter() {
	if s.now.Saved == "" {
		s.now.Saved = s.now.Mode
		if s.now.Mode == Plan {
			s.now.Saved = Default
			if m := s.defaultMode; m != "" && m != Plan && m != Bypass && !(m == Auto && s.noAuto) {
				s.now.Saved = m
			}
		}
	}
}

// leftPlan notes that the user's answer to a call chose the mode to continue in.
func (s *State) leftPlan() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan.left = true
}

// ErrPlanning and ErrNotPlanning say that a plan tool was used at the wrong time.
var (
	ErrPlanning    = errors.New("plan mode is already on: explore, write the plan to its file, and present it with ExitPlanMode")
	ErrNotPlanning = errors.New("plan mode is not on, so there is no plan to present: continue with the task, or enter plan mode first")
)

// A PlanMode begins and ends planning in a state.
type PlanMode struct{ s *State }

// PlanMode returns how planning begins and ends.
func (s *State) PlanMode() PlanMode { return PlanMode{s} }

// MayEnter reports why planning cannot begin now, or nil.
func (p PlanMode) MayEnter() error {
	if p.s.Mode() == Plan {
		return ErrPlanning
	}
	return nil
}

// MayLeave reports why there is no planning to end, or nil.
func (p PlanMode) MayLeave() error {
	if p.s.Mode() != Plan {
		return ErrNotPlanning
	}
	return nil
}

// After returns the mode in which the work continues once a plan is approved.
func (p PlanMode) After() Mode {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if p.s.now.Saved == "" {
		return Default
	}
	return p.s.now.Saved
}

// Enter begins planning and returns what the model is told.
func (p PlanMode) Enter() (string, error) {
	if err := p.MayEnter(); err != nil {
		return "", err
	}
	if err := p.s.move(Plan); err != nil {
		return "", err
	}
	return strings.Join(p.s.Reminders(), "\n\n"), nil
}

// Leave ends planning with an approved plan: in the chosen mode, or, if that is empty, in the one
// planning began in. It returns the mode.
func (p PlanMode) Leave(to Mode, prompts []approval.Prompt) (Mode, error) {
	s := p.s
	s.mu.Lock()
	mode, saved, left := s.now.Mode, s.now.Saved, s.plan.left
	s.plan.left = false
	s.mu.Unlock()
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
	if s.lead != nil { // who approved the plan may be a model
		to = Stricter(to, s.lead.Mode())
	}
	if err := s.move(to); err != nil {
		return "", err
	}
	s.approve(prompts)
	return to, nil
}

// Reminders returns what the model has to be told at the beginning of a turn: that a mode began or
// ended, and every few turns that it plans.
func (s *State) Reminders() []string {
	alone := s.alone != nil && s.alone() // it takes the lock of the gate
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.language()
	var said []string
	for _, name := range s.plan.news {
		said = append(said, reminder.Text(l, name))
	}
	s.plan.news = nil
	if s.now.Mode != Plan {
		return said
	}
	s.plan.turns++
	switch {
	case !s.plan.told:
		said = append(said, reminder.Plan(l, s.now.PlanFile, alone))
		s.plan.told, s.plan.turns = true, 0
	case s.plan.turns >= reminderEvery:
		still := reminder.PlanStill
		if alone {
			still = reminder.PlanStillAlone
		}
		said = append(said, reminder.Text(l, still, s.now.PlanFile))
		s.plan.turns = 0
	}
	return said
}
