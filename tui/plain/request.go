package plain

import (
	"strconv"
	"strings"

	"ollimbot/core/command"
)

// request is a command of the user and what was written after its name.
type request struct {
	command.Command
	rest string
}

// howMany reads a number of lines or days, at least 1; an empty text is the default n.
func howMany(text string, n int) (int, bool) {
	if text == "" {
		return n, true
	}
	n, err := strconv.Atoi(text)
	return min(n, 10_000), err == nil && n > 0
}

// cutAt cuts a line before and after a word.
func cutAt(line, word string) (before, after string) {
	before, after, _ = strings.Cut(" "+line+" ", " "+word+" ")
	return strings.TrimSpace(before), strings.TrimSpace(after)
}
