package cron

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/domain/cron"
	"adze/internal/msg"
	"adze/internal/tool"
	"adze/internal/tool/tooltest"
)

func newTable(t *testing.T) *cron.Table {
	home := t.TempDir()
	return cron.New(cron.Config{
		File: filepath.Join(home, "jobs.json"), Locks: filepath.Join(home, "locks"),
		Now:    func() time.Time { return time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC) },
		MaxAge: func() time.Duration { return 7 * 24 * time.Hour },
	})
}

func TestContract(t *testing.T) {
	table := newTable(t)
	j, err := table.Add(t.Context(), cron.Draft{Prompt: "x", Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	all := Tools(table)
	tooltest.Run(t, all[0], tooltest.Cases{Input: Draft{}, Dir: t.TempDir(), Good: map[string]string{
		"recurring": `{"cron":"*/5 * * * *","prompt":"look"}`,
		"once":      `{"cron":"30 14 * * *","prompt":"look","recurring":false,"durable":true}`,
	}})
	tooltest.Run(t, all[1], tooltest.Cases{Input: Ref{}, Dir: t.TempDir(), Good: map[string]string{"one": `{"id":"` + j.ID + `"}`}})
	tooltest.Run(t, all[2], tooltest.Cases{Input: None{}, Dir: t.TempDir(), Good: map[string]string{"all": `{}`}})
}

// TestTools checks that the model can create, list and delete jobs. Jobs it creates are marked
// as its own, so that they run no commands, and the user confirms the complete prompt first.
//
// Proves X-021.
func TestTools(t *testing.T) {
	table := newTable(t)
	call := func(i int, input string) string {
		t.Helper()
		c, err := Tools(table)[i].Bind([]byte(input))
		if err != nil {
			return "refused: " + err.Error()
		}
		if r, ok := tool.As[tool.ReadOnly](c); (ok && r.ReadOnly()) != (i == 2) {
			t.Error("wrong calls need confirmation")
		}
		r, err := c.Run(t.Context(), func(tool.Progress) {})
		if err != nil {
			return "failed: " + err.Error()
		}
		return msg.PlainText(r.Parts)
	}
	if got := call(2, `{}`); got != "No prompt is scheduled." {
		t.Error(got)
	}
	if got := call(0, `{"cron":"30 14 * * *","prompt":"/exit now","recurring":false,"durable":true}`); !strings.HasSuffix(got, ": it runs next on 2 November 2026 at 14:30.") {
		t.Error(got)
	}
	list, err := table.List(t.Context())
	if err != nil || len(list) != 1 || !list[0].ByModel || !list[0].Durable || !list[0].Once {
		t.Fatalf("%+v, %v", list, err)
	}
	if got, want := call(2, `{}`), list[0].ID+" (once, 2 November 14:30; next on 2 November 2026 at 14:30; durable): /exit now"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if got := call(1, `{"id":"`+list[0].ID+`"}`); got != "Job "+list[0].ID+" has ended." {
		t.Error(got)
	}
	if got := call(1, `{"id":"nope"}`); !strings.Contains(got, "CronList lists the jobs") {
		t.Error(got)
	}
	for _, bad := range []string{`{"cron":"0 0 30 2 *","prompt":"x"}`, `{"cron":"soon","prompt":"x"}`} {
		if got := call(0, bad); !strings.Contains(got, "invalid cron expression") {
			t.Error(got)
		}
	}
	c, err := Tools(table)[0].Bind([]byte(`{"cron":"* * * * *","prompt":"line one\nline two","durable":true}`))
	if err != nil {
		t.Fatal(err)
	}
	p, ok := tool.As[tool.Previewer](c)
	if !ok {
		t.Fatal("no preview")
	}
	if d, err := p.Preview(t.Context()); err != nil || d.(tool.Plain).Text != "line one\nline two" {
		t.Error(d, err)
	}
}
