package about

import (
	"context"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/platform/text/redact"
	"adze/internal/session"
	"adze/internal/tool"
)

func issueCommand() commands.Command {
	return commands.Command{Name: "issue", Args: "[TITLE]", Doc: "prepare the text of a bug report: version, platform and last error, nothing from your files",
		Run: func(ctx context.Context, r *commands.Registry, title string) (commands.Answer, error) {
			return issuePage(ctx, r, title), nil
		}}
}

// maxError is the maximum length of an error in a report, in bytes.
const maxError = 500

// issuePage shows a report for the user to complete. It does not contain the conversation, only
// errors.
func issuePage(ctx context.Context, r *commands.Registry, title string) commands.Page {
	if title = tool.OneLine(redact.String(title), 120); title == "" {
		title = "TITLE"
	}
	failed := ""
	names := map[string]string{}
	for _, e := range r.Session.Conversation() {
		for _, u := range e.Message.Uses() {
			names[u.ID] = u.Name
		}
		for _, p := range e.Message.Parts {
			if result, ok := p.(*msg.ToolResult); ok && result.IsError {
				failed = names[result.ID]
			}
		}
	}
	lines := commands.Items{
		"# " + title, "",
		"What I did:", "", "What I expected:", "", "What happened:", "",
		"- adze " + r.Version + ", " + runtime.GOOS + "/" + runtime.GOARCH,
		"- model: " + tool.OneLine(r.Session.Model(), 80),
		fmt.Sprintf("- turns of the conversation: %d", len(r.Session.Turns())),
	}
	if failed != "" {
		lines = append(lines, "- last call that failed: "+tool.OneLine(failed, 80))
	}
	if text := lastError(ctx, r.Session); text != "" {
		lines = append(lines, "- last error: "+text)
	}
	p := commands.Say("Read it and complete it before you send it to anyone. adze sends and copies nothing.")
	p.Add(lines, commands.Text("It has no texts of the conversation and no contents of files. /debug-tool-call shows a call, and /feedback where reports go."))
	return p
}

// lastError returns the last error that ended a turn, without apparent secrets, or "".
func lastError(ctx context.Context, s *session.Session) (text string) {
	last := s.Last()
	if last == 0 {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second) // the last entry may be an omitted one
	defer cancel()
	for e := range s.Entries(ctx, 0, session.Latest) {
		if f, ok := e.Event.(session.Finished); ok && f.Err != nil {
			text = tool.OneLine(redact.String(f.Err.Error()), maxError)
		}
		if e.Seq >= last {
			break
		}
	}
	return text
}

func feedbackCommand(page func() string) commands.Command {
	return commands.Command{Name: "feedback", Doc: "show where to report problems and ideas",
		Run: func(context.Context, *commands.Registry, string) (commands.Answer, error) {
			if page == nil {
				return feedbackPage(""), nil
			}
			return feedbackPage(page()), nil
		}}
}

// feedbackPage shows the configured feedback page.
func feedbackPage(address string) commands.Page {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return commands.Say("No page for feedback is configured. If your team has one: /config feedbackUrl ADDRESS. /issue prepares the text of a report.")
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil:
		return commands.Say("The setting feedbackUrl is not the address of a page: give one such as https://example.org/issues.")
	}
	p := commands.Page{Blocks: []commands.Block{commands.Fields{{Name: "Feedback", Value: strings.ToValidUTF8(u.String(), "")}}}}
	p.Add(commands.Text("adze sends nothing there by itself. /issue prepares the text of a report."))
	return p
}

func onboardingCommand() commands.Command {
	return commands.Command{Name: "onboarding", Rare: true, Doc: "show the first-start questions, your answers, and how to answer again",
		Run: func(_ context.Context, r *commands.Registry, _ string) (commands.Answer, error) {
			return onboardingPage(r), nil
		}}
}

// onboardingPage shows the questions of a first start.
func onboardingPage(r *commands.Registry) commands.Page {
	decided := map[string]string{}
	if r.Env.About != nil {
		for _, f := range r.Env.About() {
			decided[f.Name] = f.Value
		}
	}
	p := commands.Say("Questions at the first start, and at the first start in a directory:")
	var terms commands.Terms
	for _, q := range []struct{ name, decided, again string }{
		{"Which provider answers?", decided["Provider"], "adze auth login stores a key for one, adze auth logout removes it"},
		{"Is the folder trusted?", decided["Workspace"], "adze trust lists its configuration; adze trust --remove asks again at the next start"},
		{"Which servers of the project may run?", "/mcp lists them", "adze mcp reset-project-choices"},
		{"Do commands run in a sandbox?", decided["Sandbox"], "/config sandbox.enabled true or false"},
		{"Are files of other tools taken over?", "adze import lists them", "nothing is copied without a question"},
	} {
		if q.decided == "" {
			q.decided = "not decided"
		}
		terms = append(terms, commands.Term{Name: q.name, Text: q.decided + ". Again: " + q.again + "."})
	}
	p.Add(terms)
	return p
}
