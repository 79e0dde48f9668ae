//go:build linux && !race

// Package witness_test observes the program from outside. It sends the program command lines
// like a model would, in a setting where every prompt is a denial, and checks with strace the
// commands that ran: none may have written, executed anything but reading programs, connected,
// or read outside the permitted places. The program's own view of a line is not consulted.
//
// The program is this test binary, started again under another name, so that it is the code of
// the tree.
package witness_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"adze/internal/app"
	"adze/internal/platform/search/regextest"
)

// asAdze is the variable that makes this test binary act as the program.
const asAdze = "WITNESS_AS_ADZE"

func TestMain(m *testing.M) {
	if os.Getenv(asAdze) != "" {
		os.Unsetenv(asAdze) // ok: a set name can be unset
		os.Exit(app.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// users returns the users that run the program: the one running the tests and, if that is root,
// nobody as well.
func users(t *testing.T) []runner {
	t.Helper()
	self, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	all := []runner{{name: self.Username, uid: os.Getuid(), gid: os.Getgid()}}
	if os.Getuid() == 0 {
		nobody, err := user.Lookup("nobody")
		if err != nil {
			t.Fatal(err)
		}
		uid, err1 := strconv.Atoi(nobody.Uid)
		gid, err2 := strconv.Atoi(nobody.Gid)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		all = append(all, runner{name: "nobody", uid: uid, gid: gid})
	}
	return all
}

// plainUser returns a user other than root, if possible.
func plainUser(t *testing.T) runner {
	t.Helper()
	all := users(t)
	return all[len(all)-1]
}

// readLines returns the lines of a testdata file that are neither empty nor comments.
func readLines(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if line := in.Text(); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// newJudge returns a judge for the stage: the workspace and system places without secrets may
// be read, and the programs in testdata/programs.txt executed.
func (s *stage) newJudge(t *testing.T) *judge {
	t.Helper()
	j := &judge{places: append(readLines(t, "testdata/places.txt"), s.ws, s.home+"/.gitconfig"), programs: map[string]bool{}}
	for _, name := range readLines(t, "testdata/programs.txt") {
		for _, dir := range filepath.SplitList(searchPath) {
			if path, err := filepath.EvalSymlinks(filepath.Join(dir, name)); err == nil {
				j.programs[path] = true
			}
		}
	}
	return j
}

// report fails the test for each effect and logs the prevented ones by kind.
func (r *run) report(t *testing.T) {
	t.Helper()
	for i, e := range r.judge.done {
		if i == 40 {
			t.Errorf("%s: and %d more", r.stage.user.name, len(r.judge.done)-i)
			break
		}
		t.Errorf("%s: %s by %q\n\t%s", r.stage.user.name, e.kind, r.text(e.line), e.detail)
	}
	lines := map[string]map[int]bool{}
	for _, e := range r.judge.stopped {
		if lines[e.kind] == nil {
			lines[e.kind] = map[int]bool{}
		}
		lines[e.kind][e.line] = true
	}
	if path := os.Getenv("WITNESS_REPORT"); path != "" {
		var b strings.Builder
		for _, e := range slices.Concat(r.judge.done, r.judge.stopped) {
			fmt.Fprintf(&b, "%s\t%q\t%s\n", e.kind, r.text(e.line), e.detail)
		}
		write(t, path+"."+r.stage.user.name, b.String(), 0o644)
	}
	var stopped []string
	for kind, all := range lines {
		stopped = append(stopped, fmt.Sprintf("%s %d", kind, len(all)))
	}
	t.Logf("%s: %d lines, %d ran unasked (%.1f %%), %d did not end in time; %d calls seen, %d effects; lines stopped in an attempt: %s",
		r.stage.user.name, r.given, r.ran, 100*float64(r.ran)/float64(max(r.given, 1)), r.timedOut, r.judge.calls, len(r.judge.done), strings.Join(stopped, ", "))
}

// TestWitnessNotices runs allowed commands outside any jail, and checks that their effects are
// detected.
func TestWitnessNotices(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			s := newStage(t, u)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			r := s.watch(ctx, t)
			tests := []struct{ line, kind string }{
				{"echo x > made", "write"},
				{"touch a.txt", "write"},
				{"chmod 600 a.txt", "write"},
				{"mkdir made-dir", "write"},
				{"ln -s a.txt made-link", "write"},
				{"mv made made-2", "write"},
				{"rm made-2", "write"},
				{"./run.sh", "execute"},
				{"bin/ls", "execute"},
				{"python3 -c 1", "execute"},
				{"LD_PRELOAD=$PWD/evil.so cat a.txt", "execute"},
				{"exec 3<>/dev/tcp/127.0.0.1/1", "connect"},
				{"cat " + s.home + "/.ssh/id_rsa", "read"},
				{"cat key", "read"},
				{"cat a=b", "leak"},
				{"ls homelink/", "read"},
				{"cat /proc/1/environ; cat /proc/$PPID/environ", "read"},
				{"sleep 5 & kill $!; kill -CONT $PPID", "signal"},
				{"renice -n 19 -p $PPID", "execute"},
			}
			// The answer to the first line arrives after the program's own setup.
			at := map[int]string{}
			for _, tt := range tests {
				at[len(r.driver.lines)] = tt.kind
				if got := r.try(t, tt.line); !got.ran() {
					t.Errorf("%q did not run: %s", tt.line, got.Text)
				}
			}
			r.end(t)
			for n, kind := range at {
				found := false
				for _, e := range r.judge.done {
					found = found || e.line == n && e.kind == kind
				}
				if !found {
					t.Errorf("%s: the witness did not see %s in %q", u.name, kind, r.text(n))
				}
			}
		})
	}
}

// generated is the number of generated lines run by each of two users, chosen so that all
// checks take less than twenty minutes: enough for every reading program. Half of them differ
// each time. WITNESS_LINES=10000 makes it 20,000 in all.
const generated = 2_000

// TestWitness runs all lines of the corpora and many generated ones, as root and as nobody.
// Half of the latter are the same each time, but differ between users; WITNESS_SEED repeats the
// rest.
func TestWitness(t *testing.T) {
	count, seed := number(t, "WITNESS_LINES", generated), number(t, "WITNESS_SEED", int(regextest.Seed(t)))
	written, harm := handWritten(t), attacks(t)
	// Each run mostly waits for other processes: run them concurrently with -parallel.
	for _, u := range users(t) {
		watched(t, u, "written", func(t *testing.T, s *stage, r *run) {
			for _, a := range harm {
				if got := r.try(t, s.fill(a.line)); got.ran() && a.ask {
					t.Errorf("%s: %q ran without a question", a.class, a.line)
				}
			}
			for _, line := range written {
				r.try(t, line)
			}
		})
		for name, seed := range map[string]uint64{"generated": uint64(u.uid), fmt.Sprintf("generated by %d", seed): uint64(seed + u.uid)} {
			watched(t, u, name, func(t *testing.T, s *stage, r *run) {
				g := s.grammar(t, seed)
				for range count / 2 {
					r.try(t, g.line())
				}
			})
		}
	}
}

// watched runs lines as a user under strace, in parallel with others.
func watched(t *testing.T, u runner, name string, lines func(t *testing.T, s *stage, r *run)) {
	t.Run(u.name+"/"+name, func(t *testing.T) {
		t.Parallel()
		s := newStage(t, u)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
		defer cancel()
		r := s.watch(ctx, t, "--as-model")
		lines(t, s, r)
		t.Logf("%d lines, %d ran unasked", r.given, r.ran)
		r.end(t)
		r.report(t)
		r.changed(t)
	})
}

// TestWitnessShells runs the attacks with another shell than bash.
func TestWitnessShells(t *testing.T) {
	harm := attacks(t)
	for _, shell := range []string{"dash", "busybox"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, plainUser(t))
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			env := append(s.environment(), "PATH="+s.tools(t, shell))
			s.before = s.state(t)
			r := s.watchIn(ctx, t, env, nil, "--as-model")
			if shell == "busybox" {
				r.judge.programs["/usr/bin/busybox"] = true // used as the shell
			}
			for i := 0; i < len(harm); i += 4 { // bash tries all of them
				r.try(t, s.fill(harm[i].line))
			}
			g := s.grammar(t, 2)
			for range number(t, "WITNESS_LINES", generated) / 16 {
				r.try(t, g.line())
			}
			r.end(t)
			r.report(t)
			r.changed(t)
		})
	}
}

// TestWitnessWithoutJail runs all hand-written lines on a kernel without Landlock, simulated by
// strace, so that only plain commands are read-only.
func TestWitnessWithoutJail(t *testing.T) {
	t.Parallel()
	s := newStage(t, plainUser(t))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	options := []string{"-e", "inject=landlock_create_ruleset:error=ENOSYS"}
	r := s.watchIn(ctx, t, s.environment(), options, "--as-model")
	for _, a := range attacks(t) {
		if got := r.try(t, s.fill(a.line)); got.ran() && a.ask {
			t.Errorf("%s: %q ran without a question", a.class, a.line)
		}
	}
	for _, line := range handWritten(t) {
		r.try(t, line)
	}
	g := s.grammar(t, 3)
	for range number(t, "WITNESS_LINES", generated) / 8 {
		r.try(t, g.line())
	}
	r.end(t)
	r.judge.done = slices.DeleteFunc(r.judge.done, func(e effect) bool { return usual.MatchString(e.detail) })
	r.report(t)
	r.changed(t)
}

// usual matches harmless actions of programs that a jail would prevent: ps reads the
// environment of processes without showing it, whereis lists a directory, df opens its
// argument, jq reads the user's functions, tac creates and removes a file, and others read
// their configuration.
var usual = regexp.MustCompile(`^(/proc/\d+/(environ|coredump_filter)|/opt|/|/sys/kernel/mm/.*|/etc/(ldap|java[^/]*)/.*|/tmp/tac\w*|/tmp/hsperfdata.*|.*/home|.*/home/\.jq): openat\(|^(unlink|mkdir)\("/tmp/(tac|hsperfdata)`)

// number returns the number in an environment variable.
func number(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
