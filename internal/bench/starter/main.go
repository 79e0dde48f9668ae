// Command starter is a minimal program that runs a shell command. It is the baseline for the
// shell tool.
package main

import "os/exec"

func main() {
	if err := exec.Command("bash", "-c", "true").Run(); err != nil {
		panic(err)
	}
}
