package policy

import (
	"path/filepath"
	"testing"

	"ollimbot/core/agent"
)

func TestOnlyAWriteIsCommittedAndAFaultThereIsNone(t *testing.T) {
	r := newRoom(t)
	write(t, filepath.Join(r.root, "notes/a.md"), "x")
	for _, u := range []agent.ToolUse{file("Edit", "notes/a.md"), file("Read", "notes/a.md"), toolUse("Write", nil), bash("echo x > notes/a.md")} {
		got := ""
		r.Session(Scope{}).Hooks(func(rel, msg string) { got = rel + ": " + msg }).PostTool(t.Context(), u)
		if want := map[bool]string{true: "notes/a.md: auto: edit notes/a.md"}[u.Name == "Edit"]; got != want {
			t.Errorf("%s %s: %q, want %q", u.Name, u.Input, got, want)
		}
	}
	r.Session(Scope{}).Hooks(func(string, string) { panic("no repository") }).PostTool(t.Context(), file("Write", "notes/a.md"))
	if h := r.Session(Scope{}).Hooks(nil); h.PostTool == nil || h.PreTool == nil {
		t.Error("without commits a hook is missing")
	}
}

// A file with several spellings is judged under the most important one; only tasks and what their links lead to grant rights.
func TestAFileIsJudgedByItsPlace(t *testing.T) {
	r := newRoom(t)
	for _, rel := range []string{"notes/a.md", "notes/day.md", "routines/r.md"} {
		write(t, filepath.Join(r.root, rel), "x")
	}
	for name, target := range map[string]string{
		"routines/linked.md": "../notes/a.md", "notes/linked.md": "../routines/r.md", "notes/loop.md": "loop.md", "routines/day.md": "../notes/day.md",
	} {
		link(t, target, filepath.Join(r.root, name))
	}
	for path, want := range map[string]struct{ proposed, grants string }{
		"notes/a.md":                       {"notes/a.md", "routines/linked.md"},
		"routines/linked.md":               {"routines/linked.md", "routines/linked.md"},
		"notes/linked.md":                  {"routines/r.md", "routines/r.md"},
		r.root + "/notes/../routines/r.md": {"routines/r.md", "routines/r.md"},
		"/srv/routines/r.md":               {"", ""},
		"notes/loop.md":                    {"", ""},
		"routines/r.md":                    {"routines/r.md", "routines/r.md"},
		"notes/../notes/day.md":            {"notes/day.md", "routines/day.md"},
		"notes/other.md":                   {"notes/other.md", ""},
		"routines/old/a.md":                {"routines/old/a.md", ""},
		"skills/day/SKILL.md":              {"skills/day/SKILL.md", "skills/day/SKILL.md"},
		"skills/day/more.md":               {"skills/day/more.md", ""},
	} {
		rel, _, ok := r.proposed(r.tree.call(writing(path, "y")))
		if rel != want.proposed || ok != (want.proposed != "") {
			t.Errorf("%s is %q, %v", path, rel, ok)
		}
		if rel, ok := r.granting(path); rel != want.grants || ok != (want.grants != "") {
			t.Errorf("%s grants as %q, %v", path, rel, ok)
		}
	}
}

// editing is a call with its effect on a file, as the command performs it. The real command is
// checked with the same table in core/agent/claude. Bytes are written as letters, one for each.
type editing struct {
	Name, File    string
	Missing       bool // the file does not exist before
	Before, After string
	With          map[string]any
	Told          bool // the guard can predict the contents
}

func bytesOf(letters string) (out []byte) {
	for _, r := range letters {
		out = append(out, byte(r))
	}
	return out
}

func TestTheGuardKnowsWhatAnEditMakes(t *testing.T) {
	var edits []editing
	table(t, "edits.json", &edits)
	g, root := newGuard(t)
	for _, e := range edits {
		if !e.Missing {
			write(t, filepath.Join(root, "notes", e.File), string(bytesOf(e.Before)))
		}
		tool := "Edit"
		if e.With["content"] != nil {
			tool = "Write"
		}
		e.With["file_path"] = "notes/" + e.File
		rel, got, ok := g.proposed(g.tree.call(toolUse(tool, e.With)))
		if rel != "notes/"+e.File || ok != e.Told || ok && string(got) != string(bytesOf(e.After)) {
			t.Errorf("%s: %q %v %q, want %q", e.Name, rel, ok, got, bytesOf(e.After))
		}
	}
}

func TestEnginesKnowNoDontAsk(t *testing.T) {
	for mode, want := range map[Mode]string{
		DontAsk: "default", Ask: "default", AcceptEdits: "acceptEdits", BypassPermissions: "bypassPermissions", "x": "default",
	} {
		if got := mode.Engine(); got != want {
			t.Errorf("%s is %s to an engine, want %s", mode, got, want)
		}
	}
}
