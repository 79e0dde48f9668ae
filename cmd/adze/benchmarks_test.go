//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// solution is a model that solves the task in the repository of a runner.
const solution = `use Bash {"command":"echo 'echo $(($1 - $2))' >difference.sh && rm sum.sh","description":"Solve it"}
---
say Done.`

// TestHarbor runs a task with the agent for Harbor. The container is this machine, and Harbor's
// classes are those that its documentation describes.
//
// Proves X-200.
func TestHarbor(t *testing.T) {
	r := newRunner(t, solution)
	modules := filepath.Join(r.temp, "harbor", "agents")
	if err := os.MkdirAll(modules, 0o755); err != nil {
		t.Fatal(err)
	}
	r.write(filepath.Join(modules, "base.py"), `
class BaseAgent:
    def __init__(self, logs_dir, model_name=None):
        self.logs_dir, self.model_name = logs_dir, model_name
`)
	r.write(filepath.Join(r.temp, "trial.py"), `
import asyncio, json, os, pathlib, subprocess, sys, types
import adze_agent
program = sys.argv[1] + "/adze"
adze_agent.PROGRAM = program
class Environment:
    async def upload_file(self, source, target):
        os.symlink(source.resolve(), target)
    async def exec(self, command, env=None):
        out = subprocess.run(["bash", "-c", command], env={**os.environ, **(env or {})}, capture_output=True, text=True)
        return types.SimpleNamespace(stdout=out.stdout, stderr=out.stderr, return_code=out.returncode)
async def trial():
    agent = adze_agent.Adze(logs_dir=pathlib.Path(sys.argv[1]), model_name=sys.argv[3], binary=sys.argv[2], flags="--max-turns 9")
    context = types.SimpleNamespace()
    await agent.setup(Environment())
    await agent.run("Write 'difference.sh';\n$(touch forged)", Environment(), context)
    print(json.dumps({"name": agent.name(), "version": agent.version(), **vars(context)}))
asyncio.run(trial())
`)
	program, err := exec.LookPath("adze")
	if err != nil {
		t.Fatal(err)
	}
	model := ""
	for _, variable := range r.environ {
		if value, ok := strings.CutPrefix(variable, "ADZE_MODEL="); ok {
			model = value
		}
	}
	adapters, err := filepath.Abs("../../benchmarks")
	if err != nil {
		t.Fatal(err)
	}
	environ := []string{"PYTHONPATH=" + adapters + ":" + r.temp, "PYTHONDONTWRITEBYTECODE=1"}
	out := r.run(environ, "python3 '"+filepath.Join(r.temp, "trial.py")+"' '"+r.temp+"' '"+program+"' '"+model+"'")
	var result struct {
		Name, Version string
		In            int            `json:"n_input_tokens"`
		Out           int            `json:"n_output_tokens"`
		Metadata      map[string]any `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if result.Name != "adze" || result.Version == "" || result.In == 0 || result.Out == 0 || result.Metadata["ended"] != "success" || result.Metadata["turns"] != 2.0 {
		t.Errorf("the result is %s", out)
	}
	if _, err := os.Lstat(filepath.Join(r.dir, "forged")); err == nil || r.read(filepath.Join(r.dir, "difference.sh")) == "" {
		t.Errorf("the task is not solved as asked:\n%s", r.read(filepath.Join(r.temp, "adze.jsonl")))
	}
	if log := r.run(nil, `cat $(find ~ -name '*.jsonl')`); !strings.Contains(log, `Write 'difference.sh';\n$(touch forged)`) {
		t.Errorf("the instruction did not arrive:\n%s", log)
	}
}

// TestPatch runs a task with the script for SWE-bench.
//
// Proves X-200.
func TestPatch(t *testing.T) {
	adapter, err := filepath.Abs("../../benchmarks/patch")
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{"solved": solution, "cut short": strings.Split(solution, "---")[0] + "---\nstatus 401"} {
		r := newRunner(t, script)
		line := r.run(nil, "echo 'Subtract as well.' | sh '"+adapter+"' acme__sum-1 2>../temp/err")
		var prediction map[string]string
		if err := json.Unmarshal([]byte(line), &prediction); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, line)
		}
		if prediction["instance_id"] != "acme__sum-1" || prediction["model_name_or_path"] != "adze" {
			t.Errorf("%s: the prediction is %s", name, line)
		}
		r.write(filepath.Join(r.temp, "patch.diff"), prediction["model_patch"])
		r.run(nil, "git reset -q --hard && git apply '"+filepath.Join(r.temp, "patch.diff")+"' && test -e difference.sh && ! test -e sum.sh")
	}
}
