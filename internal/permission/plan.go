package permission

import (
	"errors"
	"strings"

	"adze/internal/permission/approval"
	"adze/internal/permission/reminder"
)

// reminderEvery is the number of turns between plan mode reminders.
const reminderEvery = 5

// planState tracks the mode changes and reminders to report to the model.
type planState struct {
	left       bool     // the user's answer chose the mode to continue in
	turns      int      // turns since the last plan mode reminder
	introduced bool     // the model has seen the full text
	news       []string // text names to send
}

// changed records the texts to send to the model after a mode change.
func (s *planState) changed(was, now Mode) {
	switch {
	case now == Auto && was != Auto:
		s.news = append(s.news, reminder.AutoOn)
	case was == Auto && now != Auto:
		s.news = append(s.news, reminder.AutoOff)
	}
	if was == Plan && now != Plan {
		s.news = append(s.news, reminder.PlanOff)
		*s = planState{news: s.news}
	}
}

// enter saves the mode in which planning begins. Entering again does not overwrite it.
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

// leftPlan records that the user's answer to a call chose the mode to continue in.
func (s *State) leftPlan() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plan.left = true
}

// ErrPlanning and ErrNotPlanning are returned if a plan tool is used at the wrong time.
var (
	ErrPlanning    = errors.New("plan mode is already on: explore, write the plan to its file, and present it with ExitPlanMode")
	ErrNotPlanning = errors.New("plan mode is not on: continue with the task, or enter plan mode first")
)

// A PlanMode enters and leaves a state's plan mode.
type PlanMode struct{ s *State }

// PlanMode returns the plan mode control of s.
func (s *State) PlanMode() PlanMode { return PlanMode{s} }

// MayEnter returns an error if plan mode cannot be entered now.
func (p PlanMode) MayEnter() error {
	if p.s.Mode() == Plan {
		return ErrPlanning
	}
	return nil
}

// MayLeave returns an error if plan mode is not active.
func (p PlanMode) MayLeave() error {
	if p.s.Mode() != Plan {
		return ErrNotPlanning
	}
	return nil
}

// After returns the mode that applies once a plan is approved.
func (p PlanMode) After() Mode {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if p.s.now.Saved == "" {
		return Default
	}
	return p.s.now.Saved
}

// Enter enters plan mode and returns the text for the model.
func (p PlanMode) Enter() (string, error) {
	if err := p.MayEnter(); err != nil {
		return "", err
	}
	if err := p.s.move(Plan); err != nil {
		return "", err
	}
	return strings.Join(p.s.Reminders(), "\n\n"), nil
}

// Leave leaves plan mode with an approved plan, for mode to or, if that is empty, for the mode
// in which planning began. It returns the new mode.
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
	if s.lead != nil { // a model may have approved the plan
		to = Stricter(to, s.lead.Mode())
	}
	if err := s.move(to); err != nil {
		return "", err
	}
	s.approve(prompts)
	return to, nil
}

// Reminders returns the texts for the model at the start of a turn: that a mode began or ended,
// and every few turns that plan mode is active.
func (s *State) Reminders() []string {
	alone := s.alone != nil && s.alone() // takes the gate's lock
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
	case !s.plan.introduced:
		said = append(said, reminder.Plan(l, s.now.PlanFile, alone))
		s.plan.introduced, s.plan.turns = true, 0
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
