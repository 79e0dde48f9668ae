package about

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"adze/internal/commands"
	"adze/internal/msg"
	"adze/internal/platform/text/amount"
)

// A StatusLine runs the user's status line command.
type StatusLine struct {
	// Command returns the command, or "".
	Command func() string
	// Run runs the command with the session state as its input, and returns its output.
	Run func(ctx context.Context, command string, input []byte) ([]byte, error)
}

// StatusLimit is the time limit of the command, and MaxStatus the maximum size of its output.
const (
	StatusLimit = 5 * time.Second
	MaxStatus   = 4 << 10
)

// Line returns the first line of the command's output for a session, or "" without a command.
func (s *StatusLine) Line(ctx context.Context, r *commands.Registry) (string, error) {
	command := ""
	if s.Command != nil {
		command = s.Command()
	}
	if command == "" {
		return "", nil
	}
	input, err := json.Marshal(statusOf(r))
	if err != nil {
		return "", err
	}
	out, err := s.Run(ctx, command, append(input, '\n'))
	if err != nil {
		return "", err
	}
	line, _, _ := bytes.Cut(bytes.TrimLeft(out, "\r\n"), []byte("\n"))
	line = line[:min(len(line), MaxStatus)]
	return strings.TrimRight(strings.ToValidUTF8(string(line), "\uFFFD"), "\r "), nil
}

// A status is the session state passed to the command, with the field names such commands
// expect.
type status struct {
	SessionID      string      `json:"session_id"`
	TranscriptPath string      `json:"transcript_path,omitempty"`
	Dir            string      `json:"cwd"`
	Model          statusModel `json:"model"`
	Workspace      struct {
		Current string   `json:"current_dir"`
		Project string   `json:"project_dir"`
		Added   []string `json:"added_dirs"`
	} `json:"workspace"`
	Version        string         `json:"version"`
	PermissionMode string         `json:"permission_mode,omitempty"`
	OutputStyle    *statusName    `json:"output_style,omitempty"`
	Effort         *statusEffort  `json:"effort,omitempty"`
	Cost           statusCost     `json:"cost"`
	Window         *statusContext `json:"context_window,omitempty"`
	// Over200k reports whether the context holds more than 200,000 tokens.
	Over200k bool `json:"exceeds_200k_tokens"`
}

type (
	statusModel struct {
		ID   string `json:"id"`
		Name string `json:"display_name"`
	}
	statusName struct {
		Name string `json:"name"`
	}
	statusEffort struct {
		Level string `json:"level"`
	}
	statusCost struct {
		USD      float64 `json:"total_cost_usd"`
		Duration int64   `json:"total_duration_ms"`
		API      int64   `json:"total_api_duration_ms"`
		Added    int     `json:"total_lines_added"`
		Removed  int     `json:"total_lines_removed"`
	}
	statusContext struct {
		Input     int          `json:"total_input_tokens"`
		Output    int          `json:"total_output_tokens"`
		Size      int          `json:"context_window_size"`
		Used      int          `json:"used_percentage"`
		Remaining int          `json:"remaining_percentage"`
		Current   *statusUsage `json:"current_usage"`
	}
	statusUsage struct {
		Input      int `json:"input_tokens"`
		Output     int `json:"output_tokens"`
		CacheWrite int `json:"cache_creation_input_tokens"`
		CacheRead  int `json:"cache_read_input_tokens"`
	}
)

// statusOf returns the state of the registry's session.
func statusOf(r *commands.Registry) status {
	totals := r.Session.Sum()
	s := status{SessionID: r.Session.ID(), Dir: r.Dir, Version: r.Version, Cost: statusCost{
		USD: totals.CostUSD, Duration: r.Age().Milliseconds(), API: totals.API.Milliseconds(), Added: totals.LinesAdded, Removed: totals.LinesRemoved,
	}}
	if r.Log != nil {
		s.TranscriptPath = r.Log.Path()
	}
	s.Workspace.Current, s.Workspace.Project, s.Workspace.Added = r.Dir, r.Dir, []string{}
	if r.Permission.Dirs != nil {
		s.Workspace.Added = append(s.Workspace.Added, r.Permission.Dirs()...)
	}
	if r.Permission.Mode != nil {
		s.PermissionMode = r.Permission.Mode()
	}
	if current := r.Env.Styles.Current; current != nil {
		s.OutputStyle = &statusName{current()}
	}
	if effort := r.Env.Settings().Effort; effort != "" {
		s.Effort = &statusEffort{string(effort)}
	}
	s.Model.ID = r.Session.Model()
	if r.Preamble.Resolve != nil {
		if m, err := r.Preamble.Resolve(s.Model.ID); err == nil {
			s.Model.ID = m.ID
		}
		if u, err := r.Usage(); err == nil && u.Window > 0 {
			used := min(100, u.Used()*100/u.Window)
			s.Window = &statusContext{Input: sent(totals.Usage), Output: totals.Usage.Output, Size: u.Window, Used: used, Remaining: 100 - used}
			if u.Last != nil {
				s.Window.Current = &statusUsage{u.Last.Input, u.Last.Output, u.Last.CacheWrite, u.Last.CacheRead}
				s.Over200k = sent(*u.Last)+u.Last.Output > 200_000
			}
		}
	}
	s.Model.Name = s.Model.ID
	if known, ok := r.Models.Catalog.Lookup(s.Model.ID); ok && known.Name != "" {
		s.Model.Name = known.Name
	}
	return s
}

func sent(u msg.Usage) int { return u.Input + u.CacheRead + u.CacheWrite }

func statuslineCommand(s StatusLine) commands.Command {
	return commands.Command{Name: "statusline", Doc: "show your status line command's input and output",
		Run: func(ctx context.Context, r *commands.Registry, _ string) (commands.Answer, error) {
			input, err := json.MarshalIndent(statusOf(r), "", "  ")
			if err != nil {
				return nil, err
			}
			if s.Command == nil || s.Command() == "" {
				return commands.Say("No status line is configured. To set one: adze config set statusLine.command COMMAND. The command receives this on stdin:", string(input)), nil
			}
			start := time.Now()
			line, err := s.Line(ctx, r)
			if err != nil {
				return nil, errors.New("statusLine.command: " + err.Error())
			}
			if line == "" {
				line = "(nothing)"
			}
			return commands.Page{Blocks: []commands.Block{
				commands.Fields{{Name: "Command", Value: s.Command()}, {Name: "Prints", Value: line}, {Name: "Takes", Value: amount.Seconds(time.Since(start))}},
				commands.Text("It gets on standard input:"), commands.Text(input),
			}}, nil
		}}
}
