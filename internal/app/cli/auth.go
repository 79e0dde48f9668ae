package cli

import (
	"context"
	"errors"

	"adze/internal/agent"
	"adze/internal/app/cli/auth"
	"adze/internal/app/cli/flags"
	"adze/internal/app/models"
	"adze/internal/settings"
	"adze/internal/setup"
)

// authOptions holds the options of adze auth.
type authOptions struct {
	project    settings.Source
	json, text bool
	key        auth.Options
}

func (o *authOptions) flags() []flag {
	return append([]flag{
		{Name: "json", Doc: "with status, print JSON; the default without a terminal", Set: flags.SetBool(&o.json)},
		{Name: "text", Doc: "with status, print text; the default at a terminal", Set: flags.SetBool(&o.text)},
		{Name: "with-token", Doc: "with login, read the key from standard input", Set: flags.SetBool(&o.key.WithToken)},
		{Name: "no-check", Doc: "with login, store the key without asking the provider whether it accepts it", Set: flags.SetBool(&o.key.NoCheck)},
		{Name: "file", Doc: "with login, store the key in a file that only you can read, not in the keyring", Set: flags.SetBool(&o.key.File)},
		{Name: "browser", Doc: "with login, sign in with a web browser instead of a key, at providers that offer that", Set: flags.SetBool(&o.key.Browser)},
		{Name: "open", Doc: "with --browser, open the browser instead of only printing the address", Set: flags.SetBool(&o.key.Open)},
	}, flags.Only(projectFlags(&o.project), "settings", "setting-sources", "managed-settings")...)
}

// explain describes where keys are stored, and the exit codes.
func (*authOptions) explain() string {
	return "A stored key is used if neither the environment nor the settings give one for the provider, and is sent only to the\n" +
		"provider's host. It is stored in the system's keyring; without a keyring, in a file that only you can read.\n\n" +
		"status sends no request and prints no secret; it does not check whether a provider accepts its key. Exit codes: 0\n" +
		"credentials found; 1 no credentials. With --json it is always 0; see loggedIn.\n"
}

func (*authOptions) actions() []action {
	return []action{
		{Name: "login", Args: "[PROVIDER]", Doc: "store an API key, after asking the provider whether it accepts it"},
		{Name: "logout", Args: "[PROVIDER]", Doc: "remove a stored key"},
		{Name: "status", Doc: "show which provider is configured, and where its credentials come from"},
	}
}

func (o *authOptions) run(ctx context.Context, env *Env, in invocation) error {
	action, name := "", ""
	if len(in.Args) > 0 {
		action = in.Args[0]
	}
	if len(in.Args) == 2 {
		name = in.Args[1]
	}
	if err := o.check(in, action); err != nil {
		return err
	}
	p := openLeniently(env, o.project)
	keys := models.OpenKeys(p.Home)
	err := keys.Err()
	if err != nil && action != "status" {
		return err
	} else if err != nil {
		env.Say(err.Error())
	}
	c := models.Config{Settings: p.Settings(), Keys: keys, Version: env.Version, Say: env.Say}
	switch action {
	case "login":
		asks := env.console()
		asks.Choose = chooser(env.dialog(ctx, (&runOptions{}).seat(env, p)))
		err = auth.Store(ctx, asks, c, name, o.key)
	case "logout":
		err = auth.Remove(ctx, env.console(), c, name)
	default:
		err = o.status(env, p, keys)
	}
	return answered(err)
}

// answered maps the error of a prompt.
func answered(err error) error {
	if errors.Is(err, auth.ErrInterrupted) {
		return &Ended{Reason: agent.AbortedStreaming}
	}
	return err
}

// check reports inconsistent arguments.
func (o *authOptions) check(in invocation, action string) error {
	most := map[string]int{"login": 2, "logout": 2, "status": 1}
	switch {
	case most[action] == 0 || len(in.Args) > most[action]:
		return setup.Errorf("usage: adze auth login [PROVIDER], adze auth logout [PROVIDER], or adze auth status [--json|--text]")
	case o.json && o.text:
		return setup.Errorf("--json and --text cannot be used together")
	case action != "login" && (o.key.WithToken || o.key.NoCheck || o.key.File || o.key.Browser || o.key.Open):
		return setup.Errorf("--with-token, --no-check, --file, --browser and --open belong to adze auth login")
	case o.key.WithToken && o.key.Browser:
		return setup.Errorf("--with-token and --browser cannot be used together")
	case o.key.Open && !o.key.Browser:
		return setup.Errorf("--open needs --browser")
	}
	return nil
}

// status prints the credentials. The fields match those queried by ecosystem clients.
func (o *authOptions) status(env *Env, p *settings.Project, keys models.Keys) error {
	a, err := models.Status(p, keys)
	if err != nil {
		return err
	}
	if o.json || !o.text && !env.StdoutTerminal {
		err = env.printJSON(a)
	} else {
		err = env.print(auth.Text(a))
	}
	if err == nil && !a.LoggedIn && !o.json { // JSON consumers read the answer instead
		err = &Ended{}
	}
	return err
}

// console returns the console used to ask for keys.
func (env *Env) console() auth.Console {
	return auth.Console{In: env.Stdin, Out: env.Stdout, Terminal: env.StdinTerminal && env.StdoutTerminal, Keys: env.Keys, Say: env.Say}
}
