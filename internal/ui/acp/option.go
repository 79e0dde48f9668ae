package acp

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"adze/internal/commands"
	"adze/internal/model"
	"adze/internal/permission"
	"adze/internal/session"
	"adze/internal/tool"
)

// The IDs of the configuration options.
const (
	optionMode     = "mode"
	optionModel    = "model"
	optionEffort   = "effort"
	optionThinking = "thinking"
)

// announced holds the last values sent to the client.
type announced struct {
	mode     string
	options  []configOption
	commands []availableCommand
	title    string
}

// announce sends the commands, the mode, the options and the title, if they have changed.
func (t *thread) announce() {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := announced{t.Commands.Permission.Mode(), t.options(), t.commands(), t.title()}
	if now.mode != t.last.mode {
		t.send(modeUpdate{"current_mode_update", now.mode})
	}
	if !reflect.DeepEqual(now.options, t.last.options) {
		t.send(configUpdate{"config_option_update", now.options})
	}
	if !reflect.DeepEqual(now.commands, t.last.commands) {
		t.send(commandsUpdate{"available_commands_update", now.commands})
	}
	if now.title != t.last.title {
		t.send(infoUpdate{"session_info_update", now.title, stamp(t.s.cfg.Now())})
	}
	t.last = now
}

// title returns the session's title, or "" before there is one.
func (t *thread) title() string {
	if t.Commands.Log == nil {
		return ""
	}
	if title := t.Commands.Log.Titled(); title != "" {
		return title
	}
	for _, e := range t.Session.Conversation() {
		if text := commands.MessageText(e.Message); text != "" && !e.Hidden {
			title, _ := t.Commands.Entitle(text, false) // ok: nothing is stored
			return title
		}
	}
	return ""
}

func (t *thread) commands() []availableCommand {
	list := []availableCommand{}
	for _, c := range t.Commands.Commands() {
		if c.Rare {
			continue
		}
		a := availableCommand{Name: c.Name, Description: c.Doc}
		if c.Args != "" {
			a.Input = &commandInput{c.Args}
		}
		list = append(list, a)
	}
	return list
}

// modes returns the permission modes that can be chosen.
func (t *thread) modes() *modeState {
	p := t.Commands.Permission
	state := &modeState{CurrentModeID: p.Mode()}
	for _, m := range permission.Modes() {
		if string(m) == state.CurrentModeID || p.Allowed == nil || p.Allowed(string(m)) {
			state.AvailableModes = append(state.AvailableModes, sessionMode{string(m), string(m), m.About()})
		}
	}
	return state
}

// options returns the session's options with their values.
func (t *thread) options() []configOption {
	mode := configOption{Type: "select", ID: optionMode, Name: "Mode", Category: "mode", Description: "Which calls are allowed, asked about or denied"}
	modes := t.modes()
	mode.CurrentValue = modes.CurrentModeID
	for _, m := range modes.AvailableModes {
		mode.Options = append(mode.Options, configChoice{m.ID, m.Name, m.Description})
	}
	current := t.Session.Model()
	models := configOption{Type: "select", ID: optionModel, Name: "Model", Category: "model", CurrentValue: current}
	known := t.Commands.Models.Catalog
	for _, name := range known.Aliases() {
		m, _ := known.Lookup(name) // ok: without an entry only the name is shown
		models.Options = append(models.Options, configChoice{name, name, m.Name})
	}
	id := current
	if m, err := t.Commands.Preamble.Resolve(current); err == nil {
		id = m.ID
	}
	if !slices.ContainsFunc(models.Options, func(c configChoice) bool { return c.Value == current }) {
		models.Options = append(models.Options, configChoice{current, current, id})
	}
	list := []configOption{mode, models}
	m, _ := known.Lookup(id) // ok: then it has no known levels
	if levels := m.Efforts(); len(levels) > 0 {
		effort := configOption{Type: "select", ID: optionEffort, Name: "Effort", Category: "thought_level", CurrentValue: "auto"}
		effort.Options = append(effort.Options, configChoice{"auto", "auto", "left to the model"})
		for _, level := range levels {
			effort.Options = append(effort.Options, configChoice{Value: string(level), Name: string(level)})
			if level == t.Session.Effort() {
				effort.CurrentValue = string(level)
			}
		}
		list = append(list, effort)
	}
	return append(list, t.thinking())
}

// thinking returns the option that switches thinking, as a list for clients without switches.
func (t *thread) thinking() configOption {
	mode := t.Session.Thinking().Mode
	on := mode == model.ThinkingAdaptive || mode == model.ThinkingBudget
	o := configOption{Type: "boolean", ID: optionThinking, Name: "Thinking", Category: "thought_level", CurrentValue: on, Description: "Whether the model may think before it answers"}
	if t.caps.Session.ConfigOptions.Boolean == nil {
		o.Type, o.CurrentValue = "select", onOff(on)
		o.Options = []configChoice{{Value: "on", Name: "on"}, {Value: "off", Name: "off"}}
	}
	return o
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (s *server) setMode(ctx context.Context, in modeRequest) (any, func(), error) {
	t, err := s.thread(in.SessionID)
	if err != nil {
		return nil, nil, err
	}
	if err := t.Session.Submit(ctx, session.SetMode{Mode: in.ModeID}); err != nil {
		return nil, nil, errorf(codeParams, "%v", err)
	}
	return nil, nil, nil
}

// setConfigOption sets an option as the command of the same name does.
func (s *server) setConfigOption(ctx context.Context, in configRequest) (any, func(), error) {
	t, err := s.thread(in.SessionID)
	if err != nil {
		return nil, nil, err
	}
	var value string
	var on bool
	switch {
	case json.Unmarshal(in.Value, &on) == nil && in.ConfigID == optionThinking:
		value = onOff(on)
	case json.Unmarshal(in.Value, &value) != nil || value == "":
		return nil, nil, errorf(codeParams, "the value of %s must be the value of an option", tool.OneLine(in.ConfigID, 60))
	}
	switch in.ConfigID {
	case optionMode, optionModel, optionEffort, optionThinking:
	default:
		return nil, nil, errorf(codeParams, "there is no option %q", tool.OneLine(in.ConfigID, 60))
	}
	answer, err := t.Commands.Run(ctx, in.ConfigID, value)
	if err == nil {
		op, ok := answer.(commands.Operation)
		if !ok {
			return nil, nil, errorf(codeInternal, "%s cannot be set", in.ConfigID)
		}
		err = t.Session.Submit(ctx, op.Op)
	}
	if err != nil {
		return nil, nil, errorf(codeParams, "%v", err)
	}
	return configResponse{t.options()}, t.announce, nil
}
