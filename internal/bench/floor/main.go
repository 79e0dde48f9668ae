// Command floor is a minimal program that sends a request: it posts a file and reads the
// answer. It is the baseline for adze's startup time.
package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
)

func main() {
	body, err := os.ReadFile(os.Args[2])
	if err != nil {
		panic(err)
	}
	resp, err := http.Post(os.Args[1]+"/v1/messages", "application/json", bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body) // ok: only the request is measured
}
