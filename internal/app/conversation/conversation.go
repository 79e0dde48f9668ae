// Package conversation holds what one conversation runs with: its permission gate, shell state,
// working directory, environment, structured output and debug log.
package conversation
