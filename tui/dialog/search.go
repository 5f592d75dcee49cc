package dialog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
	language "ollimbot/tui/widget/query"
)

// search ranks the items that match the query, after the commands that it begins. Disabled
// items come last. Of equal matches come first those of the focused pane, then those earlier in the table. Spelling is corrected
// only if nothing else is found.
func (p *Palette) search() {
	p.list.At = 0
	text := strings.TrimLeft(p.query.Text(), " ")
	query := strings.TrimSpace(text)
	if query == "" {
		p.shown = slices.Clone(p.items)
		slices.SortStableFunc(p.shown, func(a, b *item) int { return cmp.Compare(min(1, len(p.why(a))), min(1, len(p.why(b)))) })
		return
	}
	p.find(query, func(*item) string { return query })
	at := 0 // what is called so is before what it may become
	for at < len(p.shown) && p.shown[at].match.Exact() {
		at++
	}
	p.shown = slices.Insert(p.shown, at, p.commands(text)...)
	if strings.Contains(text, " ") {
		at = 0
	} else {
		at = len(p.shown)
	}
	p.shown = slices.Insert(p.shown, at, p.shellNames(text)...)
	if len(p.shown) == 0 {
		p.find(query, func(it *item) string { return respell(query, it.name) })
	}
	p.shown = append(p.shown, p.sentence(query)...)
}

// mostRuns is how many runs a query finds, newest first. leastThing is the minimum length
// of a query that finds more than actions: one letter matches everything.
const (
	mostRuns   = 100
	leastThing = 2
)

// find shows the items that match a query, which spelled corrects for each.
func (p *Palette) find(query string, spelled func(*item) string) {
	p.shown = nil
	runs := 0
	filter, lists := listed(query) // then only runs are listed
	if !lists {
		filter = language.Parse(query)
	}
	all := p.items
	if len(query) >= leastThing {
		all = slices.Concat(p.items, p.things)
	}
	for _, it := range all {
		run := it.kind == textARun
		switch {
		case run && runs == mostRuns, lists && !run:
			continue
		case !run:
			it.match = it.action.Match(spelled(it))
		case filter.Keeps(language.Facts{Text: it.kind + " " + it.name, Is: it.is, At: p.context.Snap.Local(it.at), Now: now(p.context)}):
			// A match is not ranked: there are thousands of runs.
			it.match = 1 // below everything that is not past
		default:
			it.match = 0
		}
		if it.match > 0 {
			p.shown = append(p.shown, it)
			if run {
				runs++
			}
		}
	}
	slices.SortStableFunc(p.shown, func(a, b *item) int {
		return cmp.Or(cmp.Compare(p.rank(a), p.rank(b)), cmp.Compare(b.match, a.match))
	})
}

// rank is 2 for what is disabled, unless it is called exactly so: enter must not do
// something else then.
func (p *Palette) rank(it *item) int {
	if p.why(it) != "" && !it.match.Exact() {
		return 2
	}
	return 1
}

// respell replaces the words of a query by the similar words of a title; it is empty if a
// word has none. A word is compared with whole words of the title: "demo" does not match
// "Mute pings".
func respell(query, title string) string {
	known := wordsOf(title)
	var out []string
	for _, w := range wordsOf(query) {
		i := slices.IndexFunc(known, func(t string) bool { return meant(w, t) })
		if i < 0 {
			return ""
		}
		out = append(out, known[i])
	}
	return strings.Join(out, " ")
}

func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// leastForgiven is the minimum length of a word that is corrected: "thme" does not match
// "the".
const leastForgiven = 4

// meant reports whether a word may be a misspelling of another: they differ in at most two
// adjacent letters, and if both have two there, these are swapped.
func meant(written, word string) bool {
	a, b := []rune(written), []rune(word)
	if min(len(a), len(b)) < leastForgiven {
		return written == word
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return max(len(a), len(b)) <= 2 && (len(a)+len(b) < 4 || a[0] == b[1])
}

// add lists an item that is not an action.
func (p *Palette) add(id action.ID, name string, it item) {
	it.action.ID, it.action.Title, it.action.Short, it.name, it.does = id, name, it.kind, name, textEnter+it.does
	p.things = append(p.things, &it)
}

// Found is a setting for the search: its key, its name with its value, and its other values.
type Found struct{ Key, Name, Others string }

// fillThings lists tasks, runs, updates and settings.
func (p *Palette) fillThings(c pane.Context, found []Found) {
	for _, t := range c.Snap.Schedule.Tasks {
		p.taskThings(c, t)
	}
	p.addRuns(c, c.Snap.Failures)
	p.addRuns(c, c.Snap.Forks)
	for i := range c.Snap.Updates {
		body := c.Snap.Sourced(c.Snap.Updates[i])
		p.add("update", "Update: "+clean.Cut(clean.Line(body), 60), item{kind: "update", does: "shows it in full", do: func(pane.Context) pane.Answer {
			return pane.Answer{Focus: action.Updates, Open: NewPage("Update", body)}
		}})
	}
	for _, s := range found {
		words := strings.ReplaceAll(s.Key, "_", " ")
		it := item{kind: "setting", does: textOpensSetting, do: at(action.Settings, s.Key)}
		it.action.Words = s.Others
		p.add(action.ID("setting "+words), s.Name, it)
	}
}

// at goes to an item of a pane.
func at(p action.Pane, id string) func(pane.Context) pane.Answer {
	return func(pane.Context) pane.Answer { return pane.Answer{Focus: p, Item: id, Zoom: p == action.Forks} }
}

// addRuns lists runs, each once.
func (p *Palette) addRuns(c pane.Context, runs []fork.View) {
	for i := range runs {
		f := &runs[i]
		if !p.runs[f.ID] {
			p.runs[f.ID] = true
			is := append(pane.OutcomeOf(c.Snap, f).Is, string(f.Kind))
			p.add("run", runName(c, f), item{kind: textARun, does: textOpensRun, do: at(action.Forks, f.ID), at: cmp.Or(f.Started, f.Ended), is: is})
		}
	}
}

// taskThings lists the verbs for a task.
func (p *Palette) taskThings(c pane.Context, t schedule.TaskView) {
	for _, v := range taskVerbs {
		if v.id == action.SchedulePause && v.paused != t.Paused {
			continue
		}
		it := item{kind: "task", does: v.does, do: func(c pane.Context) pane.Answer { return OnTask(c, t, v.id) }}
		a, _ := action.Get(action.Schedule, v.id)
		if it.action.Words = a.Words; c.ReadOnly && a.Writes {
			it.off = textReadOnlyHere
		}
		p.add(v.id, fmt.Sprintf(v.title, cmp.Or(t.Title, t.Path)), it)
	}
}

// OnTask carries out an action on a task, for the schedule, the page of a task and the
// palette. A reminder that is fired stays in the schedule.
func OnTask(c pane.Context, t schedule.TaskView, id action.ID) pane.Answer {
	name := cmp.Or(t.Title, t.ID)
	if t.ID == "" { // the file is not a task
		return pane.Answer{}
	}
	switch id.Verb() {
	case "details":
		return pane.Answer{Focus: action.Task, Item: t.ID}
	case "fire":
		return pane.Answer{Do: command.FireNow{ID: t.ID, Stays: true}}
	case "pause":
		return pane.Answer{Do: command.Pause{ID: t.ID, Paused: !t.Paused}}
	case "snooze":
		of := func(until time.Time) command.Value { return command.Snooze{ID: t.ID, Until: until} }
		return pane.Answer{Open: NewUntil(c, fmt.Sprintf("Snooze %s until", widget.Cut(name, 40)), t.Snoozed, of)}
	case "preview":
		return Load(textPromptOf+name, func(ctx context.Context, r pane.Reader) (pane.Dialog, error) {
			text, err := r.Preview(ctx, t.ID)
			return NewPage(textPromptOf+name, text), err
		})
	case "edit":
		return Load(name, func(ctx context.Context, r pane.Reader) (pane.Dialog, error) {
			past, err := r.Past(ctx, t.ID)
			return editTask(past.File), err
		})
	case "delete":
		return pane.Answer{Do: command.DeleteTask{ID: t.ID}}
	case "open":
		return pane.Answer{Edit: &pane.Edit{File: t.Path}}
	}
	return pane.Answer{}
}

// runName is the name of a run in the search: its task, its state, when.
func runName(c pane.Context, f *fork.View) string {
	at := f.Ended
	if at.IsZero() {
		at = f.Started
	}
	name := f.Title + ": " + string(f.State)
	for _, said := range pane.OutcomeOf(c.Snap, f).Full {
		name += ", " + said.Text
	}
	if at.IsZero() {
		return name
	}
	return name + " " + c.Snap.When(at, cron.Layouts{Today: "15:04", Else: "2 Jan 15:04"})
}
