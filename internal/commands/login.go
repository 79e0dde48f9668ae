package commands

import (
	"context"
	"strings"
)

func loginCommand() Command {
	return Command{Name: "login", Kind: Change, Args: "[PROVIDER]", Terminal: true, Instead: "adze auth login",
		Doc: "store an API key for a model provider, or sign in to one with --browser",
		Run: func(_ context.Context, _ *Registry, arg string) (Answer, error) {
			return authenticate("login", arg, "/clear starts a conversation with the new credentials; this one switches to them when its key is rejected."), nil
		}}
}

func logoutCommand() Command {
	return Command{Name: "logout", Kind: Change, Args: "[PROVIDER]", Terminal: true, Instead: "adze auth logout",
		Doc: "remove the stored API key of a model provider",
		Run: func(_ context.Context, _ *Registry, arg string) (Answer, error) {
			return authenticate("logout", arg, "This conversation may use the key until it ends; /clear begins another one."), nil
		}}
}

// authenticate lets the program itself ask for keys, so that the conversation never contains
// one.
func authenticate(action, arg, after string) Program {
	return Program{Args: append([]string{"auth", action}, strings.Fields(arg)...), Page: Say(after)}
}
