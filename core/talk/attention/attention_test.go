package attention

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/storage/config"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/routines/schedule"
)

func TestAMuteAndQuietHoursThatMeetAreOneQuietTime(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	dir := storetest.Prepared(t)
	storetest.Put(t, dir, "state/settings.json", `{"quiet_hours": "22:00-07:30"}`)
	storetest.Put(t, dir, "state/mute.json", `{"until": "2026-11-23T23:00:00+01:00"}`)
	r, _, err := config.LoadRuntime(dir)
	if err != nil {
		t.Fatal(err)
	}
	a := Attention{Zone: zone, Config: func() *config.Runtime { return &r }, Mute: schedule.NewMute(dir, slog.New(slog.DiscardHandler))}
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 11, day, hour, minute, 0, 0, zone) }
	for _, c := range []struct{ now, want time.Time }{
		{at(23, 20, 0), at(24, 7, 30)},
		{at(23, 22, 30), at(24, 7, 30)},
		{at(23, 23, 0), at(24, 7, 30)},
		{at(22, 23, 0), at(24, 7, 30)},
		{at(24, 7, 30), time.Time{}},
	} {
		if got := a.QuietUntil(c.now.UTC()); !got.Equal(c.want) {
			t.Errorf("at %v: quiet until %v, want %v", c.now, got, c.want)
		}
	}
}

// L6: two broken routines made eight sounds in two minutes, in quiet hours too.
func TestWhatTheProgramSaysByItselfRingsOnceForACause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // from midnight UTC
		dir := storetest.Prepared(t)
		storetest.Put(t, dir, "state/settings.json", `{"quiet_hours": "22:00-07:30"}`)
		r, _, err := config.LoadRuntime(dir)
		if err != nil {
			t.Fatal(err)
		}
		mute := schedule.NewMute(dir, slog.New(slog.DiscardHandler))
		a := Attention{Zone: time.UTC, Config: func() *config.Runtime { return &r }, Mute: mute}
		rings := func(cause string, want bool) {
			t.Helper()
			if got := a.Rings(post.KindNews, cause); got != want {
				t.Errorf("at %s, %s rings: %v, want %v", time.Now().UTC().Format("15:04"), cause, got, want)
			}
		}
		rings("feed", false) // at night
		time.Sleep(8 * time.Hour)
		rings("feed", true)
		rings("feed", false)
		rings("mail", true)
		if _, err := mute.Set(time.Now().Add(time.Hour), time.Now()); err != nil {
			t.Fatal(err)
		}
		rings("calendar", false)
		time.Sleep(time.Hour)
		rings("calendar", true)
		time.Sleep(ringsAgain - time.Hour)
		rings("mail", true)
	})
}
