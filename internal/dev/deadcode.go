package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// checkDeadcode compares the unreachable functions on in, one per line, with the functions
// allowed by the file. Each line of the file is a function and the reason it is kept; a
// function that is reachable or gone must be removed from the file.
func checkDeadcode(file string, in io.Reader) error {
	found, err := readFunctions(in)
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	allowed, err := readFunctions(f)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		if allowed[name] == "" {
			problems = append(problems, fmt.Errorf("%s: %s has no reason", file, name))
		}
		if _, ok := found[name]; !ok {
			problems = append(problems, fmt.Errorf("%s: %s is reachable or gone; remove its line", file, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, ok := allowed[name]; !ok {
			problems = append(problems, fmt.Errorf("%s is reached by no command; remove it, or give a reason in %s", name, file))
		}
	}
	return errors.Join(problems...)
}

// readFunctions reads lines with a function and a text. It skips empty lines and lines that
// start with #.
func readFunctions(r io.Reader) (map[string]string, error) {
	functions := map[string]string{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, text, _ := strings.Cut(line, " ")
		functions[name] = strings.TrimSpace(text)
	}
	return functions, lines.Err()
}
