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

// Itself is for Pick among things.
func (t Thing) Itself() Thing { return t }

// leastID is the minimum length of the beginning of an ID that names a thing, in characters.
const leastID = 4

// Pick returns the values that a text names: the one with this ID, else those with exactly this title, else those whose
// ID begins with it, else those whose title contains every word. Of several, those to which the command applies count.
func Pick[T any](list []T, of func(T) Thing, text string) []T {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, fits := range []func(t Thing) bool{
		func(t Thing) bool { return strings.ToLower(t.ID) == text },
		func(t Thing) bool { return strings.ToLower(t.Title) == text },
		func(t Thing) bool { return len(text) >= leastID && strings.HasPrefix(strings.ToLower(t.ID), text) },
		func(t Thing) bool { return words.HoldsAll(t.Title, text) },
	} {
		found := slices.DeleteFunc(slices.Clone(list), func(v T) bool { return !fits(of(v)) })
		if better := slices.DeleteFunc(slices.Clone(found), func(v T) bool { return of(v).Off }); len(better) > 0 {
			found = better
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// Only reports whether the first of the picked values is meant: it is the only one, or, if newest is set, the newest of
// several with the same title. Values come newest first then.
func Only[T any](found []T, of func(T) Thing, newest bool) bool {
	other := func(v T) bool { return of(v).Title != of(found[0]).Title }
	return len(found) == 1 || newest && len(found) > 0 && !slices.ContainsFunc(found, other)
}

// PickOrText is PickOne for a command that knows best why a text names nothing: its ID is the text then.
func PickOrText(noun string, things []Thing, text string, newest bool) (Thing, error) {
	if len(Pick(things, Thing.Itself, text)) == 0 {
		return Thing{ID: text}, nil
	}
	return PickOne(noun, things, text, newest)
}

// PickOne is Pick for a command that needs exactly one, as of Only.
func PickOne(noun string, things []Thing, text string, newest bool) (Thing, error) {
	found := Pick(things, Thing.Itself, text)
	switch {
	case len(found) == 0:
		return Thing{}, fmt.Errorf(textNoThing, noun, text)
	case Only(found, Thing.Itself, newest):
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
