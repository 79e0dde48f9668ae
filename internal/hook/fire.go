package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"adze/internal/msg"
	"adze/internal/tool"
)

// Fire runs an event's hooks concurrently and waits for all except background hooks. When ctx
// is done the hooks are killed, and the outcome lacks their results.
func (r *Runner) Fire(ctx context.Context, e Event) Outcome {
	if !r.Has(e.Name) { // the common case, so compute nothing
		return Outcome{}
	}
	k, _ := kindOf(e.Name)
	common := r.cfg.Common()
	hooks := r.matching(e, common.Dir)
	if len(hooks) == 0 {
		return Outcome{}
	}
	input := e.input(common, func(err error) { r.cfg.Log.Warn("hook input", "err", err) })
	results := make([]result, len(hooks))
	var wg sync.WaitGroup
	for i, h := range hooks {
		j := &job{
			hook: h, kind: k, common: common, use: e.use, input: input, firstLine: func([]byte) {},
			run: Run{ID: msg.NewID(), Name: e.title(), Event: e.Name, Status: firstOf(h.status, h.label())},
		}
		wg.Go(func() { results[i] = r.run(ctx, j) })
	}
	wg.Wait()
	out := combine(k, e.after(), results, r.cfg.Results)
	if ctx.Err() == nil {
		for _, text := range out.Messages {
			r.notices.notify(text)
		}
	}
	return out
}

// A job is one run of one hook.
type job struct {
	*hook
	kind   kind
	common Common
	use    *tool.Use
	input  json.RawMessage
	run    Run
	// firstLine is called with the first line of output as soon as it is complete.
	firstLine func(line []byte)
	// inBackground is set if the first line sent the hook to the background. Only the goroutine
	// that reads the output uses it.
	inBackground bool
	time         *pausableTimer
	over         chan struct{} // closed when a background hook's result was processed
}

// errTimeout is the cause of ending a hook that took too long.
type errTimeout struct{ limit time.Duration }

func (e errTimeout) Error() string {
	return fmt.Sprintf("it was ended after %v, its time limit", e.limit)
}

// run runs a hook until it ends or moves to the background.
func (r *Runner) run(ctx context.Context, j *job) result {
	started := time.Now()
	r.notices.observe(func(o Observer) { o.HookStarted(j.run) })
	// The hook's lifetime is the runner's, not the event's: it may move to the background.
	life, end := context.WithCancelCause(r.life)
	limit := j.limit(j.kind, r.cfg.SessionEndTimeout)
	j.time = newAllowance(limit)
	defer j.time.timer.Stop()
	async := make(chan time.Duration, 1)
	j.firstLine = func(line []byte) {
		if wait, ok := asyncLine(line); ok {
			j.inBackground = true
			async <- wait
		}
	}
	done := make(chan ending, 1)
	r.jobs.Go(func() { done <- r.execute(life, j) })
	if j.async || j.asyncRewake {
		r.detach(j, done, end, limit, started)
		return result{spec: j.spec, status: background}
	}
	var ended ending
	select {
	case ended = <-done:
	case wait := <-async:
		r.detach(j, done, end, wait, started)
		return result{spec: j.spec, status: background}
	case <-j.time.up:
		end(errTimeout{limit})
		ended = <-done
	case <-ctx.Done():
		end(context.Cause(ctx))
		ended = <-done
	}
	end(nil)
	return r.finish(j, ended, started)
}

// finish judges an ended run and reports it.
func (r *Runner) finish(j *job, ended ending, started time.Time) result {
	res := judge(j, ended, r.cfg.Results)
	res.duration = time.Since(started) - j.time.waited()
	report := res.report()
	j.mu.Lock()
	j.last = &report
	j.spent = j.spent || j.once && res.status == succeeded
	j.mu.Unlock()
	r.notices.observe(func(o Observer) { o.HookDone(j.run, report) })
	return res
}

// execute runs the hook by its type. A hook that panics gives no verdict.
func (r *Runner) execute(ctx context.Context, j *job) (end ending) {
	defer func() {
		if v := recover(); v != nil {
			r.cfg.Log.Error("panic in a hook", "hook", j.label(), "panic", fmt.Sprint(v))
			end = failed(fmt.Errorf("it panicked: %v", v))
		}
	}()
	if err := j.source.Plugin.check(); err != nil {
		return failed(err)
	}
	switch j.typ {
	case TypeCommand:
		return r.commands.run(ctx, j)
	case TypeHTTP:
		return r.requests.post(ctx, j)
	case TypePrompt:
		return ask(ctx, j, r.cfg.Judges.Prompt, "prompt hooks are not available here")
	case TypeAgent:
		return ask(ctx, j, r.cfg.Judges.Agent, "agent hooks are not available here")
	case TypeTool:
		return r.callTool(ctx, j)
	case TypeCallback:
		return call(ctx, func(ctx context.Context) (json.RawMessage, error) {
			_, callback := r.hosted()
			if callback == nil {
				return nil, errors.New("the host is gone")
			}
			id := ""
			if j.use != nil {
				id = j.use.ID
			}
			return callback(ctx, j.hook.callback, j.input, id)
		})
	}
	return failed(fmt.Errorf("there are no hooks of type %s", j.typ))
}

// call runs a hook implemented by a function.
func call(ctx context.Context, f func(context.Context) (json.RawMessage, error)) ending {
	data, err := f(ctx)
	switch {
	case ctx.Err() != nil:
		end := ending{stdout: captured(nil), stderr: captured(nil)}
		end.stop(ctx)
		return end
	case err != nil:
		return failed(err)
	case absent(data):
		data = nil
	}
	return ending{stdout: captured(data), stderr: captured(nil)}
}

// failed returns the ending of a hook that could not run.
func failed(err error) ending {
	return ending{stdout: captured(nil), stderr: captured(nil), broken: err.Error()}
}
