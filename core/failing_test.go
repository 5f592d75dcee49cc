package core

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core/talk/transcript"
)

// failCards returns the cards about failing routines.
func failCards(b *Bot) (list []transcript.Entry) {
	for _, e := range b.Snapshot().Chat {
		if e.Embed != nil && strings.HasSuffix(e.Embed.Title, "keeps failing") {
			list = append(list, e)
		}
	}
	return list
}

func TestARoutineThatFailsThreeTimesIsPausedAndItsCardOffersTheCure(t *testing.T) {
	running(t, func(h home) { h.write(tidyFile, everyMinute(tidyID, "", script_("fail no route to the desk"))) }, func(h home, b *Bot) {
		time.Sleep(10*time.Minute + 30*time.Second)
		all := failCards(b)
		if len(all) != 1 || !strings.Contains(all[0].Text+all[0].Embed.Description, "no route to the desk") {
			t.Fatalf("cards: %+v", all)
		}
		if v := viewOf(t, b.Snapshot(), tidyID); !v.Paused {
			t.Errorf("it goes on: %+v", v)
		}
		if n := len(b.Snapshot().Forks); n != 3 {
			t.Errorf("%d runs", n)
		}
		if !noticed(b.Snapshot(), "has failed three times in a row and is paused") {
			t.Errorf("notices: %+v", b.Snapshot().Notices)
		}
		if out, err := press(t, b, all[0], "Show why"); err != nil || !strings.Contains(out.Message, "no route to the desk") {
			t.Errorf("why: %+v, %v", out, err)
		}
		if out, err := press(t, b, all[0], "Keep paused"); err != nil || out.Message != textStaysPaused {
			t.Errorf("pause: %+v, %v", out, err)
		}
		if v := viewOf(t, b.Snapshot(), tidyID); !v.Paused {
			t.Errorf("it was resumed: %+v", v)
		}
		if out, err := press(t, b, all[0], "Retry"); err != nil {
			t.Errorf("retry: %+v, %v", out, err)
		}
		time.Sleep(20 * time.Second)
		if v := viewOf(t, b.Snapshot(), tidyID); v.Paused || len(b.Snapshot().Forks) < 4 {
			t.Errorf("it does not run again: %+v, %d runs", v, len(b.Snapshot().Forks))
		}
	})
}

// L6: failing runs and their cards rang the phone each time, through quiet hours and mutes.
func TestAFailingRoutineRingsOnceAndNotAtNight(t *testing.T) {
	for hours, want := range map[string]int{"": 1, "22:00-07:30": 0} {
		p := &phone{}
		remotely(t, p, func(h home) {
			h.write("state/settings.json", `{"quiet_hours": "`+hours+`"}`)
			h.write(tidyFile, everyMinute(tidyID, "", script_("fail no route to the desk")))
		}, func(_ home, _ *Bot) {
			time.Sleep(10*time.Minute + 30*time.Second)
			rings := 0
			for _, m := range p.posts {
				if !m.Quiet {
					rings++
				}
			}
			if len(p.posts) < 4 || rings != want { // three runs and the card
				t.Errorf("quiet hours %q: %d of %d messages ring, want %d", hours, rings, len(p.posts), want)
			}
		})
	}
}
