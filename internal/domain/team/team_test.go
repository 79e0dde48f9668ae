package team

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMain lets the test binary run as another process.
func TestMain(m *testing.M) {
	if job := os.Getenv("TEAM_TEST_JOB"); job != "" {
		if err := work(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// work runs another process's job: "create", or "send NAME COUNT".
func work(job string) error {
	s := New(Config{Dir: os.Getenv("TEAM_TEST_DIR"), Locks: os.Getenv("TEAM_TEST_DIR") + ".locks"})
	words := strings.Fields(job)
	if words[0] == "create" {
		t, err := s.Create(context.Background(), Team{Name: "Crew"}, Member{})
		fmt.Println(t.Name)
		return err
	}
	n, err := strconv.Atoi(words[2])
	for i := 0; err == nil && i < n; i++ {
		_, err = s.Post("crew", words[1]).Send(context.Background(), Lead, Message{Text: fmt.Sprint(words[1], " ", i)})
	}
	return err
}

// spawn starts another process on the teams of s.
func spawn(t testing.TB, s *Store, job string) (output func() string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TEAM_TEST_JOB="+job, "TEAM_TEST_DIR="+s.cfg.Dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() string {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v: %s", job, err, &out)
		}
		return strings.TrimSpace(out.String())
	}
}

// A journal captures log output.
type journal struct {
	mu sync.Mutex
	bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.Buffer.Write(p)
}

func newStore(t testing.TB) (*Store, *journal) {
	log := &journal{}
	dir := filepath.Join(t.TempDir(), "teams")
	return New(Config{Dir: dir, Locks: dir + ".locks", Log: slog.New(slog.NewTextHandler(log, nil))}), log
}

// newCrew returns a store with a team: the lead, ann and bob.
func newCrew(t testing.TB) (*Store, *journal) {
	t.Helper()
	s, log := newStore(t)
	if _, err := s.Create(t.Context(), Team{Name: "Crew", Session: "s1"}, Member{Process: CurrentProcess()}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Ann", "bob"} {
		if _, err := s.Join(t.Context(), "crew", Member{Name: name, Backend: InProcess}); err != nil {
			t.Fatal(err)
		}
	}
	return s, log
}

// TestLifeCycle checks that a team is created, joined, left and removed, that names are
// normalized and made unique with a number, and that files are private to the user.
//
// Proves TEAM-01.
func TestLifeCycle(t *testing.T) {
	s, _ := newCrew(t)
	again, err := s.Create(t.Context(), Team{Name: " CREW! "}, Member{})
	if err != nil || again.Name != "crew-2" {
		t.Errorf("%q, %v", again.Name, err)
	}
	second, err := s.Join(t.Context(), "crew", Member{Name: "ann"})
	if err != nil || second.Name != "ann-2" || second.ID != "ann-2@crew" {
		t.Errorf("%+v, %v", second, err)
	}
	if lead, err := s.Join(t.Context(), "crew", Member{Name: "Team Lead"}); err != nil || lead.Name != "team-lead-2" {
		t.Errorf("%+v, %v", lead, err)
	}
	if _, err := s.Join(t.Context(), "crew", Member{Name: "\x1b[31m/../"}); err != nil {
		t.Error(err) // 31m remains
	}
	if _, err := s.Join(t.Context(), "crew", Member{Name: "../"}); err == nil {
		t.Error("a name of nothing is taken")
	}
	if err := s.Leave(t.Context(), "crew", "31m"); err != nil {
		t.Error(err)
	}
	team, err := s.Open("crew")
	if err != nil || !slices.Equal(team.Others(Lead), []string{"ann", "bob", "ann-2", "team-lead-2"}) {
		t.Errorf("%v, %v", team.Others(Lead), err)
	}
	if err := s.Leave(t.Context(), "crew", Lead); err != nil {
		t.Error(err)
	}
	if team, _ = s.Open("crew"); team.Member(Lead) == nil {
		t.Error("the lead has left")
	}
	for path, want := range map[string]os.FileMode{"": 0o700, "crew": 0o700, "crew/inboxes": 0o700, "crew/config.json": 0o600} {
		if info, err := os.Stat(filepath.Join(s.cfg.Dir, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if got := s.List(); !slices.Equal(got, []string{"crew", "crew-2"}) {
		t.Error(got)
	}
	if err := s.Delete("crew"); err != nil {
		t.Error(err)
	}
	if _, err := s.Open("crew"); err == nil {
		t.Error("it is still there")
	}
	if _, err := s.Post("crew", Lead).Send(t.Context(), Everyone, Message{Text: "hello"}); err == nil {
		t.Error("a message went to a team that is gone")
	}
}

func TestNormalise(t *testing.T) {
	for name, want := range map[string]string{
		"Research Team": "research-team", "a__b": "a-b", "--x--": "x", "../../etc": "etc", "é": "", "\x1b]0;x\a": "0-x", "研究": "",
		strings.Repeat("ab ", 100): strings.TrimSuffix(strings.Repeat("ab-", 14), "-")[:40],
	} {
		if got := Normalise(name); got != want || len(got) > maxName {
			t.Errorf("%q: %q, not %q", name, got, want)
		}
	}
}

// TestCreateAtOnce checks that several leads that create a team with the same name concurrently
// get separate teams.
//
// Proves TEAM-01.
func TestCreateAtOnce(t *testing.T) {
	s, _ := newStore(t)
	var outputs []func() string
	for range 6 {
		outputs = append(outputs, spawn(t, s, "create"))
	}
	var names []string
	for _, output := range outputs {
		names = append(names, output())
	}
	slices.Sort(names)
	if want := []string{"crew", "crew-2", "crew-3", "crew-4", "crew-5", "crew-6"}; !slices.Equal(names, want) {
		t.Error(names)
	}
	for _, name := range names {
		if _, err := s.Open(name); err != nil {
			t.Error(err)
		}
	}
}

// TestLinksAreRefused checks that symlinks in place of the directories or the config, and
// configs with names that lead elsewhere, are refused.
//
// Proves TEAM-01.
func TestLinksAreRefused(t *testing.T) {
	s, _ := newCrew(t)
	outside := t.TempDir()
	link := func(path string) {
		t.Helper()
		place := filepath.Join(s.cfg.Dir, path)
		if err := os.Rename(place, place+".away"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, place); err != nil {
			t.Fatal(err)
		}
	}
	restore := func(path string) {
		place := filepath.Join(s.cfg.Dir, path)
		os.Remove(place)                   // ok: the rename reports failures
		os.Rename(place+".away", place)    // ok: the next step shows
		os.RemoveAll(place + "/inboxes.b") // ok: it may not exist
	}
	for _, path := range []string{"crew/inboxes", "crew", ""} {
		link(path)
		if _, err := s.Post("crew", "ann").Send(t.Context(), "bob", Message{Text: "hello"}); err == nil {
			t.Errorf("%q: a message was sent", path)
		}
		if left, _ := os.ReadDir(outside); len(left) > 0 {
			t.Errorf("%q: something was written: %v", path, left)
		}
		restore(path)
	}
	config := filepath.Join(s.cfg.Dir, "crew", configFile)
	good, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{
		"", "{", `{"version":1,"name":"crew"}`, `{"version":9,"name":"crew","members":[{"name":"team-lead"}]}`,
		strings.Replace(string(good), `"ann"`, `"../../x"`, 1), strings.Replace(string(good), `"ann"`, `"bob"`, 1),
		strings.Replace(string(good), `"crew"`, `"other"`, 1),
	} {
		if err := os.WriteFile(config, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Open("crew"); err == nil {
			t.Errorf("%s is a team", bad)
		}
	}
	os.Remove(config) // ok: creating the symlink reports failures
	if err := os.Symlink("/dev/zero", config); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open("crew"); err == nil {
		t.Error("a link is a config")
	}
}

// TestAlive checks that the start time distinguishes processes.
func TestAlive(t *testing.T) {
	here := CurrentProcess()
	if !here.Alive() {
		t.Error("this process does not live")
	}
	here.Started += "1"
	if here.Alive() || (Process{}).Alive() {
		t.Error("a process that has ended lives")
	}
}

// TestFind checks that members are found by name, id or unnormalized name, and that the error
// lists the others.
func TestFind(t *testing.T) {
	s, _ := newCrew(t)
	team, err := s.Open("crew")
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{"ann": "ann", "ann@crew": "ann", "Ann": "ann", "carl": ""} {
		if got, _ := team.Find(target); got != want {
			t.Errorf("%s is %q", target, got)
		}
	}
	_, err = s.Post("crew", "ann").Send(t.Context(), "carl", Message{Text: "x"})
	if want := `the team crew has no member "carl"; it has team-lead, bob`; err == nil || !cmp.Equal(err.Error(), want) {
		t.Error(err)
	}
}
