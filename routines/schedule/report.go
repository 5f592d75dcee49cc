package schedule

import (
	"strings"

	"ollimbot/routines"
)

// report collects the messages of one step of the loop.
type report struct {
	changed  bool // Options.Changed must be called
	notes    []string
	troubles []trouble
	known    map[string]bool // files whose errors were reported
}

// trouble lists the errors in files of one kind, and the new ones among them.
type trouble struct {
	kind       routines.Kind
	all, fresh []string
}

// words returns the note about the errors; unread means that the user has not seen the
// last one.
func (t trouble) words(unread bool) string {
	list := t.fresh
	if unread {
		list = t.all
	}
	if len(list) == 0 {
		return ""
	}
	return invalidNote(t.kind, list)
}

func (r *report) note(text ...string) { r.notes = append(r.notes, text...) }

// problems reports files that are not in force: one note per kind, and each file once
// until it is valid again. It replaces an unread note.
func (r *report) problems(set *routines.Set) {
	kinds := []trouble{{kind: routines.KindRoutine}, {kind: routines.KindReminder}}
	wrong := map[string]bool{}
	for _, p := range set.Problems {
		if p.Severity != routines.Error || wrong[p.File] {
			continue
		}
		wrong[p.File] = true
		t := &kinds[0]
		if p.File == routines.ReminderFolder || strings.HasPrefix(p.File, routines.ReminderFolder+"/") {
			t = &kinds[1]
		}
		text := p.Position() + ": " + p.Message
		t.all = append(t.all, text)
		if !r.known[p.File] {
			t.fresh = append(t.fresh, text)
		}
	}
	r.known = wrong
	r.changed = true
	r.troubles = append(r.troubles, kinds...)
}

// deliver passes all messages on.
func (r *report) deliver(o Options) {
	notes, troubles, changed := r.notes, r.troubles, r.changed
	r.notes, r.troubles, r.changed = nil, nil, false
	for _, text := range notes {
		o.Note(text)
	}
	for _, t := range troubles {
		o.Troubles(t.kind, t.words)
	}
	if changed {
		o.Changed()
	}
}
