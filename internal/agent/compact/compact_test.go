package compact_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/internal/agent/compact"
	"adze/internal/model"
	"adze/internal/model/messages"
	"adze/internal/model/tokens"
	"adze/internal/msg"
	"adze/internal/platform/text/texts"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Proves CTX-30.
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		name                      string
		l                         compact.Limits
		usable, auto, warn, block int
	}{
		{"large output", compact.Limits{Window: 200_000, MaxOutput: 64_000}, 180_000, 153_000, 135_000, 177_000},
		{"small output", compact.Limits{Window: 200_000, MaxOutput: 8_000}, 192_000, 163_200, 144_000, 189_000},
		{"unknown window", compact.Limits{}, 128_000, 108_800, 96_000, 125_000},
		{"percent", compact.Limits{Window: 100_000, Percent: 50}, 100_000, 50_000, 50_000, 97_000},
		{"percent out of range", compact.Limits{Window: 100_000, Percent: 96}, 100_000, 85_000, 75_000, 97_000},
		{"tiny", compact.Limits{Window: 10_000, MaxOutput: 64_000}, 5_000, 4_250, 3_750, 4_500},
	} {
		got := []int{tt.l.Usable(), tt.l.Auto(), tt.l.Warn(), tt.l.Block()}
		if diff := cmp.Diff([]int{tt.usable, tt.auto, tt.warn, tt.block}, got); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// Proves CTX-30.
func TestThreshold(t *testing.T) {
	j := job(new(talk).say("hello").call("Read", of(4000)).answer("done").say("more"), 10_000)
	s := &scribe{t: t, answers: []say{{text: good}}}
	c := newCompactor(s, nil)
	if seg, err := c.Relieve(t.Context(), j, j.Limits.Auto()); seg != nil || err != nil || len(s.requests) > 0 {
		t.Errorf("at the threshold: %v, %v, %d requests", seg, err, len(s.requests))
	}
	seg, err := c.Relieve(t.Context(), j, j.Limits.Auto()+1)
	if err != nil || seg == nil || seg.Text != "We fixed the parser." || seg.After >= seg.Before {
		t.Errorf("above the threshold: %+v, %v", seg, err)
	}
}

// Proves CTX-42, CTX-48.
func TestAnswers(t *testing.T) {
	fault := &model.Error{Kind: model.ServerFault}
	for _, tt := range []struct {
		name    string
		answers []say
		want    string
		asked   int
		err     string
	}{
		{"draft and summary", []say{{text: good}}, "We fixed the parser.", 1, ""},
		{"no tags", []say{{text: "We fixed it."}}, "We fixed it.", 1, ""},
		{"no end", []say{{text: "<summary>We fixed it."}}, "We fixed it.", 1, ""},
		{"draft without end", []say{{text: "<analysis>Hm. <summary>We fixed it.</summary>"}}, "We fixed it.", 1, ""},
		{"only a draft", []say{{text: "<analysis>Hm.</analysis>"}}, "", 2, "empty"},
		{"passes for a summary of ours", []say{{text: "a</conversation-summary>b<conversation-summary>c"}}, "abc", 1, ""},
		{"calls a tool, then sums up", []say{{text: good, use: true}, {text: good}}, "We fixed the parser.", 2, ""},
		{"calls tools", []say{{text: good, use: true}}, "", 2, "calls tools"},
		{"cut off, then shorter", []say{{text: "<summary>We", stop: model.StopMaxTokens}, {text: good}}, "We fixed the parser.", 2, ""},
		{"cut off", []say{{text: "<summary>We", stop: model.StopMaxTokens}}, "", 2, "cut off"},
		{"empty", []say{{}}, "", 2, "empty"},
		{"error", []say{{err: fault}}, "", 1, "server_error"},
		{"refused", []say{{text: "No.", stop: model.StopRefusal}}, "", 1, "refused"},
		{"longer than all", []say{{text: of(9000)}}, "", 1, "longer than the original"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			talk := new(talk).say("hello").add(msg.Assistant, &msg.Thinking{Text: "Hm.", Signature: "s"}, &msg.Text{Text: "Yes?"}).
				add(msg.User, &msg.Text{Text: "see"}, &msg.Image{MediaType: "image/png", Data: []byte("x")}).call("Bash", of(6000)).answer("done")
			before := slices.Clone(talk.entries)
			s := &scribe{t: t, answers: tt.answers}
			j := job(talk, 40_000)
			seg, err := newCompactor(s, nil).Compact(t.Context(), j)
			switch {
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("error %v, want %q", err, tt.err)
			case tt.err == "" && (err != nil || seg.Text != tt.want):
				t.Errorf("%+v, %v", seg, err)
			}
			if len(s.requests) != tt.asked {
				t.Errorf("%d requests, want %d", len(s.requests), tt.asked)
			}
			if diff := cmp.Diff(before, talk.entries); diff != "" {
				t.Errorf("the conversation changed: %s", diff)
			}
			for i, req := range s.requests {
				if !begins(req, j.Sent) || req.MaxTokens > 20_000 {
					t.Errorf("request %d does not go on from the conversation, or may have %d tokens", i, req.MaxTokens)
				}
			}
		})
	}
}

// begins reports whether req only appends messages to before.
func begins(req, before *model.Request) bool {
	const end = "]}"
	encode := func(r model.Request) string {
		r.Cache, r.MaxTokens = nil, 1
		body, err := new(messages.Encoder).Encode(&r, nil)
		if err != nil {
			return err.Error()
		}
		return string(body)
	}
	return strings.HasPrefix(encode(*req), strings.TrimSuffix(encode(*before), end+end)) && slices.Equal(req.Cache, before.Cache) && req.Passing > 0
}

// TestBareForm checks that a conversation that is rejected in its original form is sent in the
// bare form: without media and reasoning, and with no tool but Read.
//
// Proves CTX-42, CTX-47.
func TestBareForm(t *testing.T) {
	for _, kind := range []model.Kind{model.TooLong, model.OverWindow, model.MediaTooLarge, model.BadSignature} {
		talk := new(talk).add(msg.User, &msg.Text{Text: "see"}, &msg.Image{MediaType: "image/png", Data: []byte("x")}).call("Bash", of(6000)).answer("done").say("more").answer("yes")
		s := &scribe{t: t, answers: []say{{err: &model.Error{Kind: kind}}, {text: good}}}
		j := job(talk, 40_000)
		if _, err := newCompactor(s, nil).Compact(t.Context(), j); err != nil || len(s.requests) != 2 {
			t.Fatalf("%v: %v after %d requests", kind, err, len(s.requests))
		}
		if !begins(s.requests[0], j.Sent) {
			t.Errorf("%v: the first request does not go on from the conversation", kind)
		}
		req := s.requests[1]
		if len(req.Tools) != 1 || req.Tools[0].Name != "Read" || req.Thinking != (model.Thinking{}) || len(req.Cache) > 0 {
			t.Errorf("%v: the request offers %v, thinking %v, marks %v", kind, req.Tools, req.Thinking, req.Cache)
		}
		for _, m := range req.Messages {
			for _, p := range m.Parts {
				switch p.(type) {
				case *msg.Image, *msg.Thinking:
					t.Errorf("%v: the request has a %T", kind, p)
				}
			}
		}
	}
}

// Proves CTX-47.
func TestTooLongToBeSummedUp(t *testing.T) {
	talk := new(talk)
	for i := range 20 {
		talk.say(fmt.Sprint("turn ", i)).call("Todo", of(900)).answer("done")
	}
	s := &scribe{t: t, answers: []say{{text: good}}}
	size := func(req *model.Request) int { return tokens.New("m").Request(req.System, nil, req.Messages) }
	s.fits = func(req *model.Request) bool { return size(req) < 11_000 }
	if _, err := newCompactor(s, nil).Compact(t.Context(), job(talk, 40_000)); err != nil {
		t.Errorf("after %d requests: %v", len(s.requests), err)
	}
	for i, req := range s.requests[1:] {
		if size(req) >= size(s.requests[i]) {
			t.Errorf("request %d is not shorter than the previous one", i+2)
		}
	}
	if len(s.requests) < 3 || len(s.requests) > 4 {
		t.Errorf("%d requests", len(s.requests))
	}
	never := &scribe{t: t, answers: []say{{text: good}}, fits: func(*model.Request) bool { return false }}
	if _, err := newCompactor(never, nil).Compact(t.Context(), job(talk, 40_000)); model.KindOf(err) != model.TooLong || len(never.requests) != 4 {
		t.Errorf("after %d requests: %v", len(never.requests), err)
	}
}

// Proves CTX-30.
func TestGivesUpAfterThreeFailures(t *testing.T) {
	s := &scribe{t: t, answers: []say{{err: &model.Error{Kind: model.ServerFault}}}}
	c := newCompactor(s, nil)
	j := job(new(talk).say("hello").call("Read", of(4000)).answer("done").say("more"), 10_000)
	for range 5 {
		c.Compact(t.Context(), j)
	}
	if _, err := c.Compact(t.Context(), j); !errors.Is(err, compact.ErrGivenUp) || len(s.requests) != 3 || !c.GivenUp() {
		t.Errorf("%d requests, then %v", len(s.requests), err)
	}
	if _, ok := c.Shorten(j, 3000); !ok {
		t.Error("nothing can be dropped any more")
	}
	s.answers = []say{{text: good}}
	j.Trigger = compact.Manual
	if _, err := c.Compact(t.Context(), j); err != nil || c.GivenUp() {
		t.Errorf("the user asks for it: %v", err)
	}
}

// TestWordsSurvive checks that the user's messages survive verbatim, newest first, within their
// budget.
func TestWordsSurvive(t *testing.T) {
	talk := new(talk).say("the oldest words")
	for i := range 4 {
		talk.add(msg.User, &msg.Text{Text: fmt.Sprintf("wish %d <b>&\n\tindented", i)}, msg.Reminder("not said")).call("Bash", of(4000))
	}
	talk.say("[Request interrupted by user]").say("long " + of(1500)).answer("ok").say("unanswered")
	j := job(talk, 30_000)
	j.Limits.MaxOutput = 1000
	s := &scribe{t: t, answers: []say{{text: good}}}
	seg, err := newCompactor(s, nil).Compact(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	text := seg.Summary.Message.Text()
	for i := range 4 {
		if !strings.Contains(text, fmt.Sprintf("<said>\nwish %d <b>&\n\tindented\n</said>", i)) {
			t.Errorf("wish %d is gone", i)
		}
	}
	if !strings.Contains(text, "long "+of(1500)[:5900]) || strings.Contains(text, "not said") || strings.Contains(text, "interrupted") || strings.Contains(text, "unanswered") {
		t.Errorf("the words are\n%.3000s", text)
	}
	if last := seg.Entries()[len(seg.Entries())-1]; last.ID != talk.entries[len(talk.entries)-1].ID {
		t.Errorf("an unanswered message was dropped: %+v", last)
	}
	small := job(talk, 12_000)
	seg, err = newCompactor(s, nil).Compact(t.Context(), small)
	if err != nil {
		t.Fatal(err)
	}
	if text := seg.Summary.Message.Text(); strings.Contains(text, "the oldest words") || !strings.Contains(text, "[cut off here]") {
		t.Errorf("with little room the words are\n%.3000s", text)
	}
}

// A fakeHooks returns fixed hook results.
type fakeHooks struct {
	keep, block string
	after       []string
}

func (h *fakeHooks) Before(context.Context, compact.Trigger, string) (keep, block string) {
	return h.keep, h.block
}

func (h *fakeHooks) After(_ context.Context, t compact.Trigger, summary string) []msg.Part {
	h.after = append(h.after, string(t)+": "+summary)
	return []msg.Part{msg.Reminder("from the hook")}
}

// Proves CTX-49.
func TestHooks(t *testing.T) {
	talk := new(talk).say("hello").call("Read", of(4000)).answer("done").say("more")
	for _, tt := range []struct {
		name    string
		trigger compact.Trigger
		block   string
		window  int
		blocked []bool // one value per compaction
	}{
		{"lets pass", compact.Manual, "", 20_000, []bool{false}},
		{"stops the user", compact.Manual, "no", 20_000, []bool{true, true}},
		{"is heeded once", compact.Auto, "no", 20_000, []bool{true, false}},
		{"is not heeded at the limit", compact.Auto, "no", 4_500, []bool{false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &fakeHooks{keep: "the plan", block: tt.block}
			s := &scribe{t: t, answers: []say{{text: good}}}
			c := newCompactor(s, func(cfg *compact.Config) { cfg.Hooks = h })
			j := job(talk, tt.window)
			j.Trigger = tt.trigger
			for i, want := range tt.blocked {
				seg, err := c.Compact(t.Context(), j)
				var blocked *compact.BlockedError
				if errors.As(err, &blocked) != want {
					t.Fatalf("time %d: %v", i+1, err)
				}
				if want {
					continue
				}
				if order := s.requests[0].Messages[len(s.requests[0].Messages)-1]; !strings.Contains(msg.PlainText(order.Parts), "must keep this: the plan") {
					t.Error("the hook's instructions are not in the request")
				}
				if !slices.Equal(h.after, []string{string(tt.trigger) + ": We fixed the parser."}) || !strings.Contains(seg.Summary.Message.Text(), "from the hook") {
					t.Errorf("afterwards the hook heard %q", h.after)
				}
			}
		})
	}
}

// Proves CTX-43.
func TestRestore(t *testing.T) {
	text := func(n int) func() (string, bool) {
		return func() (string, bool) { return strings.Repeat(of(100)+"\n", n/100), true }
	}
	var files, skills []compact.Source
	for i := range 7 {
		files = append(files, compact.Source{Name: fmt.Sprint("/file", i), Text: text(10_000)})
	}
	files = append([]compact.Source{
		{Name: "/directory", Text: func() (string, bool) { return "", false }},
		{Name: "f", Text: text(100)}, // a kept call shows it
		{Name: "/work/f", Text: text(100)},
	}, files...)
	for i := range 8 {
		skills = append(skills, compact.Source{Name: fmt.Sprint("skill", i), Text: text(5_000)})
	}
	state := []string{"The plan is at /plan.md."}
	for _, tt := range []struct {
		name                 string
		s                    compact.Sources
		files, skills, state int
	}{
		{"files", compact.Sources{Files: files, State: state}, 5, 0, 1},
		{"skills", compact.Sources{Skills: skills}, 0, 5, 0},
		{"both", compact.Sources{Files: files, Skills: skills, State: state}, 4, 5, 1}, // 50,000 in total
	} {
		c := newCompactor(&scribe{t: t, answers: []say{{text: good}}}, func(cfg *compact.Config) {
			cfg.Sources = func(context.Context) compact.Sources { return tt.s }
		})
		talk := new(talk).say("hello").call("Bash", of(60_000)).call("Read", "x")
		seg, err := c.Compact(t.Context(), job(talk, 200_000))
		if err != nil {
			t.Fatal(err)
		}
		var got [3]int
		total := 0
		g := tokens.New("m")
		for _, p := range seg.Summary.Message.Parts[1:] {
			text := p.(*msg.Text).Text
			for i, what := range []string{"The file /file", "The skill skill", "The plan is at"} {
				if strings.Contains(text, what) {
					got[i]++
				}
			}
			n := g.Parts(p)
			if total += n; n > 5_100 {
				t.Errorf("%s: message of %d tokens: %.100s", tt.name, n, text)
			}
		}
		if got != [3]int{tt.files, tt.skills, tt.state} || total > 50_000 {
			t.Errorf("%s: %d files, skills and others with %d tokens", tt.name, got, total)
		}
	}
}

// TestRestoreState checks that the plan and background tasks come before files and that only
// files restored in full count as known.
//
// Proves CTX-43, CTX-46.
func TestRestoreState(t *testing.T) {
	text := func(s string) func() (string, bool) { return func() (string, bool) { return s, true } }
	for _, tt := range []struct {
		name     string
		s        compact.Sources
		want     []string // prefixes of the parts
		restored []string
	}{
		{"all", compact.Sources{
			Plan:    compact.Source{Name: "/plan.md", Text: text("1. Read. 2. Write.")},
			Running: []string{"- b1: make; output in /b1"},
			Files:   []compact.Source{{Name: "/short", Text: text("short")}, {Name: "/long", Text: text(of(9_000))}, {Name: "/empty", Text: text("")}},
		}, []string{"These tasks are still running", "The plan of this session is in /plan.md", "The file /short", "The file /long"}, []string{"/plan.md", "/short"}},
		{"a long plan", compact.Sources{Plan: compact.Source{Name: "/plan.md", Text: text(of(9_000))}},
			[]string{"The plan of this session is in /plan.md"}, nil},
		{"a plan that is kept", compact.Sources{Plan: compact.Source{Name: "f", Text: text("shown by the call")}}, nil, nil},
		{"no plan", compact.Sources{Plan: compact.Source{Name: "/plan.md", Text: func() (string, bool) { return "", false }}}, nil, nil},
		{"no room", compact.Sources{Files: []compact.Source{{Name: "/short", Text: text("short")}}, State: []string{of(36_000), of(36_000), of(36_000)}},
			[]string{"some word", "The file /short"}, []string{"/short"}},
	} {
		c := newCompactor(&scribe{t: t, answers: []say{{text: good}}}, func(cfg *compact.Config) {
			cfg.Sources = func(context.Context) compact.Sources { return tt.s }
		})
		seg, err := c.Compact(t.Context(), job(new(talk).say("hello").call("Bash", of(60_000)).call("Read", "x"), 200_000))
		if err != nil {
			t.Fatal(err)
		}
		parts := seg.Summary.Message.Parts[1:]
		if len(parts) != len(tt.want) {
			t.Errorf("%s: %d parts, want %q", tt.name, len(parts), tt.want)
			continue
		}
		for i, p := range parts {
			got := strings.TrimPrefix(p.(*msg.Text).Text, "<system-reminder>\n")
			if !strings.HasPrefix(got, tt.want[i]) || i > 0 && tokens.New("m").Text(got) > 5_100 {
				t.Errorf("%s: part %d is %.80q", tt.name, i, got)
			}
		}
		if diff := cmp.Diff(tt.restored, seg.Restored); diff != "" {
			t.Errorf("%s: files that are there whole (-want +got):\n%s", tt.name, diff)
		}
	}
}

// Proves CTX-38.
func TestWindow(t *testing.T) {
	keep := compact.KeepPolicy{MinTokens: 1000, MinTexts: 2, MaxTokens: 4000}
	for _, tt := range []struct {
		name  string
		talk  *talk
		floor int
		from  int
		keep  compact.KeepPolicy
		want  int
	}{
		{"one large message is kept alone", new(talk).say("a").answer("b").say(of(5000)), 0, 3, keep, 2},
		{"many tiny ones", new(talk).say("a").answer("b").say("c").answer("d").say("e"), 0, 5, keep, 0},
		{"enough", new(talk).say(of(600)).answer(of(600)).say(of(600)).answer(of(600)), 0, 4, keep, 2},
		{"not before the boundary", new(talk).say("a").answer("b").say("c").answer("d"), 2, 4, keep, 2},
		{"at most so much", new(talk).say("a").answer(of(3900)).say("b"), 0, 3, compact.KeepPolicy{MinTokens: 4000, MinTexts: 9, MaxTokens: 4000}, 0},
		{"too much", new(talk).say("a").answer(of(4100)).say("b"), 0, 3, keep, 2},
		{"messages not yet sent", new(talk).say("a").answer("b").say(of(3000)).answer(of(3000)), 0, 2, keep, 2},
		{"pairs stay together", new(talk).say("a").call("Read", of(2000)).say("b"), 0, 3, compact.KeepPolicy{MinTokens: 1000, MinTexts: 1, MaxTokens: 4000}, 1},
		{"nonsense means the defaults", new(talk).say(of(9_000)).answer(of(11_000)).say("c").answer("d").say("e").answer("f").say("g"), 0, 7, compact.KeepPolicy{MinTokens: -1}, 1},
	} {
		if got := compact.Window(tt.talk.entries, tt.floor, tt.from, tt.keep, tokens.New("m")); got != tt.want {
			t.Errorf("%s: it begins at %d, want %d", tt.name, got, tt.want)
		}
	}
}

// need returns the ClearConditions of a request with these messages to a model with a window of 200,000
// tokens.
func need(messages []msg.Message, g *tokens.Estimator) compact.ClearConditions {
	return compact.ClearConditions{Usable: 180_000, Used: func() int { return g.Messages(messages...) }}
}

// TestClearing checks that old results are cleared when half of the window is used, or after a
// pause. They are not cleared if the provider would then reject the reasoning after them,
// unless the user has set a limit.
//
// Proves CTX-33, CTX-34, CTX-36.
func TestClearing(t *testing.T) {
	history := func(n, size int) *talk {
		talk := new(talk).say("go")
		for i := range n {
			talk.call([]string{"Read", "Todo"}[i%2], fmt.Sprint(i, " ", of(size)))
		}
		return talk
	}
	hour := compact.DefaultMicro
	for _, tt := range []struct {
		name  string
		talk  *talk
		micro compact.ClearPolicy
		idle  time.Duration
		bound bool
		first int // number of leading calls whose results are cleared, if the tool allows it
	}{
		{"not before half of the window", history(29, 3000), hour, 0, false, 0},
		{"half of the window", history(31, 3000), hour, 0, false, 12},
		{"much in the newest", history(10, 12_000), hour, 0, false, 0},
		{"small gain", history(12, 8000), hour, 0, false, 0},
		{"gain as far as there is any", history(14, 9000), hour, 0, false, 4},
		{"after a pause", history(20, 600), hour, 61 * time.Minute, false, 10},
		{"after a short pause", history(20, 600), hour, 60 * time.Minute, false, 0},
		{"small results after a pause", history(20, 200), hour, 61 * time.Minute, false, 0},
		{"thinking would be lost", history(50, 3000), hour, 0, true, 0},
		{"thinking would be lost, after a pause", history(20, 600), hour, 61 * time.Minute, true, 10},
		{"thinking would be lost, but it is wanted", history(20, 3000), compact.ClearPolicy{Keep: 5, Total: 50_000, Gain: 5_000, Idle: time.Hour}, 0, true, 4},
		{"nonsense means the defaults", history(31, 3000), compact.ClearPolicy{Keep: 5, Total: 5, Gain: 10, Idle: time.Hour}, 0, false, 12},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := compact.Clearer{Clearable: func(u *msg.ToolUse) bool { return u.Name == "Read" }, Micro: tt.micro}
			g := tokens.New("m")
			want := need(messagesOf(tt.talk), g)
			want.Idle, want.Bound = tt.idle, tt.bound
			view, done := c.Clear(messagesOf(tt.talk), want, g)
			freed := done.Freed
			if n := (tt.first + 1) / 2; len(done.Uses) != n || n > 0 && done.First != 2 {
				t.Errorf("told of %d calls, from message %d on", len(done.Uses), done.First)
			}
			var got []int
			for i, m := range view {
				if r, ok := m.Parts[0].(*msg.ToolResult); ok && msg.PlainText(r.Parts) == compact.Cleared {
					got = append(got, (i-1)/2)
				}
			}
			var all []int
			for i := 0; i < tt.first; i += 2 {
				all = append(all, i)
			}
			if diff := cmp.Diff(all, got); diff != "" || (freed > 0) != (len(all) > 0) {
				t.Errorf("cleared (-want +got), %d tokens:\n%s", freed, diff)
			}
			for range 5 { // clearing is permanent
				tt.talk.call("Read", "small").answer("ok").say("more")
				next, _ := c.Clear(messagesOf(tt.talk), compact.ClearConditions{Used: func() int { return 0 }}, g)
				if diff := cmp.Diff(view, next[:len(view)]); diff != "" {
					t.Fatalf("what was sent changed: %s", diff)
				}
				view = next
			}
			again := compact.Clearer{Clearable: c.Clearable}
			again.Restore(c.Keys())
			resumed, told := again.Clear(messagesOf(tt.talk), compact.ClearConditions{Used: func() int { return 0 }}, g)
			if diff := cmp.Diff(view, resumed); diff != "" || len(told.Uses) != len(c.Keys()) || told.Freed > 0 {
				t.Errorf("after a restart, told of %d calls: %s", len(told.Uses), diff)
			}
		})
	}
}

// TestNeverCleared checks that errors, including denials, and results under 2,000 characters
// are never cleared.
//
// Proves CTX-33.
func TestNeverCleared(t *testing.T) {
	talk := new(talk).say("go")
	long := strings.Repeat("ü", 2000)
	for _, r := range []struct {
		text  string
		error bool
	}{{long, false}, {long, true}, {long[:2*1999], false}, {"denied", true}} {
		talk.call("Bash", r.text)
		talk.entries[len(talk.entries)-1].Message.Parts[0].(*msg.ToolResult).IsError = r.error
	}
	for range 5 {
		talk.call("Bash", long)
	}
	c := compact.Clearer{Clearable: func(*msg.ToolUse) bool { return true }}
	messages := messagesOf(talk)
	view, _ := c.Clear(slices.Clone(messages), compact.ClearConditions{Idle: 2 * time.Hour, Used: func() int { return 0 }}, tokens.New("m"))
	for i := range messages {
		gone := msg.PlainText(view[i].Parts) != msg.PlainText(messages[i].Parts) || view[i].Parts[0] != messages[i].Parts[0]
		if gone != (i == 2) {
			t.Errorf("message %d was cleared: %t", i, gone)
		}
	}
}

func messagesOf(t *talk) []msg.Message {
	var list []msg.Message
	for _, e := range t.entries {
		list = append(list, e.Message)
	}
	return list
}

// TestSummaryIsBounded checks that a summary is limited to 20,000 tokens, not counting
// reasoning, even if the model could write more.
//
// Proves CTX-42.
func TestSummaryIsBounded(t *testing.T) {
	s := &scribe{t: t, answers: []say{{text: good}}}
	j := job(new(talk).say("hello").call("Bash", of(60_000)).call("Read", "x"), 200_000)
	j.Limits.MaxOutput, j.Sent.MaxTokens, j.Sent.Thinking = 128_000, 64_000, model.Thinking{}
	if _, err := newCompactor(s, nil).Compact(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if n := s.requests[0].MaxTokens; n != 20_000 {
		t.Errorf("the answer may have %d tokens", n)
	}
}

// picture returns an image of the given size.
func picture(t *testing.T, width, height int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Proves CTX-35.
func TestClearingMedia(t *testing.T) {
	doc := func(pages int) msg.Part {
		return &msg.Document{MediaType: "application/pdf", Data: []byte(strings.Repeat("/Type /Page ", pages))}
	}
	image := &msg.Image{MediaType: "image/png", Data: []byte("x")}
	small := &msg.Image{MediaType: "image/png", Data: picture(t, 1200, 1200)} // under 2,000 tokens
	talk := new(talk).add(msg.User, &msg.Text{Text: "see"}, doc(2)).add(msg.User, image).add(msg.User, small)
	for range 5 {
		talk.call("Read", of(600))
	}
	talk.add(msg.User, doc(2))
	c := compact.Clearer{Clearable: func(*msg.ToolUse) bool { return true }}
	g := tokens.New("m")
	view, _ := c.Clear(messagesOf(talk), compact.ClearConditions{Idle: 2 * time.Hour}, g)
	if got := msg.PlainText(view[0].Parts); got != "see[An old document was cleared to save room.]" {
		t.Errorf("the old document: %s", got)
	}
	if got := msg.PlainText(view[1].Parts); got != "[An old image was cleared to save room.]" {
		t.Errorf("the old image: %s", got)
	}
	if view[2].Parts[0] != small {
		t.Error("an image of less than 2,000 tokens is gone")
	}
	if _, ok := view[len(view)-1].Parts[0].(*msg.Document); !ok {
		t.Error("the new document is gone")
	}
	for range 110 { // more than a request may contain
		talk.add(msg.User, image)
	}
	view, _ = c.Clear(messagesOf(talk), need(messagesOf(talk), g), g)
	n := 0
	for _, m := range view {
		if _, ok := m.Parts[0].(*msg.Image); ok {
			n++
		}
	}
	if n == 0 || n > 100 {
		t.Errorf("%d images are sent", n)
	}
}

// A note is a ready-made summary.
type note struct{ text, last string }

func (n note) Summary(context.Context) (text, last string) { return n.text, n.last }

// Proves CTX-32, CTX-37, CTX-40.
func TestNotes(t *testing.T) {
	long := new(talk)
	for range 8 {
		long.say("go on").call("Bash", of(3000)).answer("done")
	}
	long.say("next")
	for _, tt := range []struct {
		name    string
		note    note
		focus   string
		window  int
		want    string
		asked   int
		atLeast int // minimum number of entries kept
	}{
		{"notes", note{"Notes.", "e31"}, "", 200_000, "Notes.", 0, 4},
		{"older notes", note{"Notes.", "e15"}, "", 200_000, "Notes.", 0, 16},
		{"no notes", note{}, "", 200_000, "We fixed the parser.", 1, 0},
		{"a focus", note{"Notes.", "e31"}, "the tests", 200_000, "We fixed the parser.", 1, 0},
		{"too much is kept", note{"Notes.", "e3"}, "", 20_000, "We fixed the parser.", 1, 0},
		{"notes of another conversation", note{"Notes.", "gone"}, "", 20_000, "We fixed the parser.", 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &scribe{t: t, answers: []say{{text: good}}}
			c := newCompactor(s, func(cfg *compact.Config) { cfg.Notes = tt.note })
			j := job(long, tt.window)
			j.Focus = tt.focus
			seg, err := c.Compact(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			if seg.Text != tt.want || len(s.requests) != tt.asked || len(seg.Kept) < tt.atLeast {
				t.Errorf("%q after %d requests, %d entries kept", seg.Text, len(s.requests), len(seg.Kept))
			}
			if err := whole(j.Entries, seg); err != nil {
				t.Error(err)
			}
			check(t, request(j, seg.Entries()))
		})
	}
}

// Proves CTX-42, CTX-46.
func TestTexts(t *testing.T) {
	for name, language := range map[string]texts.Language{"en": texts.English, "zh": texts.Chinese} {
		t.Run(name, func(t *testing.T) {
			s := &scribe{t: t, answers: []say{{text: good}}}
			c := newCompactor(s, func(cfg *compact.Config) {
				cfg.Language = language
				cfg.Hooks = &fakeHooks{keep: "the plan"}
				cfg.Sources = func(context.Context) compact.Sources {
					return compact.Sources{Files: []compact.Source{{Name: "/a.go", Text: func() (string, bool) { return "package a", true }}}}
				}
			})
			talk := new(talk).say("fix the parser").call("Bash", of(3000)).answer("done").say("and now?")
			j := job(talk, 40_000)
			j.Focus = "tests"
			seg, err := c.Compact(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			short, ok := c.Shorten(j, 1500)
			if !ok {
				t.Fatal("it cannot be shortened")
			}
			order := s.requests[0].Messages[len(s.requests[0].Messages)-1]
			got := "-- request --\n" + msg.PlainText(order.Parts) + "\n-- summary --\n"
			for _, p := range seg.Summary.Message.Parts {
				got += msg.PlainText([]msg.Part{p}) + "\n"
			}
			got += "-- dropped --\n" + short.Summary.Message.Text() + "\n"
			golden(t, name+".golden", got)
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
