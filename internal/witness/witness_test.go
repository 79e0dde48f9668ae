//go:build linux && !race

// Package witness_test watches the program from outside. It gives it command lines as a model would, where
// every question is a refusal, and has strace tell what the commands did that ran: none may have written,
// executed anything but programs that read, connected, or read outside of what may be read. What the
// program itself believes of a line is not asked.
//
// The program is this test, started again under another name, so that it is the code of the tree.
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
)

// asAdze is the variable that makes this test the program itself.
const asAdze = "WITNESS_AS_ADZE"

func TestMain(m *testing.M) {
	if os.Getenv(asAdze) != "" {
		os.Unsetenv(asAdze) // ok: a name that is set can be unset
		os.Exit(app.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// users returns who runs the program: whoever runs the tests and, if that is root, nobody as well.
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

// plainUser returns a user who is not root, if there is one to be had.
func plainUser(t *testing.T) runner {
	t.Helper()
	all := users(t)
	return all[len(all)-1]
}

// readLines returns the lines of a file of testdata that are neither empty nor comments.
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

// newJudge returns a judge for the stage: the workspace may be read, and places of the system without
// secrets; the programs of testdata/programs.txt may be executed.
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

// report fails the test for each effect and returns what was stopped, by kind.
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

// TestWitnessNotices runs commands that are allowed, outside of any jail, and expects the witness to see
// what they do.
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
			// The answer to the first line is there when the program has made its own things.
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

// generated is how many lines of the grammar are run by each of two users, so that all checks take less than twenty
// minutes: enough for every program that reads. Half of them are others each time. WITNESS_LINES=10000 makes it 20,000 in all.
const generated = 2_000

// TestWitness runs all lines of the corpora and many more of a grammar, as root and as nobody. Half of
// the latter are the same each time, and others for each user; WITNESS_SEED repeats the rest.
func TestWitness(t *testing.T) {
	count, seed := number(t, "WITNESS_LINES", generated), number(t, "WITNESS_SEED", int(time.Now().UnixNano()&0xffffff))
	written, harm := handWritten(t), attacks(t)
	// Each waits for the others' processes most of the time: run them at once with -parallel.
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

// watched runs lines as a user under the witness, beside others.
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

// TestWitnessShells runs the attacks where another shell than bash reads them.
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
				r.judge.programs["/usr/bin/busybox"] = true // as the shell
			}
			for i := 0; i < len(harm); i += 4 { // all of them are tried in bash
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

// TestWitnessWithoutJail runs all that is written by hand where the kernel has no Landlock, so that the strict
// proof decides alone. strace answers for the kernel.
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

// usual is what programs do on their own that a jail would keep them from, to no harm: ps looks at the
// environment of processes and does not show it, whereis lists a directory, df opens the one that it is
// asked about, jq reads functions of the user, tac makes a file that it removes, and others read their
// configuration.
var usual = regexp.MustCompile(`^(/proc/\d+/(environ|coredump_filter)|/opt|/|/sys/kernel/mm/.*|/etc/(ldap|java[^/]*)/.*|/tmp/tac\w*|/tmp/hsperfdata.*|.*/home|.*/home/\.jq): openat\(|^(unlink|mkdir)\("/tmp/(tac|hsperfdata)`)

// number returns the number in a variable of the environment.
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
