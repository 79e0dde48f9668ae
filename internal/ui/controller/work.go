package controller

// work tracks the work the user is waiting for.
type work struct {
	working  bool          // a turn is running
	awaited  bool          // an entry will answer the last input
	followed *follower     // follower of the task that the user follows; may be nil
	typed    *shellCommand // running shell command typed by the user; may be nil
	slash    slashCommand  // running adze command
}

// Busy reports whether the user is waiting for the session or a command.
func (w *work) Busy() bool { return w.working || w.awaited || w.typed != nil || w.slash.runs() }

// Working reports whether a turn is running.
func (w *work) Working() bool { return w.working }

// Running reports whether a turn or a typed shell command is running.
func (w *work) Running() bool { return w.working || w.typed != nil }

// Calling reports whether a command is running alongside the turn. Esc and Ctrl-C stop it
// first.
func (w *work) Calling() bool { return w.typed != nil || w.slash.runs() }

// Following reports whether the user follows a task.
func (w *work) Following() bool { return w.followed != nil }

// unfollow stops following a task, which continues to run.
func (w *work) unfollow() {
	if w.followed != nil {
		w.followed, w.awaited = nil, false
	}
}
