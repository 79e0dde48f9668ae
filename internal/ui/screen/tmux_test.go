//go:build unix

package screen

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/platform/term"
)

// sceneVariable names the pipe from which the test binary, started in a terminal, reads its
// script.
const sceneVariable = "ADZE_TEST_SCENE"

func TestMain(m *testing.M) {
	if name := os.Getenv(sceneVariable); name != "" {
		playScene(name)
		return
	}
	os.Exit(m.Run())
}

// playScene shows frames on the terminal. Each line of the pipe holds the number of new final
// rows, the number of live rows, and their width.
func playScene(name string) {
	pipe, err := os.Open(name)
	if err != nil {
		panic(err)
	}
	s := New(os.Stdout, func() (int, int) { return term.Size(os.Stdout) }, term.RewrapsLines)
	var mu sync.Mutex
	number, rows, width := 0, 1, 10
	show := func(final []string) {
		wide, high := term.Size(os.Stdout)
		var live []string
		for i := range min(rows, high-1) - 1 {
			live = append(live, (fmt.Sprintf("at %dx%d ", wide, high) + strings.Repeat(fmt.Sprintf("live%d ", i), 60))[:min(width, wide-1)])
		}
		s.Frame(final, append(live, "> "), Point{len(live), 2})
	}
	changes, _ := term.Changes()
	go func() {
		for range changes {
			mu.Lock()
			show(nil)
			mu.Unlock()
		}
	}()
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		var final []string
		mu.Lock()
		n := 0
		fmt.Sscan(lines.Text(), &n, &rows, &width)
		for range n {
			number++
			final = append(final, fmt.Sprintf("number %d.", number))
		}
		show(final)
		mu.Unlock()
	}
	s.Leave()
	fmt.Println("the end")
	time.Sleep(time.Hour) // until the terminal is closed
}

// A scene is the test binary in tmux.
type scene struct {
	t      *testing.T
	socket string
	pipe   *os.File
	size   [2]int
	number int
}

func newScene(t *testing.T, width, height int) *scene {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("tmux is missing; ./scripts/test installs it")
	}
	dir := t.TempDir()
	s := &scene{t: t, socket: filepath.Join(dir, "tmux"), size: [2]int{width, height}}
	pipe := filepath.Join(dir, "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-e", sceneVariable+"="+pipe, "-e", "LANG=C.UTF-8", program)
	t.Cleanup(func() { exec.Command("tmux", "-S", s.socket, "kill-server").Run() }) // ok: it may be gone
	if s.pipe, err = os.OpenFile(pipe, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *scene) tmux(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// shows adds final rows, sets the live ones, and waits until the last final row is visible.
func (s *scene) shows(final, rows, width int) {
	s.t.Helper()
	s.number += final
	fmt.Fprintln(s.pipe, final, rows, width)
	if final > 0 {
		s.waitFor(fmt.Sprintf(`number %d\.`, s.number))
	}
}

// resize changes the terminal size.
func (s *scene) resize(width, height int) {
	s.t.Helper()
	s.size = [2]int{width, height}
	s.tmux("resize-window", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
}

// settle waits until the live rows are drawn for the terminal size. Dead ones are above them.
func (s *scene) settle() {
	s.t.Helper()
	want := fmt.Sprintf("at %dx%d ", s.size[0], s.size[1])
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		screen := s.capture()
		if i := strings.LastIndex(screen, "at "); i >= 0 && strings.HasPrefix(screen[i:], want) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%q does not appear:\n%s", want, screen)
		}
	}
}

func (s *scene) capture() string {
	return strings.TrimRight(s.tmux("capture-pane", "-p", "-J", "-S", "-"), "\n")
}

func (s *scene) waitFor(pattern string) string {
	s.t.Helper()
	re := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		screen := s.capture()
		if re.MatchString(screen) {
			return screen
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%q does not appear:\n%s", pattern, screen)
		}
	}
}

// end ends the scene, checks that each number occurs once and in order, and returns the number
// of dead live rows.
func (s *scene) end() (dead int) {
	s.t.Helper()
	s.pipe.Close()
	screen := s.waitFor(`the end`)
	next := 1
	for _, m := range regexp.MustCompile(`number (\d+)\.`).FindAllStringSubmatch(screen, -1) {
		if n, _ := strconv.Atoi(m[1]); n != next { // ok: they are digits
			s.t.Fatalf("%s is where %d should be:\n%s", m[0], next, screen)
		}
		next++
	}
	if next != s.number+1 {
		s.t.Fatalf("%d of %d numbers are there:\n%s", next-1, s.number, screen)
	}
	for line := range strings.Lines(screen) {
		if !strings.HasPrefix(line, "number ") && strings.TrimSpace(line) != "the end" {
			dead++
		}
	}
	if dead > 0 {
		s.t.Logf("%d dead rows", dead)
	}
	return dead
}

// TestHistoryOnce checks in a real terminal that each finished line appears once and in order
// across resizes, and that hardly any live row is left dead. The limits were measured when the
// renderer was chosen; the number of dead rows during continuous resizing depends on the
// machine's load.
func TestHistoryOnce(t *testing.T) {
	const any = math.MaxInt
	for _, tt := range []struct {
		name          string
		width, height int
		live, wide    int
		dead          int
		play          func(s *scene)
	}{
		{"many at once", 80, 24, 6, 60, 0, func(s *scene) {
			for _, n := range []int{80, 1, 200, 23, 24, 25, 2} {
				s.shows(n, 6, 60)
			}
		}},
		{"more live rows than fit", 80, 24, 40, 60, 0, func(s *scene) {
			for range 20 {
				s.shows(3, 40, 60)
			}
		}},
		{"heights", 80, 24, 8, 60, 1, func(s *scene) {
			for _, height := range []int{10, 30, 8, 24} {
				s.resize(80, height)
				s.settle()
				s.shows(2, 8, 60)
			}
		}},
		{"divided and back, wide", 200, 50, 8, 199, 1, func(s *scene) {
			for range 2 {
				s.resize(100, 50)
				s.settle()
				s.resize(200, 50)
				s.settle()
			}
		}},
		{"divided and back, narrow", 200, 50, 8, 60, 0, func(s *scene) {
			for range 2 {
				s.resize(100, 50)
				s.settle()
				s.resize(200, 50)
				s.settle()
			}
		}},
		{"jumps", 80, 24, 8, 79, 7, func(s *scene) {
			for _, width := range []int{60, 45, 100, 30, 80} {
				s.resize(width, 24)
				s.settle()
				s.shows(1, 8, 79)
			}
		}},
		{"drag", 120, 24, 8, 119, any, func(s *scene) {
			for width := 120; width > 80; width-- {
				s.resize(width, 24)
			}
			s.settle()
		}},
		{"drag while lines come", 120, 24, 8, 119, any, func(s *scene) {
			for i := range 80 {
				s.resize(120-i%40, 24+i%6)
				s.shows(1, 8, 119)
			}
			s.settle()
		}},
		{"slow drag", 120, 24, 8, 119, 46, func(s *scene) {
			for width := 118; width >= 80; width -= 3 {
				s.resize(width, 24)
				s.settle()
			}
		}},
		{"many sizes", 80, 24, 7, 50, any, func(s *scene) {
			for i := range 40 {
				s.resize(55+i*37%90, 10+i*13%25)
				s.shows(i%5, 7, 50)
			}
			s.settle()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, tt.width, tt.height)
			s.shows(80, tt.live, tt.wide)
			s.waitFor(`live0`)
			tt.play(s)
			if dead := s.end(); dead > tt.dead {
				t.Errorf("%d live rows are left dead, more than %d:\n%s", dead, tt.dead, s.capture())
			}
		})
	}
}
