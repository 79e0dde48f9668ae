package agents

import (
	"fmt"
	"strings"

	"adze/internal/domain/agentdef"
	"adze/internal/feature/agents/builtin"
	agenttool "adze/internal/tools/agent"
)

// kinds lists the agent types that can be launched in a conversation.
type kinds struct{ cfg *Config }

// usual returns the default agent type; "" means a fork.
func (k kinds) usual() string {
	switch {
	case k.cfg.Coordinator:
		return builtin.Worker
	case k.cfg.Settings().Fork:
		return ""
	}
	return builtin.General
}

// types returns the agent types listed for the model.
func (k kinds) types() []agenttool.Type {
	var list []agenttool.Type
	for _, d := range k.cfg.Definitions.Early().Definitions {
		if k.refused(d) != nil || k.unlisted(d) {
			continue
		}
		list = append(list, agenttool.Type{Name: d.Name, About: d.Description})
	}
	return list
}

// unlisted reports whether a launchable agent is omitted from the model's list: it is for a
// specific command, the user has not enabled it, or it lacks required servers.
func (k kinds) unlisted(d *agentdef.Definition) bool {
	return k.cfg.Servers.Lacking(d) || d.Source.Kind == agentdef.BuiltIn && (d.Name == builtin.StatusLine || d.Name == builtin.Verification && !k.cfg.Settings().Verify)
}

// refused returns why an agent type cannot be launched here, or nil.
func (k kinds) refused(d *agentdef.Definition) error {
	if rule := k.cfg.Denied(d.Name); rule != "" {
		return fmt.Errorf("agents of the type %s are denied by %s", d.Name, rule)
	}
	if k.cfg.Coordinator && d.Name != builtin.Worker {
		return fmt.Errorf("a coordinator launches agents of the type %s only", builtin.Worker)
	}
	if k.cfg.Self != nil && !k.cfg.Self.MayLaunch(d.Name) {
		return fmt.Errorf("an agent of type %s may not launch agents of type %s", k.cfg.Self.Name, d.Name)
	}
	return nil
}

// get returns the named agent type if it can be launched here.
func (k kinds) get(name string) (*agentdef.Definition, error) {
	d := k.cfg.Definitions.All().Get(name)
	if d == nil {
		return nil, k.unknown(name)
	}
	return d, k.refused(d)
}

// unknown returns the error for an unknown type, listing the available and the denied ones.
func (k kinds) unknown(name string) error {
	set := k.cfg.Definitions.All()
	var denied []string
	for _, d := range set.Definitions {
		if k.cfg.Denied(d.Name) != "" {
			denied = append(denied, d.Name)
		}
	}
	err := set.Unknown(name)
	if len(denied) > 0 {
		err = fmt.Errorf("%w (denied by rules: %s)", err, strings.Join(denied, ", "))
	}
	return err
}
