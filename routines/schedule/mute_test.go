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
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.FixedZone("bot", 3600))
	until := now.Add(time.Hour)
	m := open()
	set := func(to, before time.Time, want map[time.Time]time.Time) {
		t.Helper()
		if got, err := m.Set(to, now); err != nil || got != before {
			t.Errorf("muted before until %v, %v; want %v", got, err, before)
		}
		for name, m := range map[string]*Mute{"at once": m, "after a restart": open()} {
			for at, until := range want {
				if got := m.At(at); got != until { // the zone matters too
					t.Errorf("%s, at %v: muted until %v, want %v", name, at, got, until)
				}
			}
		}
	}
	set(until.UTC(), time.Time{}, map[time.Time]time.Time{now: until, until.Add(-1): until, until: {}, until.Add(1): {}})
	set(time.Time{}, until, map[time.Time]time.Time{now: {}})
	if log.Len() > 0 {
		t.Errorf("logged: %s", &log)
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
