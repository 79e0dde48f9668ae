// Command starter is the least a program can do to run a shell command. It is what the shell tool is
// compared with.
package main

import "os/exec"

func main() {
	if err := exec.Command("bash", "-c", "true").Run(); err != nil {
		panic(err)
	}
}
