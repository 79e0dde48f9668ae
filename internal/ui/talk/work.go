package talk

// work is what the user waits for.
type work struct {
	working  bool      // a turn runs
	awaited  bool      // an entry will answer what was entered
	followed *follower // of the task that the user follows; may be nil
	typed    *typed    // the command that the user typed and that runs; may be nil
	slash    slash     // the command of adze that runs
}

// Busy reports whether the user waits for the session or for a command.
func (w *work) Busy() bool { return w.working || w.awaited || w.typed != nil || w.slash.runs() }

// Working reports whether a turn runs.
func (w *work) Working() bool { return w.working }

// Running reports whether a turn, or a command that the user typed, runs.
func (w *work) Running() bool { return w.working || w.typed != nil }

// Calling reports whether a command runs for the user beside the turn, which Esc and Ctrl-C stop first.
func (w *work) Calling() bool { return w.typed != nil || w.slash.runs() }

// Following reports whether the user follows a task.
func (w *work) Following() bool { return w.followed != nil }

// unfollow stops following a task, which continues to run.
func (w *work) unfollow() {
	if w.followed != nil {
		w.followed, w.awaited = nil, false
	}
}
