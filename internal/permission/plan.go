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

// MayEnterPlan reports why planning cannot begin now, or nil.
func (s *State) MayEnterPlan() error {
	if s.Mode() == Plan {
		return ErrPlanning
	}
	return nil
}

// MayLeavePlan reports why there is no planning to end, or nil.
func (s *State) MayLeavePlan() error {
	if s.Mode() != Plan {
		return ErrNotPlanning
	}
	return nil
}

// AfterPlan returns the mode in which the work continues once a plan is approved.
func (s *State) AfterPlan() Mode {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.Saved == "" {
		return Default
	}
	return s.now.Saved
}

// EnterPlan begins planning and returns what the model is told.
func (s *State) EnterPlan() (string, error) {
	if err := s.MayEnterPlan(); err != nil {
		return "", err
	}
	if err := s.SetMode(Plan); err != nil {
		return "", err
	}
	return strings.Join(s.Reminders(), "\n\n"), nil
}

// LeavePlan ends planning with an approved plan: in the chosen mode, or, if that is empty, in the one
// planning began in. It returns the mode.
func (s *State) LeavePlan(to Mode, prompts []approval.Prompt) (Mode, error) {
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
	if err := s.SetMode(to); err != nil {
		return "", err
	}
	s.approve(prompts)
	return to, nil
}

// Reminders returns what the model has to be told at the beginning of a turn: that a mode began or
// ended, and every few turns that it plans.
func (s *State) Reminders() []string {
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
		said = append(said, reminder.Plan(l, s.now.PlanFile))
		s.plan.told, s.plan.turns = true, 0
	case s.plan.turns >= reminderEvery:
		said = append(said, reminder.Text(l, reminder.PlanStill, s.now.PlanFile))
		s.plan.turns = 0
	}
	return said
}
