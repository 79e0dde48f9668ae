// Package terminal holds what belongs to the user's terminal: the choice of a front end, key bindings,
// prompt history, drafts and notifications.
package terminal
