package dialog

import (
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
	for _, f := range e.(*editing).Fields {
		if f.Label == label {
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
	if a := e.Take(c, enter); a.Send == nil || len(a.Send.(command.EditTask).Edit.Set) > 0 {
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
	if d := cmp.Diff(command.Value(want), e.Take(c, enter).Send); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestAWrongFieldIsRefusedBesideIt(t *testing.T) {
	c, e := editContext(), editTask(teaFile())
	fill(e, "When", "61 * * * *")
	if a := e.Take(c, enter); a.Send != nil {
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
	e.Take(c, enter)
	other := teaFile()
	other.Cron, other.Digest = "0 8 * * *", "v2"
	if a := e.Take(c, pane.Done{Err: &command.ChangedError{Now: other}}); a.Close {
		t.Fatal("the form is gone, and what was written")
	}
	screen := strings.Join(strings.Fields(ansi.Strip(strings.Join(e.Draw(c, 80, 40), " "))), " ")
	for _, want := range []string{"routines/tea.md has changed on disk since you last saw it", `When is "0 8 * * *" in the file and "0 10 * * *" here`, "Enter overwrites it with your changes"} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is missing in\n%s", want, screen)
		}
	}
	again, ok := e.Take(c, enter).Send.(command.EditTask)
	if !ok || again.Version != "v2" || len(again.Edit.Set) != 1 {
		t.Errorf("enter sends %#v", again)
	}
}

func TestAPromptOfSeveralLinesIsWrittenInTheForm(t *testing.T) {
	file := teaFile()
	file.Body = "Make tea.\nGreen."
	c, e := editContext(), editTask(file)
	e.Take(c, tea.KeyPressMsg{Code: tea.KeyTab})
	e.Take(c, tea.KeyPressMsg{Code: tea.KeyTab})
	screen := ansi.Strip(strings.Join(e.Draw(c, 80, 40), "\n"))
	if !strings.Contains(screen, "▸ Prompt") || !strings.Contains(screen, "Green.") {
		t.Errorf("the prompt:\n%s", screen)
	}
	e.Take(c, tea.KeyPressMsg{Code: tea.KeyEnter, Mod: tea.ModAlt})
	e.Take(c, tea.PasteMsg{Content: "With milk."})
	e.Take(c, tea.KeyPressMsg{Code: tea.KeyUp}) // to the line above, not to the field above
	e.Take(c, tea.PasteMsg{Content: " Now."})
	body := e.Take(c, enter).Send.(command.EditTask).Edit.Body
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
	if a := e.Take(c, enter); a.Send.(command.EditTask).Edit.Body != nil {
		t.Error("the prompt is written")
	}
}

func TestAReminderOfOldIsKeptUntilItIsDone(t *testing.T) {
	file := teaFile()
	file.Kind, file.Cron, file.RunAt = routines.KindReminder, "", editContext().Snap.At.Add(time.Hour)
	c, e := editContext(), editTask(file)
	for _, f := range e.(*editing).Fields {
		if f.Label == "Until" {
			f.turn()
		}
	}
	want := []command.Field{{Key: "until", Value: "done"}}
	if d := cmp.Diff(want, e.Take(c, enter).Send.(command.EditTask).Edit.Set); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
