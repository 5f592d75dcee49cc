package policy

import (
	"maps"
	"slices"

	"ollimbot/routines"
)

// keepBefore keeps the text in force at a path that an agent is about to replace, and returns its
// version.
func (g *Guard) keepBefore(rel string) string {
	data, err := g.o.Dir.Read(rel)
	if err != nil { // it is new
		return ""
	}
	version := routines.Digest(data)
	if _, byAgent := g.origin(rel, version); !byAgent && g.unknown(rel, version) {
		return ""
	}
	return g.keepText(rel, data)
}

// keepText keeps a text and returns its version. If the text itself is waiting for approval, it
// returns the version of the text before it.
func (g *Guard) keepText(rel string, data []byte) string {
	version := routines.Digest(data)
	of, ok := grantsOf(rel, data, g.skill)
	o, known := g.provenance.Find(rel, version)
	waits := known && waiting(o, rel, g.o.Base(), of)
	switch kind, task := kindOf(rel); {
	case !task, kind == routines.KindReminder && comesBack(rel, data):
		return ""
	case !ok, waits:
		return o.Before
	}
	if err := routines.KeepText(g.o.Dir, data); err != nil {
		g.o.Log.Error("the text before an edit of the agent was not kept; the task will wait for approval", "file", rel, "error", err)
		return ""
	}
	return version
}

// comesBack reports whether a reminder repeats until it is done. Its file moves with it, so an
// older text would restore a time that has passed.
func comesBack(rel string, data []byte) bool {
	r, _ := routines.ParseReminder(rel, data, nil)
	return r.UntilDone
}

// look keeps the texts of all tasks in memory while commands that could write them are running.
// Anything that a running command has already written does not replace the earlier text.
func (c *commands) look(g *Guard) {
	texts := map[string][]byte{}
	for _, rel := range g.reach.grantingFiles() {
		if _, task := kindOf(rel); !task {
			continue
		}
		if data, err := g.o.Dir.Read(rel); err == nil {
			texts[rel] = data
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.by) > 0 {
		maps.Copy(texts, c.texts)
	}
	c.texts = texts
}

// replaced returns the version that was in force before a command wrote a file: the version at its
// path, or that of the task whose file the command renamed.
func (g *Guard) replaced(rel string, data []byte) string {
	g.commands.mu.Lock()
	texts := g.commands.texts
	g.commands.mu.Unlock()
	was, ok := texts[rel]
	if id := taskOf(rel, data); !ok && id != "" {
		names := slices.Sorted(maps.Keys(texts))
		i := slices.IndexFunc(names, func(name string) bool { return taskOf(name, texts[name]) == id })
		if i >= 0 {
			was, ok = texts[names[i]], true
		}
	}
	version := routines.Digest(was)
	if _, foreseen := g.provenance.Find(rel, routines.Digest(data)); foreseen {
		return "" // it was recorded before the file was written
	}
	if _, known := g.provenance.Find(rel, version); !ok || version == routines.Digest(data) || !known && !g.provenance.Lost().IsZero() {
		return ""
	}
	return g.keepText(rel, was)
}

// taskOf identifies the task of a file by its kind and its ID; "" if it has none.
func taskOf(rel string, data []byte) string {
	kind, ok := kindOf(rel)
	if !ok {
		return ""
	}
	t, _ := routines.Parse(kind, rel, data, nil)
	if t.ID == "" {
		return ""
	}
	return string(kind) + " " + t.ID
}
