package schedule

import (
	"bytes"
	"log/slog"
	"os"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

func TestAMuteLastsToItsTimeOverARestartAndCanBeUndone(t *testing.T) {
	d := storetest.Dir(t)
	var log bytes.Buffer
	open := func() *Mute { return NewMute(d, slog.New(slog.NewTextHandler(&log, nil))) }
	zone := time.FixedZone("bot", 3600)
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, zone)
	until := now.Add(time.Hour)
	m := open()
	if before, err := m.Set(until.UTC(), now); err != nil || !before.IsZero() {
		t.Errorf("muted before: %v, %v", before, err)
	}
	for name, m := range map[string]*Mute{"at once": m, "after a restart": open()} {
		for at, want := range map[time.Time]time.Time{now: until, until.Add(-1): until, until: {}, until.Add(1): {}} {
			if got := m.At(at); got != want { // the zone matters too
				t.Errorf("%s, at %v: muted until %v, want %v", name, at, got, want)
			}
		}
	}
	if before, err := m.Set(time.Time{}, now); err != nil || before != until {
		t.Errorf("muted before it was undone: %v, %v", before, err)
	}
	for name, m := range map[string]*Mute{"at once": m, "after a restart": open()} {
		if got := m.At(now); !got.IsZero() {
			t.Errorf("undone, %s: muted until %v", name, got)
		}
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", &log)
	}
}

func TestTheEndOfAMuteIsInTheZoneThatAsks(t *testing.T) {
	d, zone := storetest.Dir(t), time.FixedZone("bot", 3600)
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, zone)
	m := NewMute(d, slog.New(slog.DiscardHandler))
	_, err := m.Set(now.Add(time.Hour).UTC(), now)
	testkit.Must(t, err)
	for name, m := range map[string]*Mute{"at once": m, "after a restart": NewMute(d, slog.New(slog.DiscardHandler))} {
		if got := m.At(now).Format("15:04"); got != "13:00" {
			t.Errorf("%s: until %s, want 13:00", name, got)
		}
	}
}

func TestAnUnreadableMuteMutesNothingAndIsKeptUntilTheNext(t *testing.T) {
	d := storetest.Dir(t)
	storetest.Put(t, d, muteFile, "garbage")
	var log bytes.Buffer
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	m := NewMute(d, slog.New(slog.NewTextHandler(&log, nil)))
	if got := m.At(now); !got.IsZero() || storetest.Text(t, d, muteFile) != "garbage" {
		t.Errorf("muted until %v, the file is %q", got, storetest.Text(t, d, muteFile))
	}
	if !bytes.Contains(log.Bytes(), []byte("pings are not muted")) {
		t.Errorf("logged: %q", &log)
	}
	_, err := m.Set(now.Add(time.Hour), now)
	testkit.Must(t, err)
	names, err := os.ReadDir(d.Path("state"))
	if err != nil || len(names) != 2 {
		t.Errorf("the garbage was not kept: %v, %v", names, err)
	}
}

func TestAMuteThatCannotBeWrittenIsNotInForce(t *testing.T) {
	d := storetest.Dir(t)
	storetest.Put(t, d, "state", "a file where the folder should be")
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	m := NewMute(d, slog.New(slog.DiscardHandler))
	if _, err := m.Set(now.Add(time.Hour), now); err == nil {
		t.Error("it says that pings are muted")
	}
	if got := m.At(now); !got.IsZero() {
		t.Errorf("muted until %v", got)
	}
}
