// Package auth implements the dialogs for storing and removing the user's API keys.
package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"adze/internal/app/models"
	"adze/internal/platform/net/browser"
	"adze/internal/platform/net/keyring"
	"adze/internal/platform/term"
	"adze/internal/setup"
	"adze/internal/ui/console"
)

// A Console is used to prompt the user.
type Console struct {
	In  io.Reader
	Out io.Writer
	// Terminal is true if In and Out are a terminal.
	Terminal bool
	// Keys switches the terminal to raw mode without echo; may be nil.
	Keys func() (restore func(), err error)
	// Choose asks a multiple-choice question with a dialog. It returns -1 if the user cancels.
	// If Choose is nil, or fails with an error other than [ErrInterrupted], login asks on a
	// line.
	Choose func(q console.Choice) (int, error)
	// Say shows the user a message outside the output.
	Say func(string)
}

func (c Console) print(text string) error {
	_, err := io.WriteString(c.Out, text)
	return err
}

// Options configures how a key is obtained and where it is stored.
type Options struct {
	WithToken bool // read the key from the input
	Browser   bool // sign in with a web browser
	Open      bool // open the browser
	NoCheck   bool // don't check the key with the provider
	File      bool // store in the file instead of the keyring
}

// Text describes the credentials for a terminal.
func Text(a models.Auth) string {
	var b strings.Builder
	if a.LoggedIn {
		fmt.Fprintf(&b, "provider     %s, because of %s\ncredentials  %s, from %s\n", a.Provider, term.Sanitize(a.Why), strings.ReplaceAll(a.Method, "_", " "), term.Sanitize(a.Source))
	} else {
		b.WriteString("No credentials are configured. Store a key with `adze auth login`, or set a variable such as ANTHROPIC_API_KEY;\n`adze help auth` shows all ways.\n")
	}
	for i, server := range a.Servers {
		if i == 0 {
			b.WriteString("\nMCP servers that you are signed in to (adze mcp logout NAME signs out):\n")
		}
		fmt.Fprintf(&b, "%-12s %s, since %s, in the %s\n", server.Server, term.Sanitize(server.Host), server.Added.Local().Format("2 January 2006"), server.Place)
	}
	if len(a.Configured) == 0 {
		return b.String()
	}
	fmt.Fprintf(&b, "\n%-12s %-15s %-8s %s\n", "PROVIDER", "CREDENTIALS", "KEY", "FROM")
	for _, c := range a.Configured {
		from := c.Source
		if c.Place != "" {
			from += fmt.Sprintf(" (in the %s, for %s)", c.Place, c.Host)
		}
		if !c.Used {
			from += ", not used"
		}
		row := fmt.Sprintf("%-12s %-15s %-8s %s", c.Provider, strings.ReplaceAll(c.Method, "_", " "), c.Key, term.Sanitize(from))
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	return b.String()
}

// Store asks for a key for the named provider and stores it. If name is empty, it asks for the
// provider too.
func Store(ctx context.Context, c Console, p models.Config, name string, o Options) error {
	if name == "" {
		var err error
		if name, err = c.choose(ctx); err != nil {
			return err
		}
	}
	l, err := models.NewLogin(p, name)
	if err != nil {
		return err
	}
	key, err := c.key(ctx, l, o)
	if err != nil {
		return err
	}
	if !o.NoCheck {
		if err := l.Check(ctx, key); errors.Is(err, models.ErrRejected) {
			return fmt.Errorf("%w; nothing was stored (--no-check stores it all the same)", err)
		} else if err != nil && ctx.Err() == nil {
			c.Say(fmt.Sprintf("could not check the key: %v; it is stored unchecked", err))
		}
	}
	to := keyring.Auto
	if o.File {
		to = keyring.File
	}
	e, err := l.Store(ctx, key, to)
	if err != nil {
		return err
	}
	return c.print(stored(p, e, o.File))
}

// stored describes where a key is stored, and whether it will be used.
func stored(p models.Config, e keyring.Entry, asked bool) string {
	place := "the system keyring"
	if e.Place == keyring.File {
		place = "a file that only you can read"
		if !asked {
			place += " (no system keyring)"
		}
	}
	text := fmt.Sprintf("Saved the key for %s in %s. It is sent only to %s.\n", e.Name, place, e.Host)
	if others := models.KeyVariables(p.Settings, e.Name); len(others) > 0 {
		text += fmt.Sprintf("It is not used while %s is set, which comes first.\n", strings.Join(others, " or "))
	}
	return text + fmt.Sprintf("Remove it with: adze auth logout %s\n", e.Name)
}

// choose asks which provider to store a key for.
func (c Console) choose(ctx context.Context) (string, error) {
	names := models.Logins()
	if !c.Terminal {
		return "", setup.Errorf("no provider given; usage: adze auth login PROVIDER (one of %s)", strings.Join(names, ", "))
	}
	i, err := c.choice(ctx, console.Choice{Question: "Which provider is the key for?", Answers: names, Leaving: "quit"}, "quit")
	switch {
	case err != nil:
		return "", err
	case i < 0:
		return "", ErrInterrupted
	}
	return names[i], nil
}

// attempts is the number of invalid answers accepted.
const attempts = 3

// key returns the key to store.
func (c Console) key(ctx context.Context, l *models.Login, o Options) (string, error) {
	switch {
	case o.WithToken:
		const most = 64 << 10
		data, err := io.ReadAll(io.LimitReader(c.In, most))
		if err != nil {
			return "", err
		}
		key := strings.TrimSpace(string(data))
		return key, models.CheckKey(key)
	case o.Browser:
		key, err := l.SignIn(ctx, func(address string) error { return c.show(address, o.Open) })
		if err != nil {
			return "", err
		}
		return key, models.CheckKey(key)
	case !c.Terminal:
		return "", setup.Errorf("no terminal to ask for the key at; pass it on standard input: adze auth login %s --with-token <FILE", l.Provider)
	}
	text := fmt.Sprintf("Paste the API key for %s. It is not shown.\n", l.Provider)
	if l.Page != "" {
		text += fmt.Sprintf("Create one at %s\n", l.Page)
	}
	if l.Browser {
		text += fmt.Sprintf("To sign in with a web browser instead: adze auth login %s --browser\n", l.Provider)
	}
	if err := c.print(text); err != nil {
		return "", err
	}
	return c.askSecret("Key: ", models.CheckKey)
}

// show tells the user where to sign in.
func (c Console) show(address string, open bool) error {
	if err := c.print("Open this address in a web browser on this machine, within 5 minutes:\n\n    " + address + "\n\n"); err != nil || !open {
		return err
	}
	if err := browser.Open(address, os.Getenv); err != nil {
		c.Say("the browser could not be opened: " + err.Error())
	}
	return nil
}

// Remove removes the stored key of the named provider, or the only one if name is empty.
func Remove(ctx context.Context, c Console, p models.Config, name string) error {
	if name == "" {
		stored := p.Keys.Names()
		if len(stored) != 1 {
			return setup.Errorf("no provider given; usage: adze auth logout PROVIDER%s", list("; stored are keys for ", stored, "; no key is stored"))
		}
		name = stored[0]
	}
	e, err := p.Keys.Remove(ctx, name)
	others := models.KeyVariables(p.Settings, name)
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return setup.Errorf("no key is stored for %s%s", name, list("; its credentials come from ", others, ""))
	case err != nil:
		return err
	}
	text := fmt.Sprintf("Removed the key for %s from the %s.\n", name, e.Place)
	if len(others) > 0 {
		text += fmt.Sprintf("Still set: %s.\n", strings.Join(others, ", "))
	}
	return c.print(text)
}

// list appends words to a text, or returns none if words is empty.
func list(before string, words []string, none string) string {
	if len(words) == 0 {
		return none
	}
	return before + strings.Join(slices.Clone(words), ", ")
}

// ErrInterrupted reports that the user interrupted a question.
var ErrInterrupted = errors.New("interrupted")

// ask asks for a line until the user interrupts it. Because a read cannot be interrupted, ask
// does not wait for it then.
func (c Console) ask(ctx context.Context, question string) (string, error) {
	if err := c.print(question); err != nil {
		return "", err
	}
	type answer struct {
		line string
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		line, err := c.line()
		read <- answer{line, err}
	}()
	select {
	case a := <-read:
		return strings.TrimSpace(a.line), a.err
	case <-ctx.Done():
		return "", ErrInterrupted
	}
}

// line reads a line, consuming nothing meant for the next reader.
func (c Console) line() (string, error) {
	var b strings.Builder
	for buf := make([]byte, 1); ; {
		n, err := c.In.Read(buf)
		switch {
		case n > 0 && buf[0] == '\n', err == io.EOF && b.Len() > 0:
			return b.String(), nil
		case n > 0:
			b.WriteByte(buf[0])
		case err == io.EOF:
			return "", ErrInterrupted
		case err != nil:
			return "", err
		}
	}
}

// AskSecret asks for a line without echo.
func (c Console) AskSecret(question string) (string, error) {
	return c.askSecret(question, func(string) error { return nil })
}

// askSecret asks for a line without echo until check accepts it or the line is empty. Input
// pasted after a rejected line is discarded, so that no part of a key reaches the shell.
func (c Console) askSecret(question string, check func(string) error) (string, error) {
	if c.Keys == nil {
		return "", setup.Errorf("this terminal cannot hide input; pass the key on standard input with --with-token")
	}
	restore, err := c.Keys()
	if err != nil {
		return "", setup.Errorf("this terminal cannot hide input (%v); pass the key on standard input with --with-token", err)
	}
	defer restore()
	for {
		if err := c.print(question); err != nil {
			return "", err
		}
		secret, err := readSecret(c.In)
		c.print("\r\n") // ok: cosmetic
		if err == nil {
			err = check(secret)
		}
		if err == nil {
			return secret, nil
		}
		if in, ok := c.In.(*os.File); ok {
			term.DropInput(in)
		}
		if secret == "" {
			return "", err
		}
		if err := c.print(sentence(err.Error()) + " Paste it again, or press Enter to cancel.\r\n"); err != nil {
			return "", err
		}
	}
}

// sentence capitalizes text and adds a period.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

// readSecret reads keys up to the end of a line. Keys that are not characters, and paste
// markers, are skipped.
func readSecret(in io.Reader) (string, error) {
	var secret []byte
	var escape []byte // incomplete escape sequence
	for buf := make([]byte, 1); ; {
		n, err := in.Read(buf)
		switch {
		case n == 0 && err == io.EOF, n > 0 && (buf[0] == 3 || buf[0] == 4 && len(secret) == 0): // Ctrl-C, Ctrl-D
			return "", ErrInterrupted
		case n == 0 && err != nil:
			return "", err
		case n == 0:
		case len(escape) > 0:
			escape = append(escape, buf[0])
			if over := len(escape) > 2 && buf[0] >= '@' || len(escape) == 2 && buf[0] != '[' && buf[0] != 'O'; over {
				escape = nil
			}
		case buf[0] == 0x1b:
			escape = append(escape, buf[0])
		case buf[0] == '\r' || buf[0] == '\n':
			return strings.TrimSpace(string(secret)), nil
		case buf[0] == 0x7f || buf[0] == 8:
			secret = secret[:max(len(secret)-1, 0)]
		case buf[0] == 0x15: // Ctrl-U
			secret = nil
		case buf[0] >= ' ':
			secret = append(secret, buf[0])
		}
	}
}
