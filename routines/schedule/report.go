package schedule

import (
	"strings"

	"ollimbot/routines"
)

// report collects what a step of the loop has to say.
type report struct {
	changed  bool // Options.Changed is to be called
	notes    []string
	troubles []trouble
	known    map[string]bool // files whose errors were reported
}

// trouble is what is wrong with the files of a kind, and what of it is new.
type trouble struct {
	kind       routines.Kind
	all, fresh []string
}

// words is the note about the trouble; unread says that the user has not seen the last one.
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

// problems reports files that are not in force: one note for each kind, each file once
// until it is valid again. A note that was not read yet is replaced.
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

// deliver hands everything out.
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
