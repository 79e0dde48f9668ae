//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A runner runs the jobs of a build server in a repository, with programs of its own.
type runner struct {
	t                         *testing.T
	dir, home, programs, temp string
	environ                   []string
}

// newRunner makes a repository. script is the model's script.
func newRunner(t *testing.T, script string) *runner {
	t.Helper()
	root := t.TempDir()
	r := &runner{t: t, dir: filepath.Join(root, "repo"), home: filepath.Join(root, "home"), programs: filepath.Join(root, "bin"), temp: filepath.Join(root, "temp")}
	for _, dir := range []string{r.dir, r.home, r.programs, r.temp} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.write(filepath.Join(root, "model.replay"), script)
	r.environ = []string{
		"HOME=" + r.home, "PATH=" + r.programs + ":" + os.Getenv("PATH"), "ADZE_MODEL=replay:" + filepath.Join(root, "model.replay"),
		"ADZE_NO_FSYNC=1", "IS_SANDBOX=1", "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=A", "GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=a@example.com",
	}
	r.write(filepath.Join(r.dir, "sum.sh"), "echo $(($1 + $2))\n")
	r.run(nil, "git init -q -b main && git add . && git commit -qm first")
	return r
}

func (r *runner) write(path, text string) {
	r.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		r.t.Fatal(err)
	}
}

// read returns the content of a file, or an empty text if there is none.
func (r *runner) read(path string) string {
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return string(data)
}

// try runs a script in the repository and returns its output.
func (r *runner) try(environ []string, script string) (string, error) {
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir, cmd.Env = r.dir, append(append([]string{}, r.environ...), environ...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r *runner) run(environ []string, script string) string {
	r.t.Helper()
	out, err := r.try(environ, script)
	if err != nil {
		r.t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// action runs the steps of ci/action.yml as GitHub's runner does. It returns the log and the
// action's outputs.
func (r *runner) action(inputs map[string]string, event string) (log string, outputs map[string]string, err error) {
	r.t.Helper()
	dir, err := filepath.Abs("../../ci")
	if err != nil {
		r.t.Fatal(err)
	}
	var action struct {
		Inputs  map[string]struct{ Default string }
		Outputs map[string]struct{ Value string }
		Runs    struct {
			Steps []struct {
				Name, ID, Shell, Run string
				Env                  map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(r.read(filepath.Join(dir, "action.yml"))), &action); err != nil {
		r.t.Fatal(err)
	}
	values := map[string]string{"github.token": "the-token"}
	for name, in := range action.Inputs {
		values["inputs."+name] = in.Default
	}
	for name, value := range inputs {
		if _, ok := action.Inputs[name]; !ok {
			r.t.Fatalf("the action has no input %s", name)
		}
		values["inputs."+name] = value
	}
	expression := regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)
	expand := func(text string) string {
		for expression.MatchString(text) {
			text = expression.ReplaceAllStringFunc(text, func(found string) string { return values[expression.FindStringSubmatch(found)[1]] })
		}
		return text
	}
	payload := filepath.Join(r.temp, "event.json")
	r.write(payload, event)
	for _, step := range action.Runs.Steps {
		if expression.MatchString(step.Run) {
			r.t.Errorf("step %s: an input in the text of a script can run anything", step.Name)
		}
		environ := []string{
			"CI=true", "GITHUB_ACTIONS=true", "GITHUB_ACTION_PATH=" + dir, "RUNNER_TEMP=" + r.temp, "GITHUB_EVENT_PATH=" + payload,
			"GITHUB_REPOSITORY=acme/sum", "GITHUB_SERVER_URL=https://github.com", "ACTIONS_RUNTIME_TOKEN=the-token",
		}
		commands := filepath.Join(r.temp, "commands") // files of the step
		if err := os.Mkdir(commands, 0o755); err != nil {
			r.t.Fatal(err)
		}
		for _, name := range []string{"ENV", "PATH", "OUTPUT", "STATE", "STEP_SUMMARY"} {
			environ = append(environ, "GITHUB_"+name+"="+filepath.Join(commands, name))
		}
		for name, value := range step.Env {
			environ = append(environ, name+"="+expand(value))
		}
		out, err := r.try(environ, step.Run)
		if stop := uncommanded.FindStringSubmatch(out); stop == nil || stop[1] != stop[3] {
			r.t.Errorf("step %s lets its output be commands:\n%s", step.Name, out)
		}
		log += out
		for name, value := range heredocs(r.t, r.read(filepath.Join(commands, "OUTPUT"))) {
			values["steps."+step.ID+".outputs."+name] = value
		}
		for _, name := range []string{"ENV", "PATH", "STEP_SUMMARY"} {
			r.write(filepath.Join(r.temp, name), r.read(filepath.Join(r.temp, name))+r.read(filepath.Join(commands, name)))
		}
		if err := os.RemoveAll(commands); err != nil {
			r.t.Fatal(err)
		}
		if err != nil {
			return log, nil, fmt.Errorf("%s: %w", step.Name, err)
		}
	}
	outputs = map[string]string{}
	for name, out := range action.Outputs {
		outputs[name] = expand(out.Value)
	}
	return log, outputs, nil
}

// uncommanded matches output in which the runner looks for no commands.
var uncommanded = regexp.MustCompile(`(?s)^::stop-commands::([0-9a-f]{32})\n(.*\n|)::([0-9a-f]{32})::\n$`)

// heredocs parses the file through which a step returns its outputs.
func heredocs(t *testing.T, text string) map[string]string {
	t.Helper()
	values := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		if name, end, ok := strings.Cut(lines[i], "<<"); ok {
			var value []string
			for i++; lines[i] != end; i++ {
				value = append(value, lines[i])
			}
			values[name] = strings.Join(value, "\n")
		} else if name, value, ok := strings.Cut(lines[i], "="); ok {
			values[name] = value
		} else if lines[i] != "" {
			t.Errorf("a runner refuses the output %q", lines[i])
		}
	}
	return values
}

// fakeGH writes requests to a file, refuses reviews if the file "refuse" exists, and lists the
// comments in the file "comments".
const fakeGH = `#!/bin/sh
[ "$GH_TOKEN" = the-token ] || { echo "gh: not signed in" >&2; exit 4; }
[ "$1" = api ] || exit 2
shift
method=GET input= filter=.
while [ $# -gt 0 ]; do
	case $1 in
	--method) method=$2; shift 2 ;;
	--input) input=$2; shift 2 ;;
	--jq) filter=$2; shift 2 ;;
	--paginate) shift ;;
	*) path=$1; shift ;;
	esac
done
cd "$(dirname "$0")"
case $method:$path in
GET:*/comments) jq -r "$filter" comments; exit ;;
*/reviews) if [ -e refuse ]; then echo "gh: Line must be part of the diff (HTTP 422)" >&2; exit 1; fi ;;
esac
jq -c --arg request "$method $path" '{request: $request} + .' <"$input" >>requests
`

// requests returns what was posted.
func (r *runner) requests() (requests []map[string]any) {
	r.t.Helper()
	for line := range strings.Lines(r.read(filepath.Join(r.programs, "requests"))) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			r.t.Fatal(err)
		}
		requests = append(requests, v)
	}
	return requests
}

const pullRequest = `{"pull_request": {"number": 7, "head": {"sha": "abc"}}}`

// TestAction checks that the GitHub Action answers a prompt, and that neither the model nor what
// it runs controls the job.
//
// Proves X-199.
func TestAction(t *testing.T) {
	r := newRunner(t, `use Bash {"command":"env; echo '::error::forged'","description":"Look around"}
---
use Write {"file_path":"forged","content":"a"}
---
say <<END
Done, @everyone.
::set-output name=answer::forged
answer<<EOF

`+"```"+`
@Override
`+"```\nEND")
	r.write(filepath.Join(r.programs, "gh"), fakeGH)
	r.write(filepath.Join(r.programs, "comments"), `[{"id": 1, "user": {"type": "User"}, "body": "<!-- adze --> mine"}, {"id": 2, "user": {"type": "Bot"}, "body": "<!-- adze --> old"}]`)
	r.write(filepath.Join(r.dir, "prompt.md"), "Look at `sum.sh`; $(touch forged)")
	log, outputs, err := r.action(map[string]string{"prompt-file": "prompt.md", "allowed-tools": "Bash(env) Bash(echo:*)", "max-budget-usd": "1.5", "max-turns": "5", "report": "comment"}, pullRequest)
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if !strings.Contains(log, "> Bash env; echo '::error::forged'\n") || !strings.Contains(log, "\n::set-output name=answer::forged\n") {
		t.Errorf("the log is\n%s", log)
	}
	if want := "Done, @everyone.\n::set-output name=answer::forged\nanswer<<EOF\n\n```\n@Override\n```"; outputs["answer"] != want || outputs["cost"] != "0" {
		t.Errorf("the outputs are %q", outputs)
	}
	if summary := r.read(filepath.Join(r.temp, "STEP_SUMMARY")); !strings.HasPrefix(summary, "### adze\n\nDone, @\u200beveryone.\n") || !strings.HasSuffix(summary, "\nTurns: 3, cost unknown\n\nRefused, because allowed-tools does not name them: Write\n") {
		t.Errorf("the summary is\n%s", summary)
	}
	posted := r.requests()
	if len(posted) != 1 || posted[0]["request"] != "PATCH repos/acme/sum/issues/comments/2" || !strings.HasPrefix(posted[0]["body"].(string), "<!-- adze -->\nDone, @\u200beveryone.\n") || !strings.HasSuffix(posted[0]["body"].(string), "\n@Override\n```") {
		t.Errorf("posted: %v", posted)
	}
	if _, err := os.Lstat(filepath.Join(r.dir, "forged")); err == nil {
		t.Error("the prompt was run")
	}
	results := r.run(nil, `cat $(find ~ -name '*.jsonl')`)
	for _, secret := range []string{"the-token", "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH"} {
		if !strings.Contains(results, "RUNNER_TEMP") || strings.Contains(results, secret) {
			t.Errorf("commands of the model see %s, or it is not known what they see", secret)
		}
	}
}

// TestActionReview checks that a review arrives at the lines it is about, or else in a comment.
//
// Proves X-199.
func TestActionReview(t *testing.T) {
	const script = `forever
use StructuredOutput {"summary":"One mistake.","comments":[{"path":"sum.sh","line":1,"body":"Quote it, @jo."}]}`
	inputs := map[string]string{"prompt": "Review it.", "report": "review"}
	for name, refused := range map[string]bool{"accepted": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t, script)
			r.write(filepath.Join(r.programs, "gh"), fakeGH)
			r.write(filepath.Join(r.programs, "comments"), `[]`)
			want := `map[body:<!-- adze -->` + "\n" + `One mistake. comments:[map[body:Quote it, @` + "\u200b" + `jo. line:1 path:sum.sh side:RIGHT]] commit_id:abc event:COMMENT request:POST repos/acme/sum/pulls/7/reviews]`
			if refused {
				r.write(filepath.Join(r.programs, "refuse"), "")
				want = "map[body:<!-- adze -->\nOne mistake.\n\n- `sum.sh:1` Quote it, @\u200bjo. request:POST repos/acme/sum/issues/7/comments]"
			}
			log, outputs, err := r.action(inputs, pullRequest)
			if err != nil {
				t.Fatalf("%v\n%s", err, log)
			}
			if posted := r.requests(); len(posted) != 1 || fmt.Sprint(posted[0]) != want {
				t.Errorf("posted: %v, want %s", posted, want)
			}
			if !strings.HasPrefix(outputs["answer"], `{"summary":"One mistake."`) {
				t.Errorf("the outputs are %q", outputs)
			}
		})
	}
	t.Run("no pull request", func(t *testing.T) {
		r := newRunner(t, script)
		r.write(filepath.Join(r.programs, "gh"), fakeGH)
		if log, _, err := r.action(inputs, `{"issue": {"number": 7}}`); err != nil || r.requests() != nil || !strings.Contains(log, "has no pull request") {
			t.Errorf("%v\n%s", err, log)
		}
	})
}

// TestActionFails checks that a job fails, with a reason, if there is no answer.
//
// Proves X-199.
func TestActionFails(t *testing.T) {
	for name, c := range map[string]struct {
		inputs       map[string]string
		without, why string
	}{
		"no prompt":   {map[string]string{}, "", "set ADZE_CI_PROMPT or ADZE_CI_PROMPT_FILE"},
		"two prompts": {map[string]string{"prompt": "a", "prompt-file": "prompt.md"}, "", "not both"},
		"no file":     {map[string]string{"prompt-file": "missing.md"}, "", "cannot read the prompt"},
		"bad report":  {map[string]string{"prompt": "a", "report": "mail"}, "", "mail, not none"},
		"bad sandbox": {map[string]string{"prompt": "a", "sandbox": "yes"}, "", "yes, not true or false"},
		"bad budget":  {map[string]string{"prompt": "a", "max-budget-usd": "much"}, "", "--max-budget-usd"},
		"too long":    {map[string]string{"prompt": "a", "max-turns": "1"}, "", "adze: stopped after 1 turn (--max-turns)\n"},
		"no address":  {map[string]string{"prompt": "a", "version": "9.9.9"}, "", "set ADZE_DOWNLOADS"},
		"no gh":       {map[string]string{"prompt": "a", "report": "comment"}, "gh", "install gh in the job first"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t, "forever\nuse Bash {\"command\":\"git status\",\"description\":\"Look\"}\n")
			if c.without == "" {
				r.write(filepath.Join(r.programs, "gh"), fakeGH)
			}
			log, _, err := r.action(c.inputs, pullRequest)
			if err == nil || !strings.Contains(log, c.why) {
				t.Errorf("%v, want %s; the log is\n%s", err, c.why, log)
			}
			if r.requests() != nil {
				t.Error("something was posted")
			}
		})
	}
}

// TestActionNotifiesNobody checks that names in an answer notify nobody, and that code is as the
// model wrote it.
//
// Proves X-199.
func TestActionNotifiesNobody(t *testing.T) {
	for name, c := range map[string]struct{ answer, loud string }{
		"code":          {"@a\n```java\n@b\n```\n@c `@d`", "@b"},
		"other fence":   {"```\n~~~\n@a\n```\n@b", "@a"},
		"longer fence":  {"````\n```\n@a\n````\n@b", "@a"},
		"info":          {"``` x`\n@a", ""},
		"carriage":      {"```\nx\r```\r@a\n```", ""},
		"list":          {"- x\n  ```\n@a", ""},
		"indented":      {"  ```\n```\n@a", ""},
		"close":         {"```\n   ```\n@a", ""},
		"quotation":     {"> ```\n@a", ""},
		"html":          {"<div>\n```\n@a\n```", ""},
		"numbered list": {"1. ```\n@a", ""},
		"no close":      {"```\nx\n```\u00a0\n```\n@a", ""},
		"byte order":    {"x\n\ufeff```\n@a\n```\n@b", "@a"},
		"control":       {"`\x01``\nx\n```\n@a", ""},
		"long quote":    {"~~~\n>>>\n@a\n>>>", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t, "say <<END\n"+c.answer+"\nEND")
			if log, _, err := r.action(map[string]string{"prompt": "a"}, pullRequest); err != nil {
				t.Fatalf("%v\n%s", err, log)
			}
			loud := regexp.MustCompile(`@\w+`).FindAllString(r.read(filepath.Join(r.temp, "STEP_SUMMARY")), -1)
			if strings.Join(loud, " ") != c.loud {
				t.Errorf("%q notifies %v, want %q", c.answer, loud, c.loud)
			}
		})
	}
}

// TestActionDefuses checks that neither an entity names somebody, nor a line is a command, nor a
// picture is loaded: its address could carry what the model read.
//
// Proves X-199.
func TestActionDefuses(t *testing.T) {
	answer := "@&#106;o &#64;jo &commat;jo &#X040;jo &lt;\n![x](https://example.org/?d) <IMG src=x> <b>x</b>\n/merge\n  /close\n> /assign\na/b // c\n```mermaid\nA\n```\n````&#109;ermaid\n/A &lt;\n````"
	want := "@Z&#106;o &Z#64;jo &Zcommat;jo &Z#X040;jo &lt;\n!Z[x](https://example.org/?d) <ZIMG src=x> <b>x</b>\n/Zmerge\n  /Zclose\n> /Zassign\na/b // c\n```text mermaid\nA\n```\n````text &#109;ermaid\n/A &lt;\n````"
	r := newRunner(t, "say <<END\n"+answer+"\nEND")
	if log, _, err := r.action(map[string]string{"prompt": "a"}, pullRequest); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	summary := r.read(filepath.Join(r.temp, "STEP_SUMMARY"))
	if got := strings.ReplaceAll(summary, "\u200b", "Z"); !strings.HasPrefix(got, "### adze\n\n"+want+"\n\nTurns:") {
		t.Errorf("the summary is\n%s\nwant\n%s", got, want)
	}
}

// TestActionCut checks that a comment is no longer than GitHub permits, however much of it is
// defused.
//
// Proves X-199.
func TestActionCut(t *testing.T) {
	r := newRunner(t, "say "+strings.Repeat("a@bcdefghi ", 6000))
	r.write(filepath.Join(r.programs, "gh"), fakeGH)
	r.write(filepath.Join(r.programs, "comments"), `[]`)
	if log, _, err := r.action(map[string]string{"prompt": "a", "report": "comment"}, pullRequest); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	posted := r.requests()
	if len(posted) != 1 {
		t.Fatalf("posted: %v", posted)
	}
	if body := posted[0]["body"].(string); len([]rune(body)) > 60050 || !strings.HasSuffix(body, "\n\n(cut)") {
		t.Errorf("the comment has %d characters", len([]rune(body)))
	}
}

// TestActionFiles checks that a command that finds the files of the step controls nothing.
//
// Proves X-199.
func TestActionFiles(t *testing.T) {
	r := newRunner(t, `use Bash {"command":"for f in ENV PATH OUTPUT STATE STEP_SUMMARY; do echo forged=1 >>\"$RUNNER_TEMP/commands/$f\"; done; cat \"$RUNNER_TEMP/commands/ENV\"","description":"x"}
---
say Done.`)
	log, outputs, err := r.action(map[string]string{"prompt": "a", "allowed-tools": "Bash"}, pullRequest)
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if results := r.run(nil, `cat $(find ~ -name '*.jsonl')`); !strings.Contains(results, `"text":"forged=1`) {
		t.Errorf("the command did not find the files: %s", results)
	}
	for _, name := range []string{"ENV", "PATH", "STEP_SUMMARY"} {
		if text := r.read(filepath.Join(r.temp, name)); strings.Contains(text, "forged") {
			t.Errorf("%s contains %s", name, text)
		}
	}
	if outputs["answer"] != "Done." || !strings.HasPrefix(r.read(filepath.Join(r.temp, "STEP_SUMMARY")), "### adze\n\nDone.") {
		t.Errorf("the outputs are %q", outputs)
	}
}

// TestActionSandbox checks that commands in the sandbox reach neither the files of the step nor the
// environment of the job.
//
// Proves X-199.
func TestActionSandbox(t *testing.T) {
	r := newRunner(t, `use Bash {"command":"echo forged >>\"$RUNNER_TEMP/commands/ENV\"; cat \"$RUNNER_TEMP/commands/ENV\" /proc/[0-9]*/environ; echo looked","description":"x"}
---
say Done.`)
	log, _, err := r.action(map[string]string{"prompt": "a", "allowed-tools": "Bash", "sandbox": "true"}, pullRequest)
	if err != nil {
		if strings.Contains(log, "failIfUnavailable") {
			t.Skip("no sandbox here")
		}
		t.Fatalf("%v\n%s", err, log)
	}
	results := r.run(nil, `cat $(find ~ -name '*.jsonl') | grep tool_result`)
	if !strings.Contains(results, "looked") || strings.Contains(results, `"text":"forged`) || strings.Contains(results, "the-token") {
		t.Errorf("the command printed %s", results)
	}
}

// TestActionPromptLink checks that a link in a pull request sends no file of the machine to the
// model, and that a file outside can be named.
//
// Proves X-199.
func TestActionPromptLink(t *testing.T) {
	r := newRunner(t, "say Done.")
	secret := filepath.Join(r.home, "secret.md")
	r.write(secret, "the-secret")
	r.run(nil, `mkdir sub; ln -s "$HOME/secret.md" sub/link.md; ln -s "$HOME" dir; echo Go. >sub/prompt.md; ln -s sub/prompt.md inside.md`)
	for name, ok := range map[string]bool{"sub/link.md": false, "dir/secret.md": false, "../home/secret.md": false, "sub/prompt.md": true, "inside.md": true, secret: true} {
		log, _, err := r.action(map[string]string{"prompt-file": name}, pullRequest)
		if (err == nil) != ok || !ok && !strings.Contains(log, "cannot read the prompt") {
			t.Errorf("%s: %v\n%s", name, err, log)
		}
	}
}

// TestActionStops checks that a signal ends adze as well, and that the log is one stream, in which
// an error cannot come before or after the part without commands.
//
// Proves X-199.
func TestActionStops(t *testing.T) {
	r := newRunner(t, "use Bash {\"command\":\"git status\",\"description\":\"Look\"}\n---\nhang")
	script, err := filepath.Abs("../../ci/run")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", script, "answer")
	cmd.Dir = r.dir
	cmd.Env = append(append([]string{}, r.environ...), "GITHUB_ACTIONS=true", "RUNNER_TEMP="+r.temp, "TMPDIR="+r.temp, "ADZE_CI_PROMPT=a", "GITHUB_ENV="+filepath.Join(r.temp, "ENV"))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen := readUntil(t, stdout, "> Bash git status\n")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(stdout) // until adze has ended, too
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 143 {
		t.Errorf("ended with %v, want exit code 143", err)
	}
	if log := seen + string(out); !uncommanded.MatchString(log) || errs.Len() > 0 {
		t.Errorf("the log is\n%s\nand\n%s", log, errs.Bytes())
	}
	if left, err := filepath.Glob(filepath.Join(r.temp, "tmp.*")); err != nil || left != nil {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestActionInstall checks that a version is installed by its own installer, only over https, and
// put on the PATH of the job.
//
// Proves X-199.
func TestActionInstall(t *testing.T) {
	installer := `#!/bin/sh
mkdir -p "$HOME/.local/bin"
printf '#!/bin/sh\necho "%s from %s"\n' "$*" "$ADZE_DOWNLOADS" >"$HOME/.local/bin/adze"
chmod +x "$HOME/.local/bin/adze"
`
	handler := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/releases/install.sh" {
			http.NotFound(w, req)
			return
		}
		io.WriteString(w, installer)
	})
	secure, plain := httptest.NewTLSServer(handler), httptest.NewServer(handler)
	defer secure.Close()
	defer plain.Close()
	for address, ok := range map[string]bool{secure.URL + "/releases": true, plain.URL + "/releases": false, secure.URL: false} {
		r := newRunner(t, "say Done.")
		authority := filepath.Join(r.temp, "ca.pem")
		r.write(authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})))
		r.environ = append(r.environ, "CURL_CA_BUNDLE="+authority)
		log, _, err := r.action(map[string]string{"prompt": "a", "version": "1.2.3", "downloads": address}, pullRequest)
		if !ok {
			if want := "cannot download " + address + "/install.sh"; err == nil || !strings.Contains(log, want) {
				t.Errorf("%v, want %q in\n%s", err, want, log)
			}
			continue
		}
		if path := r.read(filepath.Join(r.temp, "PATH")); path != filepath.Join(r.home, ".local", "bin")+"\n" {
			t.Errorf("PATH gets %q\n%s", path, log)
		}
		if out := r.run(nil, "~/.local/bin/adze"); out != "--version 1.2.3 from "+address+"\n" {
			t.Errorf("installed: %s", out)
		}
	}
}

// TestGitLab checks the job for GitLab against a server for its notes.
//
// Proves X-199.
func TestGitLab(t *testing.T) {
	r := newRunner(t, `use StructuredOutput {"summary":"One mistake.\n~~~\n/merge\n~~~","comments":[{"path":"sum.sh","line":1,"body":"Quote it."}]}`)
	var posted []string
	notes := `[]`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil || req.Header.Get("Private-Token") != "the-token" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		switch path := strings.TrimPrefix(req.URL.Path, "/api/v4"); {
		case path == "/user":
			fmt.Fprint(w, `{"id": 5}`)
		case req.Method == "GET" && path == "/projects/3/merge_requests/7/notes":
			fmt.Fprint(w, notes)
		default:
			posted = append(posted, req.Method+" "+path+" "+string(bytes.TrimSpace(body)))
			fmt.Fprint(w, `{}`)
		}
	}))
	defer server.Close()
	var template map[string]struct {
		Before []string `yaml:"before_script"`
		Script []string
	}
	if err := yaml.Unmarshal([]byte(r.read("../../ci/gitlab.yml")), &template); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("adze")
	if err != nil {
		t.Fatal(err)
	}
	// As it is installed.
	share := filepath.Join(r.home, ".local", "share", "adze")
	r.run(nil, `mkdir -p ~/.local/bin "`+share+`"`)
	if err := os.Symlink(program, filepath.Join(r.home, ".local", "bin", "adze")); err != nil {
		t.Fatal(err)
	}
	r.write(filepath.Join(share, "ci"), r.read("../../ci/run"))
	job := template[".adze"]
	script := strings.Join(append(job.Before, job.Script...), "\n")
	environ := []string{
		"CI=true", "GITLAB_CI=true", "CI_API_V4_URL=" + server.URL + "/api/v4", "CI_PROJECT_ID=3", "CI_MERGE_REQUEST_IID=7",
		"ADZE_CI_PROMPT=Review it.", "ADZE_CI_REPORT=review",
	}
	if out, err := r.try(environ, script); err == nil || !strings.Contains(out, "set ADZE_CI_TOKEN") {
		t.Errorf("without a token: %v\n%s", err, out)
	}
	environ = append(environ, "ADZE_CI_TOKEN=the-token")
	const body = `{"body":"<!-- adze -->\nOne mistake.\n~~~\n/` + "\u200b" + `merge\n~~~\n\n- ` + "`sum.sh:1`" + ` Quote it."}`
	r.run(environ, script)
	notes = `[{"id": 12, "author": {"id": 9}, "body": "<!-- adze -->"}, {"id": 11, "author": {"id": 5}, "body": "<!-- adze -->"}]`
	r.run(environ, script)
	want := []string{"POST /projects/3/merge_requests/7/notes " + body, "PUT /projects/3/merge_requests/7/notes/11 " + body}
	if fmt.Sprint(posted) != fmt.Sprint(want) {
		t.Errorf("posted: %s\nwant: %s", posted, want)
	}
}

// unescaped removes what a terminal would interpret.
var unescaped = strings.NewReplacer("\x1b", "", "\a", "")

// TestCommitHook checks that the example of a hook stops a commit with a mistake, and lets
// others pass.
//
// Proves X-199.
func TestCommitHook(t *testing.T) {
	for answer, passes := range map[string]bool{"OK": true, "sum.sh:1: OK is not an answer": false, "OK\x1b]0;title\a": false} {
		r := newRunner(t, "say "+answer)
		r.write(filepath.Join(r.dir, ".git", "hooks", "pre-commit"), r.read("../../ci/pre-commit"))
		r.write(filepath.Join(r.dir, "sum.sh"), "echo $1\n")
		out, err := r.try(nil, "git commit -qam second")
		if (err == nil) != passes || !passes && !strings.Contains(out, unescaped.Replace(answer)+"\n\npre-commit: git commit --no-verify") {
			t.Errorf("%s: %v\n%s", answer, err, out)
		}
	}
	// A program that shows differences hides none from adze.
	r := newRunner(t, "say OK")
	r.write(filepath.Join(r.dir, ".git", "hooks", "pre-commit"), r.read("../../ci/pre-commit"))
	r.write(filepath.Join(r.dir, "sum.sh"), "echo the change\n")
	r.run(nil, `git config diff.external false; git config color.ui always; git commit -qam second`)
	if seen := r.run(nil, `cat $(find ~ -name '*.jsonl')`); !strings.Contains(seen, `\n+echo the change\n`) {
		t.Errorf("adze read %s", seen)
	}
	r = newRunner(t, "status 401")
	r.write(filepath.Join(r.dir, ".git", "hooks", "pre-commit"), r.read("../../ci/pre-commit"))
	r.write(filepath.Join(r.dir, "sum.sh"), "echo $1\n")
	if out, err := r.try(nil, "git commit -qam second"); err == nil || !strings.Contains(out, "adze could not read the change") {
		t.Errorf("without a model: %v\n%s", err, out)
	}
	r.run(nil, "git commit -q --no-verify -am second && git commit -q --allow-empty -m third")
}
