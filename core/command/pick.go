package command

import (
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/base/words"
)

// Thing is something that a command can name: a task, a run, an update.
type Thing struct {
	ID, Title string
	Off       bool // the command does not apply to it
}

// leastID is the minimum length of the beginning of an ID that names a thing, in characters.
const leastID = 4

// Pick returns the things that a text names: the one with this ID, else those with exactly this title, else those whose
// ID begins with it, else those whose title contains every word. Of several, those to which the command applies count.
func Pick(things []Thing, text string) []Thing {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, fits := range []func(t Thing) bool{
		func(t Thing) bool { return strings.ToLower(t.ID) == text },
		func(t Thing) bool { return strings.ToLower(t.Title) == text },
		func(t Thing) bool { return len(text) >= leastID && strings.HasPrefix(strings.ToLower(t.ID), text) },
		func(t Thing) bool { return words.HoldsAll(t.Title, text) },
	} {
		found := slices.DeleteFunc(slices.Clone(things), func(t Thing) bool { return !fits(t) })
		if better := slices.DeleteFunc(slices.Clone(found), func(t Thing) bool { return t.Off }); len(better) > 0 {
			found = better
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// PickOne is Pick for a command that needs exactly one. If newest is set, things come newest first, and the first of
// several with the same title is meant.
func PickOne(noun string, things []Thing, text string, newest bool) (Thing, error) {
	found := Pick(things, text)
	switch {
	case len(found) == 0:
		return Thing{}, fmt.Errorf(textNoThing, noun, text)
	case len(found) == 1, newest && !slices.ContainsFunc(found, func(t Thing) bool { return t.Title != found[0].Title }):
		return found[0], nil
	}
	const most = 5
	var names []string
	for _, t := range found[:min(most, len(found))] {
		names = append(names, fmt.Sprintf("%s (%s)", t.Title, t.ID))
	}
	if more := len(found) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return Thing{}, fmt.Errorf(textSeveralThings, text, words.Grouped(uint64(len(found)), noun), strings.Join(names, "; "))
}
