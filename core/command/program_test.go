package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/routines/leeway"
)

// prints writes a program that prints a line as its version.
func prints(t *testing.T, path, line string) {
	t.Helper()
	testkit.Program(t, path, "#!/bin/sh\n[ \"$1\" = version ] && echo '"+line+"'\n")
}

func TestAReplacedProgramOffersTheRestart(t *testing.T) {
	testkit.Alone(t)
	path := filepath.Join(t.TempDir(), "ollim-bot")
	prints(t, path, "ollim-bot 0.1.0")
	h := Host{Program: ThisProgram(path, "ollim-bot 0.1.0 abc", "")}
	says := func(line, want string) {
		t.Helper()
		out, err := Slash{Line: line}.CarryOut(t.Context(), h)
		text := out.Message
		if err != nil {
			text = err.Error()
		}
		if text != want {
			t.Errorf("%s says %q, want %q", line, text, want)
		}
	}
	same := "ollim-bot 0.1.0 abc runs, installed as " + path + ".\n" + textNewBuild
	says("/update", same)
	says("/upgrade check", TextNoCheck+"\n"+same)
	says("/update rollback", TextNoRollback)
	says("/update now", `/update takes nothing, not "now"`)
	prints(t, path+".old", "ollim-bot 0.0.9")
	left := "\n" + path + ".old is left from an earlier upgrade and no longer used: delete it."
	says("/update", same+left)

	prints(t, path+".new", "ollim-bot 0.2.0 def")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	says("/update", "ollim-bot 0.1.0 abc runs, but "+path+" is now: ollim-bot 0.2.0 def.\nTo switch to it, restart the bot."+left)
	broken := path + " was replaced and does not run here (%s): install it again before you restart the bot"
	prints(t, path, "something else")
	says("/update", fmt.Sprintf(broken, "it is another program"))
	testkit.Program(t, path, "#!/bin/sh\necho no such machine >&2; exit 3\n")
	says("/update", fmt.Sprintf(broken, "exit status 3 no such machine"))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	says("/update", "find the file of this program: stat "+path+": no such file or directory")
}

func TestEachInstallationGetsANewerProgramInItsOwnWay(t *testing.T) {
	for _, c := range []struct {
		program Program
		want    string
	}{
		{Program{Path: "/usr/bin/ollim-bot", BuiltBy: "goreleaser"}, textNewPackage},
		{Program{Path: "/usr/bin/ollim-bot"}, textNewPackage}, // a package of an earlier version
		{Program{Path: "/usr/local/bin/ollim-bot", BuiltBy: "goreleaser"}, textNewArchive},
		{Program{Path: "/home/ada/go/bin/ollim-bot"}, textNewBuild},
		{Program{Path: "/home/ada/ollim/ollim-bot"}, textNewBuild},
	} {
		if got := c.program.newer(); got != c.want {
			t.Errorf("%s: %q, want %q", c.program.Path, got, c.want)
		}
	}
}

// The ways back of the phone survive a restart: what is saved is read as the same command, with all of its fields.
func TestAnInverseIsReadAsItWasSaved(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	made := AddTask{
		Cron: "0 9 * * *", At: at, Description: "Tea", Message: "Make tea.", Foreground: true, Silent: true, UntilDone: true, Model: "haiku",
		Isolated: true, Critical: true, Window: leeway.Window{From: 540, To: 600},
	}
	all := []Value{
		made,
		AllowTask{ID: "a", Version: "v", Withdraw: true},
		AnswerProposal{ID: "p", Button: "yes", Value: "friday"},
		DeleteTask{ID: "a"},
		LiftCaps{Undo: true},
		MuteUntil{Until: at},
		RemoveTask{ID: "a", Version: "v", Made: made},
		ReopenProposal{ID: "p", Button: "b", Value: "v"},
		RestoreBudget{Capacity: 5, RefillMinutes: 90, Available: 1.5},
		RestoreTask{ID: "a"},
		RevertTask{ID: "a", Version: "v", File: []byte("x\xff")},
		SetConfig{Key: "k", Value: "v", Sure: true},
		Snooze{ID: "a", Until: at},
	}
	for _, v := range all {
		s, ok := Save(v)
		data, err := json.Marshal(s)
		if !ok || err != nil {
			t.Fatalf("%T: %v, %v", v, ok, err)
		}
		var again Saved
		if err := json.Unmarshal(data, &again); err != nil {
			t.Fatal(err)
		}
		if got, ok := again.Load(); !ok || !reflect.DeepEqual(got, v) {
			t.Errorf("%+v became %+v, %v", v, got, ok)
		}
	}
	if len(all) != len(savable) {
		t.Errorf("%d of %d are tried", len(all), len(savable))
	}
	for _, v := range []Value{nil, Interrupt{}} {
		if _, ok := Save(v); ok {
			t.Errorf("%T was saved", v)
		}
	}
	for _, s := range []Saved{{}, {Type: "Interrupt"}, {Type: "Snooze", Value: []byte("{")}} {
		if v, ok := s.Load(); ok {
			t.Errorf("%+v became %+v", s, v)
		}
	}
}
