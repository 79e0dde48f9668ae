package osproc

// ReaperArg is the first argument of a program that is to call [Reap] with the others, before it does
// anything else.
const ReaperArg = "__reap"

// MarkLine is a line for bash that puts the mark of its [Runner] on the shell before that starts anything.
// Where there is nothing to put, it does nothing.
const MarkLine = `ulimit -SR "${ADZE_RUN##*.}" 2>/dev/null`
