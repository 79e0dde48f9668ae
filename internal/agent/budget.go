package agent

import (
	"strconv"
	"strings"
)

// The bounds of a budget that a prompt may name, in tokens. Below, a number with a sign means something else.
const (
	leastBudget = 1000
	mostBudget  = 1_000_000_000
)

// BudgetIn returns the budget of output tokens that a prompt names with its first or last word, such as +500k or +1.5m, or
// 0 if it names none.
func BudgetIn(prompt string) int {
	words := strings.Fields(prompt)
	if len(words) < 2 { // there is nothing to do with it
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
