package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// maxFileRuns bounds the repetitions with large files, because the file must settle before each
// edit.
const maxFileRuns = 11

// runFiles measures the file tools through "adze tool", alternating with the programs they are
// compared with.
func runFiles(runs int) error {
	dir, err := os.MkdirTemp("", "adze-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := build(dir)
	if err != nil {
		return err
	}
	b.runs = runs
	fmt.Printf("%s/%s, %d cores, %s, %d runs, medians\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), runs)
	fmt.Printf("%-58s %10s %10s\n", "figure", "measured", "at most")
	for _, m := range []func() error{b.readSmall, b.readRange, b.editLarge, b.editMany} {
		if err := m(); err != nil {
			return err
		}
	}
	if b.missed > 0 {
		return fmt.Errorf("%d figures are over their limit", b.missed)
	}
	return nil
}

// readSmall compares reading 90 KB with reading an empty file: the difference is the tool's own
// time.
func (b *bench) readSmall() error {
	line := []byte("a line of text, neither long nor short, as they are in the source of programs\n")
	full, empty := filepath.Join(b.dir, "full.txt"), filepath.Join(b.dir, "empty.txt")
	if err := os.WriteFile(full, bytes.Repeat(line, 90_000/len(line)), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		return err
	}
	var fulls, empties []time.Duration
	for range max(b.runs, 40) {
		for path, to := range map[string]*[]time.Duration{full: &fulls, empty: &empties} {
			if err := timed(to, b.tool("Read", map[string]any{"file_path": path}).Run); err != nil {
				return err
			}
		}
	}
	b.report("adze tool Read, empty file", " ms", median(empties), 0)
	b.report("adze tool Read, 90 KB", " ms", median(fulls), 0)
	b.report("ratio", "x", median(fulls)/median(empties), 1.3)
	return nil
}

// readRange compares reading a few lines far into 1 GB with sed.
func (b *bench) readRange() error {
	path := filepath.Join(b.dir, "gigabyte.txt")
	defer os.Remove(path)
	line := append(bytes.Repeat([]byte("0123456789 "), 24), '\n')
	if err := writeLarge(path, line, 1<<30); err != nil {
		return err
	}
	read := map[string]any{"file_path": path, "offset": 900_000, "limit": 201}
	var ours, theirs []time.Duration
	for range min(b.runs, maxFileRuns) {
		if err := timed(&theirs, exec.Command("sed", "-n", "900000,900200p", path).Run); err != nil {
			return fmt.Errorf("sed: %w", err)
		}
		if err := timed(&ours, b.tool("Read", read).Run); err != nil {
			return err
		}
	}
	b.report("sed -n 900000,900200p of 1 GB", " ms", median(theirs), 0)
	b.report("adze tool Read, the same lines", " ms", median(ours), 0)
	b.report("ratio", "x", median(ours)/median(theirs), 1.5)
	s, err := b.serve()
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := s.call("Read", map[string]any{"file_path": filepath.Join(b.dir, "empty.txt")}); err != nil {
		return err
	}
	rest := peakKB(s.cmd.Process.Pid)
	if _, err := s.call("Read", read); err != nil {
		return err
	}
	b.report("memory for that, beyond an empty file (VmHWM)", " MB", float64(peakKB(s.cmd.Process.Pid)-rest)/1024, 16)
	return nil
}

// editLarge compares changing one line of 100 MB, with its history, with copying the file. A
// copy is not synced to disk when cp ends; the cost of that alone is shown too.
func (b *bench) editLarge() error {
	path := filepath.Join(b.dir, "large.txt")
	copied := path + ".copy"
	line := []byte("0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ, and some more text on it\n")
	half := bytes.Repeat(line, 50_000_000/len(line))
	if err := os.WriteFile(path, bytes.Join([][]byte{half, []byte("the line 0\n"), half}, nil), 0o600); err != nil {
		return err
	}
	defer os.Remove(path)
	number := 50_000_000/len(line) + 1
	var copies, synced, edits []time.Duration
	for i := range min(b.runs, maxFileRuns) {
		if err := timed(&copies, exec.Command("cp", path, copied).Run); err != nil {
			return fmt.Errorf("cp: %w", err)
		}
		os.Remove(copied)
		if err := timed(&synced, func() error { return copySynced(path, copied) }); err != nil {
			return err
		}
		os.Remove(copied)
		time.Sleep(2500 * time.Millisecond) // a recently changed file is compared once more
		s, err := b.serve()
		if err != nil {
			return err
		}
		if _, err := s.call("Read", map[string]any{"file_path": path, "offset": number, "limit": 1}); err != nil {
			return err
		}
		took, err := s.call("Edit", map[string]any{
			"file_path": path, "old_string": fmt.Sprintf("the line %d", i), "new_string": fmt.Sprintf("the line %d", i+1),
		})
		if err != nil {
			return err
		}
		edits = append(edits, took)
		if err := s.close(); err != nil {
			return err
		}
		os.RemoveAll(filepath.Join(b.dir, "home", "file-history"))
	}
	b.report("cp of 100 MB", " ms", median(copies), 0)
	b.report("copy of 100 MB and fsync", " ms", median(synced), 0)
	b.report("Edit of one line in 100 MB, with history and fsync", " ms", median(edits), 0)
	b.report("ratio to cp", "x", median(edits)/median(copies), 3)
	b.report("ratio to copy and fsync", "x", median(edits)/median(synced), 0)
	return nil
}

// editMany compares 1,000 edits with the bare writes they end in.
func (b *bench) editMany() error {
	const blocks, each = 10, 100
	dir := filepath.Join(b.dir, "many")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	content := append(bytes.Repeat([]byte("a line of a small file\n"), 100), "the last line\n"...)
	s, err := b.serve()
	if err != nil {
		return err
	}
	defer s.close()
	var ours, bare []time.Duration
	for block := range blocks {
		var paths []string
		for i := range each {
			path := filepath.Join(dir, fmt.Sprintf("%d-%d.txt", block, i))
			paths = append(paths, path)
			if err := os.WriteFile(path, content, 0o600); err != nil {
				return err
			}
			if _, err := s.call("Read", map[string]any{"file_path": path}); err != nil {
				return err
			}
		}
		for _, path := range paths {
			took, err := s.call("Edit", map[string]any{"file_path": path, "old_string": "the last line", "new_string": "the end"})
			if err != nil {
				return err
			}
			ours = append(ours, took)
		}
		for _, path := range paths {
			if err := timed(&bare, func() error { return replaceBare(path, content) }); err != nil {
				return err
			}
		}
	}
	b.report("temp, fsync and rename of a small file, of 1,000", " ms", median(bare), 0)
	b.report("Edit of a small file, with history, of 1,000", " ms", median(ours), 0)
	b.report("ratio", "x", median(ours)/median(bare), 2)
	return nil
}

// timed runs f and appends its duration.
func timed(to *[]time.Duration, f func() error) error {
	began := time.Now()
	err := f()
	*to = append(*to, time.Since(began))
	return err
}

func writeLarge(path string, line []byte, size int) error {
	block := bytes.Repeat(line, 1<<20/len(line))
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for written := 0; written < size; written += len(block) {
		if _, err := f.Write(block); err != nil {
			return err
		}
	}
	return f.Sync()
}

func copySynced(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Sync()
}

// replaceBare replaces a file in the simplest safe way.
func replaceBare(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "bare-*")
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// tool returns a single run of "adze tool".
func (b *bench) tool(args ...any) *exec.Cmd {
	cmd := exec.Command(b.adze, "tool")
	for _, arg := range args {
		text, ok := arg.(string)
		if !ok {
			data, _ := json.Marshal(arg) // ok: it is made of strings and numbers
			text = string(data)
		}
		cmd.Args = append(cmd.Args, text)
	}
	cmd.Dir = b.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "ADZE_HOME=" + filepath.Join(b.dir, "home")}
	return cmd
}

// A toolProcess is an "adze tool" process that accepts many calls.
type toolProcess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (b *bench) serve() (*toolProcess, error) {
	s := &toolProcess{cmd: b.tool("--stdin")}
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		s.in, err = s.cmd.StdinPipe()
	}
	if err == nil {
		err = s.cmd.Start()
	}
	s.out = bufio.NewReader(out)
	return s, err
}

// call runs one call and returns the duration it reports itself: on a busy machine, passing the
// lines back and forth takes as long as a small edit.
func (s *toolProcess) call(name string, input map[string]any) (time.Duration, error) {
	line, err := json.Marshal(map[string]any{"id": 1, "tool": name, "input": input})
	if err != nil {
		return 0, err
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return 0, err
	}
	answer, err := s.out.ReadBytes('\n')
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	var result struct {
		IsError bool    `json:"is_error"`
		Text    string  `json:"text"`
		MS      float64 `json:"ms"`
	}
	if err := json.Unmarshal(answer, &result); err != nil {
		return 0, err
	}
	if result.IsError {
		return 0, fmt.Errorf("%s: %s", name, result.Text)
	}
	return time.Duration(result.MS * float64(time.Millisecond)), nil
}

func (s *toolProcess) close() error {
	s.in.Close()
	return s.cmd.Wait()
}
