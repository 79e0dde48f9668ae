// Command adze is a coding agent for the terminal.
package main

import (
	"os"

	"adze/internal/app"
)

func main() { os.Exit(app.Main(os.Args[1:])) }
