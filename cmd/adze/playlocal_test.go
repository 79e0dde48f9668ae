package main

import (
	"fmt"
	"net"
	"net/http"
	"os"

	"adze/internal/model/local"
	"adze/internal/model/local/localtest"
	"adze/internal/model/modeltest/servers"
	"adze/internal/model/replay"
)

// localServer is a program that simulates Ollama with a scripted model, at its default address:
// localserver FILE. It creates FILE.ready when it listens, and FILE.err on each problem.
func localServer() {
	file := os.Args[1]
	script, err := replay.Load(file)
	if err != nil {
		panic(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:11434")
	if err != nil {
		panic(err)
	}
	player := replay.NewPlayerIn(servers.Named(script.Dialect()), script)
	h := player.Handler()
	chat := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		if problems := player.Problems(); len(problems) > 0 {
			os.WriteFile(file+".err", []byte(fmt.Sprint(problems)), 0o600) // ok: the test misses the answer
		}
	})
	if err := os.WriteFile(file+".ready", nil, 0o600); err != nil {
		panic(err)
	}
	panic(http.Serve(listener, &localtest.Server{Kind: local.Ollama, Model: "qwen3:8b", Window: 65536, Max: 65536, Chat: chat}))
}
