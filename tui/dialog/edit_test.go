package dialog

import (
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
)

func teaFile() command.TaskFile {
	return command.TaskFile{
		Task: routines.Task{
			Kind: routines.KindRoutine, ID: "aaaa0001", Path: "routines/tea.md", Description: "Tea", Body: "Make tea.",
			Background: true, Thinking: true, AllowPing: true, Mode: routines.OnPing, Digest: "v1",
		},
		Cron: "0 9 * * *",
	}
}

func editContext() pane.Context {
	at := time.Date(2026, 3, 10, 14, 2, 0, 0, time.UTC)
	return pane.Context{Theme: theme.New(theme.Options{Plain: true}), Snap: &core.Snapshot{At: at, Zone: time.UTC}}
}

// fill writes a text over a field of a form.
func fill(e pane.Dialog, label, text string) {
	for _, l := range e.(*editing).lines {
		if f := l.field; f.Label == label {
			if f.input.Set(text); f.area != nil {
				f.area.Clear()
				f.area.Insert(text)
			}
		}
	}
}

var enter = tea.KeyPressMsg{Code: tea.KeyEnter}

func TestOnlyChangedFieldsAreWritten(t *testing.T) {
	c, e := editContext(), editTask(teaFile())
	if a := e.Update(c, enter); a.Send == nil || len(a.Send.(command.EditTask).Edit.Set) > 0 {
		t.Errorf("nothing was changed: %#v", a.Send)
	}
	e = editTask(teaFile())
	fill(e, "When", "every weekday at 10")
	fill(e, "Title", "")
	fill(e, "May use", "Bash(git log, x); Read(**.md)")
	fill(e, "Prompt", "Make coffee.")
	body := "Make coffee."
	want := command.EditTask{ID: "aaaa0001", Version: "v1", Edit: routines.Edit{
		Set:  []command.Field{{Key: "cron", Value: "0 10 * * 1-5"}, {Key: "description"}, {Key: "allowed-tools", Value: []string{"Bash(git log, x)", "Read(**.md)"}}},
		Body: &body,
	}}
	if d := cmp.Diff(command.Value(want), e.Update(c, enter).Send); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// What a reminder says before, and how late a routine may run, are read as people say them and shown as they are read.
func TestWhatIsSaidBeforeAndHowLateAreFields(t *testing.T) {
	c, file := editContext(), teaFile()
	do, note, ok := EditField(c, file, "late", "2 hours")
	if set := do.(command.EditTask).Edit.Set; !ok || note != "at most 2 hours late" || set[0] != (command.Field{Key: "late", Value: "2h"}) {
		t.Errorf("%+v, %q", do, note)
	}
	file.Late = 150 * time.Minute
	if do, note, ok = EditField(c, file, "late", "at most 2 hours 30 minutes late"); ok || !strings.Contains(note, "already") {
		t.Errorf("%+v, %q", do, note)
	}
	if _, note, ok = EditField(c, file, "late", "40 days"); ok || !strings.Contains(note, "31 days") {
		t.Errorf("%q", note)
	}
	file.Kind = routines.KindReminder
	do, note, ok = EditField(c, file, "ahead", "1 hour: Leave now; a day before")
	if set := do.(command.EditTask).Edit.Set; !ok || note != "1 day and 1 hour before" || cmp.Diff(set[0].Value, any([]string{"1 day", "1 hour: Leave now"})) != "" {
		t.Errorf("%+v, %q", do, note)
	}
	if _, note, ok = EditField(c, file, "ahead", "soon"); ok || !strings.Contains(note, "before") {
		t.Errorf("%q", note)
	}
}

// The form shows what a person needs; one row opens the rest, each with its explanation.
func TestTheOtherFieldsAreBehindOneRow(t *testing.T) {
	for name, f := range map[string]*Form{"new": NewTask(), "edit": editTask(teaFile()).Form} {
		c := editContext()
		look := func() string { return ansi.Strip(strings.Join(f.Draw(c, 80, 20), "\n")) }
		if screen := look(); len(f.Fields) != 6 || strings.Contains(screen, "Model  ") || !strings.Contains(screen, "More options…") {
			t.Errorf("%s: %d fields:\n%s", name, len(f.Fields), screen)
		}
		for f.Fields[f.at].more == nil {
			f.Update(c, tea.KeyPressMsg{Code: tea.KeyTab})
		}
		if a := f.Update(c, enter); a.Send != nil || a.Close || f.Fields[f.at].Label != "Runs" {
			t.Errorf("%s: enter on the row: %+v, at %s", name, a, f.Fields[f.at].Label)
		}
		for i, field := range f.Fields {
			f.at = i
			if note, _ := field.check(c, false); note == "" || !strings.Contains(look(), "▸ "+field.Label) {
				t.Errorf("%s: %s is not explained:\n%s", name, field.Label, look())
			}
		}
	}
}

// The same field has the same name in both forms, and docs/routines.md names it.
func TestTheDocsNameEveryFieldOfTheForms(t *testing.T) {
	page, err := os.ReadFile("../../docs/routines.md")
	if err != nil {
		t.Fatal(err)
	}
	reminder := teaFile()
	reminder.Kind = routines.KindReminder
	known := map[string]bool{}
	for _, file := range []command.TaskFile{teaFile(), reminder} {
		for _, l := range editTask(file).lines {
			known[l.field.Label] = true
			if field := l.field.Label + " (`" + l.key + "`)"; l.key != "" && !strings.Contains(strings.Join(strings.Fields(string(page)), " "), field) {
				t.Errorf("docs/routines.md lacks %s", field)
			}
		}
	}
	for _, f := range NewTask().Fields {
		for _, f := range append(f.more, f) {
			if f.more == nil && !known[f.Label] && f.Label != fieldKind {
				t.Errorf("%s is only in the form of a new task", f.Label)
			}
		}
	}
}

func TestANewTaskGetsItsOptions(t *testing.T) {
	c, f := editContext(), newTask("daily 8:15", "Tea", "Make tea.")
	f.at = len(f.Fields) - 1
	f.open()
	for _, field := range f.Fields {
		if field.Label == "Model" || field.Label == "Isolated" || field.Label == "Above limits" {
			field.turn()
		}
	}
	want := command.AddTask{Cron: "15 8 * * *", Description: "Tea", Message: "Make tea.", Model: "opus", Isolated: true, Critical: true}
	if got := f.Update(c, enter).Send; got != want {
		t.Errorf("%+v", got)
	}
}

// Plain words that are not understood get plain words back, never a column.
func TestAScheduleThatIsNotUnderstoodIsAnsweredInPlainWords(t *testing.T) {
	for text, want := range map[string]string{
		"evry day":   `I do not understand "evry"; did you mean every?`,
		"9 sharp":    "I do not understand",
		"0 9 * *":    "a cron expression has five fields",
		"61 * * * *": "minute 61 does not exist",
	} {
		got, ok := CheckCron(editContext(), text)
		if ok || !strings.Contains(got, want) || strings.Contains(got, "column") {
			t.Errorf("%q: %q", text, got)
		}
	}
	for _, text := range []string{"every weekday at 9", "daily 8:15"} { // the cure works
		if got, ok := CheckCron(editContext(), text); !ok {
			t.Errorf("%q: %s", text, got)
		}
	}
	for _, text := range []string{"18:30", "tomorrow 9:00", "in 2 hours", "2026-12-24 18:00"} {
		if got, ok := checkMoment(editContext(), text); !ok {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestAWrongFieldIsRefusedBesideIt(t *testing.T) {
	c, e := editContext(), editTask(teaFile())
	fill(e, "When", "61 * * * *")
	if a := e.Update(c, enter); a.Send != nil {
		t.Errorf("it is sent: %#v", a.Send)
	}
	if screen := ansi.Strip(strings.Join(e.Draw(c, 80, 24), "\n")); !strings.Contains(screen, "minute 61 does not exist") {
		t.Errorf("it does not say why:\n%s", screen)
	}
}

// A file that was changed under the form shows both, and asks: enter writes over it.
func TestAFileThatWasChangedUnderTheFormShowsBothAndAsks(t *testing.T) {
	c, e := editContext(), editTask(teaFile())
	fill(e, "When", "0 10 * * *")
	e.Update(c, enter)
	other := teaFile()
	other.Cron, other.Digest = "0 8 * * *", "v2"
	if a := e.Update(c, pane.Done{Err: &command.ChangedError{Now: other}}); a.Close {
		t.Fatal("the form is gone, and what was written")
	}
	screen := strings.Join(strings.Fields(ansi.Strip(strings.Join(e.Draw(c, 80, 40), " "))), " ")
	for _, want := range []string{"routines/tea.md has changed on disk since you last saw it", `When is "0 8 * * *" in the file and "0 10 * * *" here`, "Enter overwrites it with your changes"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is missing in\n%s", want, screen)
		}
	}
	again, ok := e.Update(c, enter).Send.(command.EditTask)
	if !ok || again.Version != "v2" || len(again.Edit.Set) != 1 {
		t.Errorf("enter sends %#v", again)
	}
}

func TestAPromptOfSeveralLinesIsWrittenInTheForm(t *testing.T) {
	file := teaFile()
	file.Body = "Make tea.\nGreen."
	c, e := editContext(), editTask(file)
	e.Update(c, tea.KeyPressMsg{Code: tea.KeyTab})
	e.Update(c, tea.KeyPressMsg{Code: tea.KeyTab})
	screen := ansi.Strip(strings.Join(e.Draw(c, 80, 40), "\n"))
	if !strings.Contains(screen, "▸ Prompt") || !strings.Contains(screen, "Green.") {
		t.Errorf("the prompt:\n%s", screen)
	}
	e.Update(c, tea.KeyPressMsg{Code: tea.KeyEnter, Mod: tea.ModAlt})
	e.Update(c, tea.PasteMsg{Content: "With milk."})
	e.Update(c, tea.KeyPressMsg{Code: tea.KeyUp}) // to the line above, not to the field above
	e.Update(c, tea.PasteMsg{Content: " Now."})
	body := e.Update(c, enter).Send.(command.EditTask).Edit.Body
	if body == nil || *body != "Make tea.\nGreen. Now.\nWith milk." {
		t.Errorf("the prompt is written as %v", body)
	}
}

// What a field does not bear as it is stays as it is.
func TestAPromptThatIsTooLongIsLeftToTheEditor(t *testing.T) {
	file := teaFile()
	file.Body = strings.Repeat("Make tea.\n", 4000) + "Green."
	c, e := editContext(), editTask(file)
	if screen := ansi.Strip(strings.Join(e.Draw(c, 80, 40), "\n")); !strings.Contains(screen, "4001 lines: edit them in the file") {
		t.Errorf("the prompt:\n%s", screen)
	}
	if a := e.Update(c, enter); a.Send.(command.EditTask).Edit.Body != nil {
		t.Error("the prompt is written")
	}
}

func TestAReminderOfOldIsKeptUntilItIsDone(t *testing.T) {
	file := teaFile()
	file.Kind, file.Cron, file.RunAt = routines.KindReminder, "", editContext().Snap.At.Add(time.Hour)
	c, e := editContext(), editTask(file)
	for _, f := range e.Fields {
		if f.Label == "Until" {
			f.turn()
		}
	}
	want := []command.Field{{Key: "until", Value: "done"}}
	if d := cmp.Diff(want, e.Update(c, enter).Send.(command.EditTask).Edit.Set); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
