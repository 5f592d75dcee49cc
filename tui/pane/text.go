package pane

import "ollimbot/core/words"

// textFound is how many rows a filter shows.
func textFound(n, of int) string {
	return words.Thousands(uint64(n)) + " of " + words.Thousands(uint64(of))
}
