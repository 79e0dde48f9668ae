package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"adze/internal/tool/schema/draft"
)

// MaxCalls is the maximum number of agent calls in a run, including failed ones.
const MaxCalls = 80

// maxAtOnce is the number of a group's steps that run concurrently.
const maxAtOnce = 8

// A Call is a request to an agent.
type Call struct {
	Step, Agent, Prompt, Model string
	Schema                     json.RawMessage // nil means any text
	Worktree                   bool
}

// A Runner runs agents.
type Runner interface {
	Run(ctx context.Context, c Call) (Result, error)
}

// A State is the state of a step.
type State string

// The states.
const (
	Started  State = "started"
	Retrying State = "retrying"
	Done     State = "done"
	Skipped  State = "skipped"
	Failed   State = "failed"
)

// A Progress is an update on a run, for users.
type Progress struct {
	Step  string
	State State
	Err   error // set on failure
}

// A Run executes a workflow.
type Run struct {
	Workflow *Workflow
	Inputs   map[string]string
	Runner   Runner
	Journal  *Journal
	// Compile compiles schemas; if nil, each schema is compiled for every output.
	Compile func(json.RawMessage) (*draft.Schema, error)
	// Report, if non-nil, is called with progress, from any goroutine.
	Report func(Progress)

	mu      sync.Mutex
	results map[string]Result
}

// Do runs the steps that have not ended yet and returns the result of the last step that was
// not skipped. If it fails or ctx is done, the journal has all finished steps.
func (r *Run) Do(ctx context.Context) (Result, error) {
	for _, name := range r.Workflow.Inputs {
		if _, ok := r.Inputs[name]; !ok {
			return Result{}, fmt.Errorf("the workflow needs the input %q", name)
		}
	}
	r.results = map[string]Result{}
	var last Result
	for i := range r.Workflow.Steps {
		s := &r.Workflow.Steps[i]
		if err := r.step(ctx, s); err != nil {
			return Result{}, err
		}
		for _, name := range s.names() {
			if result, ok := r.results[name]; ok {
				last = result
			}
		}
	}
	return last, nil
}

// names returns the names of the steps that return a result.
func (s *Step) names() []string {
	if s.Parallel == nil {
		return []string{s.Name}
	}
	var all []string
	for _, inner := range s.Parallel {
		all = append(all, inner.Name)
	}
	return all
}

// step runs a step or a group.
func (r *Run) step(ctx context.Context, s *Step) error {
	if s.Parallel == nil {
		return r.single(ctx, s, r.values())
	}
	v := r.values()
	if !v.holds(s.When) {
		r.report(s.Name, Skipped, nil)
		return nil
	}
	free := make(chan struct{}, maxAtOnce)
	failures := make([]error, len(s.Parallel))
	var group sync.WaitGroup
	for i := range s.Parallel {
		group.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			failures[i] = r.single(ctx, &s.Parallel[i], v)
		})
	}
	group.Wait()
	return errors.Join(failures...)
}

// values returns the values that later steps may refer to.
func (r *Run) values() values {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := values{inputs: r.Inputs, results: map[string]Result{}}
	for name, result := range r.results {
		v.results[name] = result
	}
	return v
}

// single runs a step that calls one agent, unless it has ended before or its condition is not
// met.
func (r *Run) single(ctx context.Context, s *Step, v values) error {
	if e, ok := r.Journal.ended(s.Name); ok {
		if !e.Skipped {
			r.keep(s.Name, *e.Result)
		}
		return nil
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if !v.holds(s.When) {
		r.report(s.Name, Skipped, nil)
		return r.Journal.end(entry{Step: s.Name, Skipped: true})
	}
	r.report(s.Name, Started, nil)
	result, err := r.try(ctx, s, v.expand(s.Prompt))
	if err != nil {
		r.report(s.Name, Failed, err)
		return err
	}
	if err := r.Journal.end(entry{Step: s.Name, Result: &result}); err != nil {
		return fmt.Errorf("step %q: keeping its output: %w", s.Name, err)
	}
	r.keep(s.Name, result)
	r.report(s.Name, Done, nil)
	return nil
}

// try calls the agent until its output matches the schema, as often as the step allows.
func (r *Run) try(ctx context.Context, s *Step, prompt string) (Result, error) {
	var failure error
	for try := 0; try <= s.Retries; try++ {
		if try > 0 {
			r.report(s.Name, Retrying, failure)
		}
		if err := r.Journal.begin(s.Name); err != nil {
			return Result{}, err
		}
		result, err := r.Runner.Run(ctx, Call{
			Step: s.Name, Agent: s.Agent, Prompt: prompt, Model: s.Model, Schema: s.Schema, Worktree: s.Worktree,
		})
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		if err == nil {
			err = r.fits(s, result)
		}
		if err == nil {
			return result, nil
		}
		failure = fmt.Errorf("step %q: %w", s.Name, err)
	}
	return Result{}, failure
}

// fits returns an error if an output does not match its step's schema.
func (r *Run) fits(s *Step, result Result) error {
	if s.Schema == nil {
		return nil
	}
	compile := r.Compile
	if compile == nil {
		compile = draft.Compile
	}
	schema, err := compile(s.Schema)
	if err != nil {
		return fmt.Errorf("its schema: %w", err)
	}
	if result.Value == nil {
		return errors.New("the agent returned no value for the schema")
	}
	if err := schema.Check(result.Value); err != nil {
		return fmt.Errorf("the output does not fit: %w", err)
	}
	return nil
}

func (r *Run) keep(step string, result Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[step] = result
}

func (r *Run) report(step string, state State, err error) {
	if r.Report != nil {
		r.Report(Progress{Step: step, State: state, Err: err})
	}
}
