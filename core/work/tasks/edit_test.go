package tasks

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
)

// An editor may have saved the file a moment ago. The user sees its current state, not
// the one that the bot read last.
func TestAnEditOfAFileThatWasJustSavedShowsIt(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		id := d.routine()
		before := d.File(id)
		data, err := d.dir.Read(before.Path)
		testkit.Must(t, err)
		testkit.Must(t, os.WriteFile(d.dir.Path(before.Path), []byte(strings.Replace(string(data), before.Cron, "15 6 * * *", 1)), 0o600))
		var changed *command.ChangedError
		_, err = d.try(command.EditTask{ID: id, Version: before.Digest, Edit: set("cron", "0 8 * * *")})
		if !errors.As(err, &changed) || changed.Now.Cron != "15 6 * * *" {
			t.Errorf("%+v", err)
		}
	})
}

// Words become the keys that say them. Those that do not change keep how the user wrote them, and those that
// nothing says any more go (issue 43).
func TestAScheduleInWordsWritesTheKeysThatChange(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		id := d.add(command.AddTask{Cron: "every other tuesday at 9 from 4 january 2000 until march, except 24 dec to 2 jan", Message: "Put out the bins"})
		file := d.File(id)
		if file.Cron != "0 9 * * 2, every 2 weeks, from 4 January 2000 until 31 March 2000, except 24 December to 2 January" {
			t.Fatalf("the file says %q", file.Cron)
		}
		data, err := d.dir.Read(file.Path)
		testkit.Must(t, err)
		mine := strings.Replace(string(data), "skip: \"24 Dec to 2 Jan\"", "skip: # Christmas\n  - 24 December to 2 Jan", 1)
		testkit.Must(t, os.WriteFile(d.dir.Path(file.Path), []byte(mine), 0o600))
		d.o.Schedule.Refresh(file.Path)
		body := d.describe(id)
		for _, want := range []string{"at 9:00, every 2 weeks on Tuesday, from 4 January 2000 until 31 March 2000", "Tue 2000-01-11 09:00, it is every 2 weeks"} {
			if !strings.Contains(body, want) {
				t.Errorf("it is described as\n%s", body)
			}
		}
		out := d.do(command.EditTask{ID: id, Version: d.File(id).Digest, Edit: set("cron", "tuesdays at 10 from 4 january 2000, 4 times, except 24 dec to 2 jan")})
		data, err = d.dir.Read(file.Path)
		testkit.Must(t, err)
		want := strings.NewReplacer("0 9 * * 2", "0 10 * * 2", "every: \"2 weeks\"\n", "", "until: \"2000-03-31\"\n", "").Replace(mine)
		if got := strings.Replace(string(data), "times: 4\n", "", 1); got != want || got == string(data) {
			t.Errorf("the file is\n%s\nwant, with the times,\n%s", data, want)
		}
		d.do(out.Undo)
		if data, err = d.dir.Read(file.Path); err != nil || string(data) != mine {
			t.Errorf("after undo the file is\n%s", data)
		}
		never := command.EditTask{ID: id, Version: d.File(id).Digest, Edit: set("cron", "0 9 * * 1, on the last friday")}
		if _, err := d.try(never); err == nil || !strings.Contains(err.Error(), "never falls") {
			t.Error(err)
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
