// Command dev implements the project's own scripts: type-checking for every platform, comparing
// unreachable functions with the allowed ones, reporting sizes, and collecting the changelog. It is not part of
// the product.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

const usage = `usage: go run ./internal/dev COMMAND

  platforms OS/ARCH...          check the types of all packages, tests included
  deadcode ALLOWED              compare the functions on standard input with a list
  sizes                         print the largest packages, files, functions and structs
  changelog VERSION DATE        move the unreleased fragments into CHANGELOG.md
`

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	switch {
	case len(args) > 1 && args[0] == "platforms":
		return checkPlatforms(args[1:], out)
	case len(args) == 2 && args[0] == "deadcode":
		return checkDeadcode(args[1], in)
	case len(args) == 1 && args[0] == "sizes":
		return reportSizes(".", out)
	case len(args) == 3 && args[0] == "changelog":
		return collect(".", args[1], args[2])
	}
	return errors.New(usage)
}
