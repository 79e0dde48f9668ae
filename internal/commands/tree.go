package commands

// A Branch is an item of a tree with its depth, from 0.
type Branch[T any] struct {
	Item  T
	Depth int
}

// Tree returns items with each after its parent, in their order otherwise. An item with an
// unknown parent is at the top.
func Tree[T any](items []T, id, parent func(T) string) []Branch[T] {
	known := map[string]bool{}
	for _, item := range items {
		known[id(item)] = true
	}
	below := map[string][]T{}
	for _, item := range items {
		at := parent(item)
		if !known[at] || at == id(item) {
			at = ""
		}
		below[at] = append(below[at], item)
	}
	var tree []Branch[T]
	var grow func(at string, depth int)
	grow = func(at string, depth int) {
		items := below[at]
		delete(below, at)
		for _, item := range items {
			tree = append(tree, Branch[T]{item, depth})
			if id(item) != "" {
				grow(id(item), depth+1)
			}
		}
	}
	grow("", 0)
	return tree
}
