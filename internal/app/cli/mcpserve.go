package cli

import (
	"context"

	"adze/internal/app/cli/flags"
	"adze/internal/app/cli/mcp"
	"adze/internal/setup"
)

// serveFlags returns the flags of adze mcp serve.
func serveFlags(o *mcp.ServeOptions) []flag {
	table := []flag{
		{Name: "http", Value: "HOST:PORT", Doc: "with serve, serve clients that connect to this address, such as 127.0.0.1:8000, instead of standard streams",
			Set: flags.SetText(&o.HTTP)},
		{Name: "token-file", Value: "FILE", Doc: "with serve --http, file containing the bearer token clients must present; by default one is generated and printed",
			Set: flags.SetText(&o.TokenFile)},
	}
	for _, f := range flags.Only(accessFlags(&o.Access), "allowed-tools", "disallowed-tools", "tools", "permission-mode", "dangerously-skip-permissions", "add-dir") {
		f.Doc = "with serve, " + f.Doc
		table = append(table, f)
	}
	return table
}

// serve offers the tools to other programs.
func (o *mcpOptions) serve(ctx context.Context, env *Env, in invocation) error {
	if len(in.Args) > 1 || len(in.Rest) > 0 {
		return setup.Errorf("usage: adze mcp serve [--http HOST:PORT]")
	}
	w, err := openWorkspace(env, o.project, in)
	if err != nil {
		return err
	}
	defer w.Close()
	return mcp.Serve(ctx, env.streams(), w, o.served)
}
