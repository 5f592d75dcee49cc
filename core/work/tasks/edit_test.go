package tasks

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
)

// An undo is a change like any other: it is reported and can be undone too.
func TestAnEditItsUndoAndItsRedoAreTold(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		id := d.routine()
		before := d.File(id)
		var change command.Value = command.EditTask{ID: id, Version: before.Digest, Edit: set("cron", "30 7 * * *")}
		for _, cron := range []string{"30 7 * * *", before.Cron, "30 7 * * *"} {
			out := d.do(change)
			if out.Message != fmt.Sprintf(textEdited, before.Title()) || out.Decision != (audit.Entry{Action: audit.TaskChanged, Subject: id}) || d.File(id).Cron != cron {
				t.Errorf("to %s: %+v", cron, out)
			}
			change = out.Undo
		}
	})
}

// An editor may have saved the file a moment ago. The user sees its current state, not
// the one that the bot read last.
func TestAnEditOfAFileThatWasJustSavedShowsIt(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		id := d.routine()
		before := d.File(id)
		data, err := d.dir.Read(before.Path)
		must(t, err)
		must(t, os.WriteFile(d.dir.Path(before.Path), []byte(strings.Replace(string(data), before.Cron, "15 6 * * *", 1)), 0o600))
		var changed *command.ChangedError
		_, err = d.try(command.EditTask{ID: id, Version: before.Digest, Edit: set("cron", "0 8 * * *")})
		if !errors.As(err, &changed) || changed.Now.Cron != "15 6 * * *" {
			t.Errorf("%+v", err)
		}
	})
}

func TestAForegroundRoutineIsDescribedWithItsTimes(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		id := d.add(command.AddTask{Cron: "0 9 * * *", Message: "Plan the day", Foreground: true})
		d.do(command.EditTask{ID: id, Version: d.File(id).Digest, Edit: set("missed", "run")})
		if f := d.File(id); !f.RunMissed || f.Background {
			t.Errorf("the file says %+v", f)
		}
		body := d.describe(id)
		if !strings.Contains(body, "(0 9 * * *)") || strings.Contains(body, "tells ") {
			t.Errorf("it is described as\n%s", body)
		}
		long := strings.Repeat("x", 61)
		if _, err := d.Describe(long); err == nil || err.Error() != fmt.Sprintf(command.TextNoTask, long[:59]+"…") {
			t.Errorf("a task that is not there: %v", err)
		}
	})
}
