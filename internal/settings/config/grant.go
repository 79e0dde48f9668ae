package config

import (
	"fmt"
	"strings"

	"adze/internal/platform/fs/scope"
)

// A Grant determines how much of a file takes effect.
type Grant uint8

// Grants, from most to least permissive.
const (
	// Whole is for files written by the user or an administrator.
	Whole Grant = iota
	// Workspace is for files of a workspace that the user trusts: everything except keys that
	// no workspace may set.
	Workspace
	// Hosted is for files of a workspace that a host vouches for. It is like Workspace, but
	// allow rules and directories are ignored until the user trusts the workspace.
	Hosted
	// Untrusted is for files of any other workspace: only deny and ask rules take effect.
	Untrusted
)

// permit returns an error if the file may not set the key to v.
func (k *Key) permit(d *document, v any) error {
	switch {
	case k.Managed && d.scope != scope.Managed:
		return fmt.Errorf("%s counts only in managed settings", k.Name)
	case d.scope == scope.Local && holds(k.NotLocal, v):
		return fmt.Errorf("%s cannot be %v in a file of the workspace: set it in your own settings", k.Name, v)
	case d.grant == Whole:
		return nil
	case k.Personal:
		return fmt.Errorf("%s cannot be set by a project: set it in your own settings", k.Name)
	case len(k.Tighten) > 0 && !holds(k.Tighten, v):
		return fmt.Errorf("%s is set to %v by the project, which may only set it to %s", k.Name, v, strings.Join(k.Tighten, ", "))
	}
	return nil
}

func holds(texts []string, v any) bool {
	for _, s := range texts {
		if s == fmt.Sprint(v) {
			return true
		}
	}
	return false
}
