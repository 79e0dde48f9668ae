// Command site renders the documentation as web pages that also work from files. scripts/site runs
// it.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("o", "", "output directory")
	caller := flag.String("caller", "", "directory to which the output directory is relative")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: scripts/site [-o DIR]") }
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	switch {
	case *out == "":
		*out = filepath.Join("dist", "site")
	case !filepath.IsAbs(*out):
		*out = filepath.Join(*caller, *out)
	}
	n, err := build(os.DirFS("."), *out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("%d pages in %s; open %s/index.html\n", n, *out, *out)
}
