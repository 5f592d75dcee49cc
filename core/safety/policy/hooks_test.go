package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
)

const goodRoutine = "---\nid: \"1a2b3c4d\"\ncron: \"0 9 * * *\"\ndescription: Water\n---\nWater the plants.\n"

const goodReminder = "---\nid: \"1a2b3c4d\"\nrun-at: \"2026-11-23T09:40:00-08:00\"\ndescription: Tea\n---\nMake tea.\n"

func writing(path, text string) agent.ToolUse {
	return toolUse("Write", fields{"file_path": path, "content": text})
}

func TestABrokenTaskFileIsRefusedBeforeItIsWritten(t *testing.T) {
	g, root := newGuard(t)
	write(t, filepath.Join(root, "routines", "good.md"), goodRoutine)
	write(t, filepath.Join(root, "reminders", "good.md"), goodReminder)
	link(t, "../routines/good.md", filepath.Join(root, "notes", "link.md"))
	edit := func(path, from, to string) agent.ToolUse {
		return toolUse("Edit", fields{"file_path": path, "old_string": from, "new_string": to})
	}
	for _, tt := range []struct {
		name string
		use  agent.ToolUse
		deny []string // parts of the reason; nil means no objection
	}{
		{"a good routine", writing("routines/new.md", goodRoutine), nil},
		{"a good reminder", writing("reminders/new.md", goodReminder), nil},
		{"no front matter", writing("routines/new.md", "Water the plants."), []string{"no front matter"}},
		{"open front matter", writing("routines/new.md", "---\nid: a\nWater"), []string{"line 1: ", "not closed"}},
		{"no id and no cron", writing("routines/new.md", "---\ndescription: x\n---\nGo\n"), []string{"no id", " | ", "no cron"}},
		{"a short cron", writing("routines/new.md", strings.Replace(goodRoutine, "0 9 * * *", "0 9 * *", 1)), []string{"line 3: "}},
		{"a routine among reminders", writing("reminders/new.md", goodRoutine), []string{"run-at"}},
		{"a malformed line", writing("routines/new.md", "---\nid: a\nwhat\n---\nGo"), []string{"line 3: "}},
		{"a warning only", writing("routines/new.md", strings.Replace(goodRoutine, "description", "remark", 1)), nil},
		{"by its absolute path", writing(filepath.Join(root, "routines", "x.md"), "x"), []string{"no front matter"}},
		{"by a detour", writing("notes/../routines/x.md", "x"), []string{"no front matter"}},
		{"by a link", writing("notes/link.md", "x"), []string{"no front matter"}},
		{"an edit that keeps it valid", edit("routines/good.md", "0 9", "30 9"), nil},
		{"an edit that breaks it", edit("routines/good.md", "0 9 * * *", "soon"), []string{"line 3: ", "this has one"}},
		{"an edit of a reminder", edit("reminders/good.md", "2026-11-23T09:40:00-08:00", "tomorrow"), []string{"line 3: ", "tomorrow"}},
		{"text that is not there", edit("routines/good.md", "cron: daily", "cron: never"), []string{"cannot be predicted"}},
		{"text that is there twice", edit("routines/good.md", "---", ""), nil},
		{
			"all of a text", toolUse("Edit", fields{"file_path": "routines/good.md", "old_string": "---", "new_string": "", "replace_all": true}),
			[]string{"no front matter"},
		},
		{"an edit that makes a file", edit("routines/made.md", "", "x"), []string{"no front matter"}},
		{"an edit of no file", edit("routines/none.md", "x", "y"), []string{"cannot be predicted"}},
		{"edits one after the other", toolUse("MultiEdit", fields{"file_path": "routines/good.md", "edits": []fields{
			{"old_string": "0 9", "new_string": "soon"}, {"old_string": "soon * * *", "new_string": "bad"},
		}}), []string{"line 3: ", "this has one"}},
		{"edits that end well", toolUse("MultiEdit", fields{"file_path": "routines/good.md", "edits": []fields{
			{"old_string": "0 9", "new_string": "soon"}, {"old_string": "soon", "new_string": "5 5"},
		}}), nil},
		{"a write without a text", file("Write", "routines/x.md"), []string{"cannot be predicted"}},
		{"any other note", writing("notes/x.md", "x"), nil},
		{"a folder below", writing("routines/old/x.md", "x"), nil},
		{"a file that is no markdown", writing("routines/x.txt", "x"), nil},
		{"a hidden file", writing("routines/.x.md", "x"), nil},
		{"reading", file("Read", "routines/x.md"), nil},
		{"another directory's routines", writing("/srv/routines/x.md", "x"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := g.Session(Scope{Rules: everything}).PreTool(t.Context(), tt.use)
			if d.Allow != (tt.deny == nil) {
				t.Fatalf("%+v", d)
			}
			if !d.Allow && !strings.HasPrefix(d.Reason, "routine-validator: ") && !strings.Contains(d.Reason, "cannot be predicted") {
				t.Errorf("reason %q", d.Reason)
			}
			for _, part := range tt.deny {
				if !strings.Contains(d.Reason, part) {
					t.Errorf("%q is not in %q", part, d.Reason)
				}
			}
		})
	}
}

func TestMarkdownThatWasWrittenIsCommitted(t *testing.T) {
	base := t.TempDir()
	g, root := guardAt(t, filepath.Join(base, "data"))
	for _, name := range []string{"notes/a.md", "notes/a.txt", "state/x.md", "routines/r.md"} {
		write(t, filepath.Join(root, name), "x")
	}
	testkit.Must(t, os.Mkdir(filepath.Join(root, "notes", "folder.md"), 0o700))
	write(t, filepath.Join(base, "out.md"), "x")
	link(t, "../routines/r.md", filepath.Join(root, "notes", "link.md"))
	link(t, filepath.Join(base, "out.md"), filepath.Join(root, "notes", "out.md"))
	link(t, root, filepath.Join(base, "alias"))
	for _, tt := range []struct {
		use  agent.ToolUse
		want []string
	}{
		{file("Write", "notes/a.md"), []string{"notes/a.md", "auto: write notes/a.md"}},
		{file("Edit", filepath.Join(root, "notes", "a.md")), []string{"notes/a.md", "auto: edit notes/a.md"}},
		{file("Write", filepath.Join(base, "alias", "notes", "a.md")), []string{"notes/a.md", "auto: write notes/a.md"}},
		{file("Write", "notes/link.md"), []string{"routines/r.md", "auto: write routines/r.md"}},
		{file("Write", "notes/a.txt"), nil},
		{file("Write", "notes/out.md"), nil},
		{file("Write", filepath.Join(base, "out.md")), nil},
		{file("Write", "notes/none.md"), nil},
		{file("Write", "notes/folder.md"), nil},
		{file("Write", "state/x.md"), nil},
		{file("Read", "notes/a.md"), nil},
		{toolUse("Write", nil), nil},
		{bash("echo x > notes/a.md"), nil},
	} {
		var got []string
		hooks := g.Session(Scope{}).Hooks(func(rel, msg string) { got = append(got, rel, msg) })
		hooks.PostTool(t.Context(), tt.use)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s: %s", tt.use.Name, tt.use.Input, diff)
		}
	}
	g.Session(Scope{}).Hooks(func(string, string) { panic("no repository") }).PostTool(t.Context(), file("Write", "notes/a.md"))
	if h := g.Session(Scope{}).Hooks(nil); h.PostTool == nil || h.PreTool == nil {
		t.Error("without commits a hook is missing")
	}
}

const skillHead = "---\nname: day\ndescription: The day.\n---\n"

func TestOnlyTheUserPutsCommandsIntoSkills(t *testing.T) {
	g, root := newGuard(t)
	write(t, filepath.Join(root, "skills", "day", "SKILL.md"), skillHead+"Today is !`date`.\n")
	link(t, "../skills/day/SKILL.md", filepath.Join(root, "notes", "day.md"))
	edit := func(path, from, to string) agent.ToolUse {
		return toolUse("Edit", fields{"file_path": path, "old_string": from, "new_string": to})
	}
	for _, tt := range []struct {
		name string
		use  agent.ToolUse
		deny bool
	}{
		{"plain words", writing("skills/new/SKILL.md", skillHead+"Sort the mail."), false},
		{"the command that is there", writing("skills/day/SKILL.md", skillHead+"It is !`date` today."), false},
		{"a new command", writing("skills/new/SKILL.md", skillHead+"Run !`rm -rf x`."), true},
		{"one more command", writing("skills/day/SKILL.md", skillHead+"!`date` !`id`"), true},
		{"another spelling", writing("notes/../Skills/day/SKILL.md", skillHead+"!`id`"), true},
		{"an edit that brings one", edit("skills/day/SKILL.md", "Today", "!`id` today"), true},
		{"an edit that joins one", edit("skills/day/SKILL.md", "`date`", "`id`"), true},
		{"an edit of words", edit("skills/day/SKILL.md", "Today", "This day"), false},
		{"through a link", writing("notes/day.md", skillHead+"!`id`"), true},
		{"a head that is none, in another file of the skill", writing("skills/day/more.md", "---\nname: [\n---\nMore."), false},
		{"a head that is none", writing("skills/new/SKILL.md", "---\nname: [\n---\nMore."), true},
		{"elsewhere it is only text", writing("notes/x.md", "!`id`"), false},
	} {
		if d := g.Session(Scope{Rules: everything}).PreTool(t.Context(), tt.use); d.Allow == tt.deny {
			t.Errorf("%s: allowed %v, %s", tt.name, d.Allow, d.Reason)
		}
	}
}
