package core

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ollimbot/core/command"
)

const dose = "---\nid: \"aaaa0001\"\ndescription: \"Medicine\"\ncron: \"0 9 * * *\"\nbackground: true\n---\nSay so.\n"

// machine is a machine that travels. restarts counts what the bot asks for.
type machine struct {
	zone     atomic.Value
	restarts atomic.Int32
}

// arrives has the machine in a zone, and the bot notice it.
func (m *machine) arrives(zone string) {
	m.zone.Store(zone)
	time.Sleep(2 * zoneLook)
}

// traveling is a bot on a machine that starts in Berlin, started once per story.
func traveling(t *testing.T, m *machine, stories ...func(w *world)) {
	t.Helper()
	m.zone.Store("Europe/Berlin")
	abroad := strings.NewReplacer("aaaa0001", "aaaa0002", "background:", "zone: Asia/Tokyo\nbackground:").Replace(dose)
	setting{gap: time.Minute, files: []file{{"routines/medicine.md", dose}, {"routines/abroad.md", abroad}}, change: func(o *Options) {
		o.Env.ZoneKept = true
		o.MachineZone = func() string { return m.zone.Load().(string) }
		o.Restart = func() { m.restarts.Add(1) }
	}}.tell(t, stories...)
}

// Nothing moves without an answer, and one change of the machine is one question, over restarts.
func TestAMachineInAnotherZoneIsAskedAboutOnce(t *testing.T) {
	m := &machine{}
	traveling(t, m, func(w *world) {
		w.shows("the zone in use", w.read("state/settings.json"), `"timezone": "Europe/Berlin"`)
		m.arrives("Europe/Berlin")
		w.is("at home", w.asked(), "0 open, 0 reminders")
		m.arrives("UTC")
		open := w.Snapshot().Proposals
		w.needs(len(open) == 1, "questions", open)
		w.holds(strings.HasPrefix(open[0].Text, "This machine is now in UTC, where it is 00:0") && // the story starts at midnight
			strings.HasSuffix(open[0].Text, "\nMedicine: at 08:00 as now, at 09:00 if it follows"), "asked", open[0].Text)
		w.sleep(24 * time.Hour)
	}, func(w *world) {
		w.sleep(8 * 24 * time.Hour)
		w.is("without an answer: questions, zone", []any{len(w.offers.Of(KindZone)), w.settings.Load().Timezone}, []any{1, "Europe/Berlin"})
		w.is("restarts", m.restarts.Load(), 0)
		m.arrives("Europe/Berlin")
		m.arrives("UTC")
		w.is("on the next journey", w.asked(), "1 open, 0 reminders")
		m.arrives("Europe/Berlin")
		w.is("back home", w.asked(), "0 open, 0 reminders")
	})
}

func TestTheAnswerDecidesAndCanBeUndone(t *testing.T) {
	m := &machine{}
	traveling(t, m, func(w *world) {
		answer := func(button, words, zone string) command.Outcome {
			w.Helper()
			out := w.presses(w.card(textZoneTitle), button, words)
			w.is("after "+button, w.settings.Load().Timezone, zone)
			return out
		}
		m.arrives("Asia/Tokyo")
		w.do(answer("Keep Europe/Berlin", "/timezone", "Europe/Berlin").Undo)
		w.sleep(time.Second) // the card is shown again
		out := answer("Follow Asia/Tokyo", "/timezone Europe/Berlin", "Asia/Tokyo")
		w.sleep(zoneGrace / 2)
		w.do(out.Undo)
		w.sleep(2 * zoneGrace)
		w.is("undone: zone, restarts", []any{w.settings.Load().Timezone, m.restarts.Load()}, []any{"Europe/Berlin", 0})
		answer("Follow Asia/Tokyo", "", "Asia/Tokyo")
		w.sleep(2 * zoneGrace)
		w.is("restarts", m.restarts.Load(), 1)
	})
}

// Where the zone is set by hand at the place of the machine, an open question about it is closed.
func TestAZoneSetByHandAnswersTheQuestion(t *testing.T) {
	m := &machine{}
	traveling(t, m, func(w *world) {
		m.arrives("Asia/Tokyo")
		out := w.do(command.SetConfig{Key: "timezone", Value: "tokyo"})
		w.is("it answers", out.Message, "timezone: Europe/Berlin → Asia/Tokyo; the bot restarts for that")
		w.sleep(2 * zoneGrace)
		w.is("restarts", m.restarts.Load(), 1)
	})
}

func TestAnotherNameOfTheSameClockIsNotAskedAbout(t *testing.T) {
	m := &machine{}
	traveling(t, m, func(w *world) {
		m.arrives("Europe/Vienna")
		w.is("questions", len(w.offers.Of(KindZone)), 0)
	})
}

func TestAFixedZoneIsNotChanged(t *testing.T) {
	setting{change: func(o *Options) { o.Env.ZoneFixed = "OLLIM_TIMEZONE" }}.tell(t, func(w *world) {
		w.refuses("OLLIM_TIMEZONE", command.SetConfig{Key: "timezone", Value: "tokyo"})
	})
}
