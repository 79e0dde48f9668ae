package osproc

// ReaperArg is the first argument of a program that must call [Reap] with the remaining
// arguments before doing anything else.
const ReaperArg = "__reap"

// MarkLine is a line of bash that marks the shell with its [Runner]'s mark before it starts
// anything. Without a mark it does nothing.
const MarkLine = `ulimit -SR "${ADZE_RUN##*.}" 2>/dev/null`
