package command

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"ollimbot/routines/leeway"
)

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
