package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"adze/internal/app/apptest"
)

// TestPictures checks that the pictures in the documentation are what the program draws. They do
// not depend on the machine, its speed or the user's files, and leave nothing behind.
//
// Proves X-197.
func TestPictures(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	for _, test := range []struct {
		file string
		args []string
		most int // bytes
	}{
		{"edit.svg", nil, 20 << 10},
		{"demo.svg", []string{"--animated"}, 150 << 10},
	} {
		t.Run(test.file, func(t *testing.T) {
			p := apptest.New(t)
			p.Vars["ADZE_MODEL"], p.Vars["ANTHROPIC_BASE_URL"] = "none", "http://192.0.2.1"
			p.Vars["PATH"] = os.Getenv("PATH")
			t.Setenv("TMPDIR", t.TempDir())
			drawn := filepath.Join(t.TempDir(), test.file)
			var out, said bytes.Buffer
			env := &Env{
				Args: append([]string{"demo", "--svg", drawn}, test.args...), Stdout: &out, Stderr: &said,
				Getenv: p.Getenv, Dir: p.Path("work"), Version: "7.7.7",
			}
			if err := Run(t.Context(), env); err != nil || out.Len()+said.Len() > 0 {
				t.Fatalf("%v; %s%s", err, &out, &said)
			}
			got, err := os.ReadFile(drawn)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) > test.most {
				t.Errorf("the picture has %d bytes", len(got))
			}
			if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
				t.Errorf("left in the temporary directory: %v, %v", left, err)
			}
			if _, err := os.Stat(p.Path("home/.adze")); err == nil {
				t.Error("there are files in the state home")
			}
			kept := filepath.Join("..", "..", "..", "docs", "pictures", test.file)
			if *rewrite {
				if err := os.WriteFile(kept, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(kept); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s is not what adze demo draws; run with -update and look at it (%v)", kept, err)
			}
		})
	}
}

// TestPictureEnds checks that an interrupt ends the drawing, which leaves nothing behind.
func TestPictureEnds(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	p := apptest.New(t)
	t.Setenv("TMPDIR", t.TempDir())
	file := p.Path("picture.svg")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var said bytes.Buffer
	env := &Env{Args: []string{"demo", "--svg", file}, Stdout: &said, Stderr: &said, Getenv: p.Getenv, Dir: p.Path("work")}
	if err := Run(ctx, env); err == nil {
		t.Error("there is no error")
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("there is a picture")
	}
}
