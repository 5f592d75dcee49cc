package core

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core/talk/transcript"
)

// failing is a routine whose runs fail.
var failing = file{tidyFile, everyMinute(tidyID, "", please("fail no route to the desk"))}

func TestARoutineThatFailsThreeTimesIsPausedAndItsCardOffersTheCure(t *testing.T) {
	story(t, []file{failing}, func(w *world) {
		w.sleep(10*time.Minute + 30*time.Second)
		var all []transcript.Entry
		for _, e := range w.Snapshot().Chat {
			if e.Embed != nil && strings.HasSuffix(e.Embed.Title, "keeps failing") {
				all = append(all, e)
			}
		}
		w.needs(len(all) == 1, "cards", all)
		w.shows("the card", all[0].Text+all[0].Embed.Description, "no route to the desk")
		w.holds(w.view(tidyID).Paused, "it goes on", w.view(tidyID))
		w.is("runs", len(w.Snapshot().Forks), 3)
		w.is("notices", w.noted("has failed three times in a row and is paused"), 1)
		w.presses(all[0], "Show why", "no route to the desk")
		w.is("kept", w.presses(all[0], "Keep paused", "").Message, textStaysPaused)
		w.holds(w.view(tidyID).Paused, "it was resumed", w.view(tidyID))
		w.presses(all[0], "Retry", "")
		w.sleep(20 * time.Second)
		w.holds(!w.view(tidyID).Paused && len(w.Snapshot().Forks) >= 4, "it does not run again", w.view(tidyID), w.runs())
	})
}

// L6: failing runs and their cards rang the phone each time, through quiet hours and mutes.
func TestAFailingRoutineRingsOnceAndNotAtNight(t *testing.T) {
	for hours, want := range map[string]int{"": 1, "22:00-07:30": 0} {
		p := &phone{}
		remotely(t, p, []file{failing, {"state/settings.json", `{"quiet_hours": "` + hours + `"}`}}, func(w *world) {
			w.sleep(10*time.Minute + 30*time.Second)
			rings := 0
			for _, m := range p.posts {
				if !m.Quiet {
					rings++
				}
			}
			w.holds(len(p.posts) >= 4, "three runs and the card", p.posts)
			w.is("rings with quiet hours "+hours, rings, want)
		})
	}
}
