package agent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"adze/internal/agent"
	"adze/internal/agent/exec"
	"adze/internal/model"
	"adze/internal/model/chat/chattest"
	"adze/internal/model/gemini/geminitest"
	"adze/internal/model/messages"
	"adze/internal/model/modeltest/chaos"
	"adze/internal/model/responses/responsestest"
	"adze/internal/model/retry"
	"adze/internal/model/wire"
	"adze/internal/msg"
	"adze/internal/platform/fs/filestate"
	"adze/internal/platform/fs/replace"
	"adze/internal/tool"
	"adze/internal/tool/change"
	"adze/internal/tools/write"
)

// TestChaos runs turns against a failing server in every dialect. In all cases each call in the
// history has exactly one result, the files on disk match the writes in the history, and every
// request is valid.
//
// Proves PROV-10, LOOP-20.
func TestChaos(t *testing.T) {
	const runs, many = 60, 20
	for name, d := range map[string]wire.Server{
		"messages": messages.Server{}, "chat": chattest.Server{}, "responses": responsestest.Server{}, "gemini": geminitest.Server{},
	} {
		t.Run(name, func(t *testing.T) {
			completed := 0
			for first := 0; first < runs; first += many {
				dir := t.TempDir()
				synctest.Test(t, func(t *testing.T) {
					for seed := first; seed < first+many; seed++ {
						w := &wreck{t: t, dir: filepath.Join(dir, fmt.Sprint(seed))}
						w.server = &chaos.Server{Dialect: d, Seed: uint64(seed), Faults: 45, Answer: w.answer}
						if w.turn() == agent.Completed {
							completed++
						}
					}
				})
			}
			if completed < runs/4 {
				t.Errorf("only %d of %d turns were completed: nothing was tested", completed, runs)
			}
		})
	}
}

// A wreck is a turn against a failing server.
type wreck struct {
	t       *testing.T
	dir     string // directory for written files
	server  *chaos.Server
	answers int
}

// answer requests a read and a new file three times and then finishes.
func (w *wreck) answer(req *model.Request) ([]model.Event, model.StopReason) {
	w.answers++
	steps := 0
	for _, m := range req.Messages {
		if len(m.Parts) > 0 && m.Role == msg.Assistant && len(m.Uses()) > 0 {
			steps++
		}
	}
	if steps >= 3 {
		return []model.Event{model.TextDelta{Text: "Done."}, model.BlockDone{Part: &msg.Text{Text: "Done."}}}, model.StopEnd
	}
	name := fmt.Sprintf("%d", w.answers)
	return append([]model.Event{model.TextDelta{Text: "Next."}, model.BlockDone{Part: &msg.Text{Text: "Next."}}}, chaos.Calls(1,
		msg.NewToolUse("look_"+name, "Safe", `{"text":"look-`+name+`"}`),
		msg.NewToolUse("write_"+name, "Write", `{"file_path":"`+name+`","content":"`+name+`"}`),
	)...), model.StopTools
}

// turn runs a turn and checks the resulting state.
func (w *wreck) turn() agent.Reason {
	t := w.t
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	tr := w.server.Transport()
	remote, err := wire.New(wire.Service{
		Dialect: w.server.Dialect, Address: "http://127.0.0.1/v1", KeyHeader: "Authorization", Header: http.Header{"Anthropic-Version": {"2023-06-01"}},
	}, wire.Config{AuthToken: "key", Transport: tr})
	if err != nil {
		t.Fatal(err)
	}
	files := &change.Files{
		Dir: func() string { return w.dir }, Home: func() string { return "" }, State: filestate.New(), Replacer: replace.New(w.dir + ".replaced"),
	}
	registry := tool.NewRegistry((&journal{}).tools()[0], write.New(write.Config{Files: files}))
	history := newMemory("do it")
	n := 0
	a := &agent.Agent{
		Provider: retry.New(remote, retry.Config{Max: 4, Jitter: func() float64 { return 0 }}),
		Executor: &exec.Executor{Gates: []exec.Gate{{Name: "permission", Gate: allow{}}}},
		Pool:     func() *tool.Pool { p, _ := registry.Assemble(nil, nil); return p },
		Model:    agent.Model{ID: "main", Window: 200_000, Output: 4_000, MaxOutput: 4_000},
		NewID:    func() string { n++; return fmt.Sprint("id", n) },
	}
	reason := agent.Reason("")
	fail := func(format string, args ...any) {
		t.Errorf("%T, seed %d (%s): %s\n%s", w.server.Dialect, w.server.Seed, w.server.History(), fmt.Sprintf(format, args...), history)
	}
	for e := range a.Run(t.Context(), history) {
		switch e := e.(type) {
		case agent.Failed:
			if err := chaos.Understandable(e.Err); err != nil {
				fail("%v", err)
			}
		case agent.Ended:
			reason = e.Reason
		}
	}
	files.Wait()
	tr.CloseIdleConnections()
	w.server.Wait()
	for _, p := range w.server.Problems() {
		fail("request: %v", p)
	}
	if err := checkHistory(history.Entries()); err != nil {
		fail("%v", err)
	}
	if err := w.check(history); err != nil {
		fail("%v", err)
	}
	return reason
}

// check compares the files with the history.
func (w *wreck) check(history *memory) error {
	wrote := map[string]string{} // call ID to file
	said := map[string]int{}     // number of writes per file
	for _, e := range history.Entries() {
		for _, p := range e.Message.Parts {
			switch p := p.(type) {
			case *msg.ToolUse:
				var in struct {
					Path string `json:"file_path"`
				}
				if p.Name == "Write" && json.Unmarshal(p.Input, &in) == nil {
					wrote[p.ID] = filepath.Base(in.Path)
				}
			case *msg.ToolResult:
				if name := wrote[p.ID]; name != "" && !p.IsError {
					said[name]++
				}
			}
		}
	}
	there, err := os.ReadDir(w.dir)
	if err != nil {
		return err
	}
	for _, f := range there {
		if said[f.Name()] != 1 {
			return fmt.Errorf("file %s was written, but the history records it %d times", f.Name(), said[f.Name()])
		}
		delete(said, f.Name())
	}
	if len(said) > 0 {
		return fmt.Errorf("files written according to the history: %v", said)
	}
	return nil
}
