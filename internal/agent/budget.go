package agent

import (
	"strconv"
	"strings"
)

// Limits for a budget named in a prompt, in tokens. A signed number below the minimum means
// something else.
const (
	leastBudget = 1000
	mostBudget  = 1_000_000_000
)

// BudgetIn returns the output token budget named by a prompt's first or last word, such as
// +500k or +1.5m, or 0.
func BudgetIn(prompt string) int {
	words := strings.Fields(prompt)
	if len(words) < 2 { // the prompt is nothing but a budget
		return 0
	}
	if n := budgetOf(words[0]); n > 0 {
		return n
	}
	return budgetOf(words[len(words)-1])
}

func budgetOf(word string) int {
	digits, ok := strings.CutPrefix(strings.ToLower(word), "+")
	if !ok || strings.Trim(digits, "0123456789.km") != "" {
		return 0
	}
	scale := 1.0
	if number, ok := strings.CutSuffix(digits, "k"); ok {
		digits, scale = number, 1000
	} else if number, ok := strings.CutSuffix(digits, "m"); ok {
		digits, scale = number, 1_000_000
	}
	n, err := strconv.ParseFloat(digits, 64)
	if n *= scale; err != nil || n < leastBudget || n > mostBudget {
		return 0
	}
	return int(n)
}
