package core

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ollimbot/core/command"
)

const dose = "---\nid: \"aaaa0001\"\ndescription: \"Medicine\"\ncron: \"0 9 * * *\"\nbackground: true\n---\nSay so.\n"

// machineZone is the zone that the machine reports.
type machineZone struct{ name atomic.Value }

func inZone(name string) *machineZone {
	p := &machineZone{}
	p.moves(name)
	return p
}

func (p *machineZone) moves(name string) { p.name.Store(name) }

func (p *machineZone) zone() string { return p.name.Load().(string) }

// traveling is a bot on a machine whose zone changes, started several times. restarts counts what it asks for.
func traveling(t *testing.T, machine *machineZone, restarts *atomic.Int32, stories ...func(h home, b *Bot)) {
	t.Helper()
	livesWith(t, func(o *Options) {
		o.Env.ZoneKept = true
		o.MachineZone = machine.zone
		o.Restart = func() { restarts.Add(1) }
	}, time.Minute, func(h home) {
		h.write("routines/medicine.md", dose)
		h.write("routines/abroad.md", strings.Replace(strings.Replace(dose, "aaaa0001", "aaaa0002", 1), "background:", "zone: Asia/Tokyo\nbackground:", 1))
	}, stories...)
}

// The bot runs in Berlin. Nothing moves without an answer, and one change of the machine is one question, over restarts.
func TestAMachineInAnotherZoneIsAskedAboutOnce(t *testing.T) {
	machine, restarts := inZone("Europe/Berlin"), &atomic.Int32{}
	traveling(t, machine, restarts, func(h home, b *Bot) {
		if got := h.text("state/settings.json"); !strings.Contains(got, `"timezone": "Europe/Berlin"`) {
			t.Errorf("the zone in use is not kept: %s", got)
		}
		time.Sleep(2 * zoneLook)
		if n := len(b.Snapshot().Proposals); n != 0 {
			t.Errorf("%d questions at home", n)
		}
		machine.moves("UTC")
		time.Sleep(2 * zoneLook)
		open := b.Snapshot().Proposals
		if len(open) != 1 {
			t.Fatalf("%d questions", len(open))
		}
		const want = "This machine is now in UTC, where it is 00:0" // the story starts at midnight
		if !strings.HasPrefix(open[0].Text, want) || !strings.HasSuffix(open[0].Text, "\nMedicine: at 08:00 as now, at 09:00 if it follows") {
			t.Errorf("asked: %s\nwant %s…", open[0].Text, want)
		}
		time.Sleep(24 * time.Hour)
	}, func(_ home, b *Bot) {
		time.Sleep(8 * 24 * time.Hour)
		if n := len(b.offers.Of(KindZone)); n != 1 || b.settings.Load().Timezone != "Europe/Berlin" || restarts.Load() != 0 {
			t.Errorf("without an answer: %d questions, in %s, %d restarts", n, b.settings.Load().Timezone, restarts.Load())
		}
		machine.moves("Europe/Berlin")
		time.Sleep(2 * zoneLook)
		machine.moves("UTC")
		time.Sleep(2 * zoneLook)
		if n := len(b.Snapshot().Proposals); n != 1 {
			t.Errorf("on the next journey: %d questions", n)
		}
		machine.moves("Europe/Berlin")
		time.Sleep(2 * zoneLook)
		if n := len(b.Snapshot().Proposals); n != 0 {
			t.Errorf("back home %d questions are open", n)
		}
	})
}

func TestTheAnswerDecidesAndCanBeUndone(t *testing.T) {
	machine, restarts := inZone("Europe/Berlin"), &atomic.Int32{}
	traveling(t, machine, restarts, func(_ home, b *Bot) {
		zone := func() string { return b.settings.Load().Timezone }
		machine.moves("Asia/Tokyo")
		time.Sleep(2 * zoneLook)
		out, err := press(t, b, lastCard(t, b, textZoneTitle), "Keep Europe/Berlin")
		if err != nil || zone() != "Europe/Berlin" || !strings.Contains(out.Message, "/timezone") {
			t.Errorf("kept: %+v, %v, in %s", out, err, zone())
		}
		do(t, b, out.Undo)
		time.Sleep(time.Second) // the card is shown again
		out, err = press(t, b, lastCard(t, b, textZoneTitle), "Follow Asia/Tokyo")
		if err != nil || zone() != "Asia/Tokyo" || !strings.Contains(out.Message, "/timezone Europe/Berlin") {
			t.Fatalf("followed: %+v, %v, in %s", out, err, zone())
		}
		time.Sleep(zoneGrace / 2)
		do(t, b, out.Undo)
		time.Sleep(2 * zoneGrace)
		if zone() != "Europe/Berlin" || restarts.Load() != 0 {
			t.Errorf("undone: in %s after %d restarts", zone(), restarts.Load())
		}
		if _, err := press(t, b, lastCard(t, b, textZoneTitle), "Follow Asia/Tokyo"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * zoneGrace)
		if restarts.Load() != 1 {
			t.Errorf("%d restarts", restarts.Load())
		}
	})
}

// Where the zone is set by hand at the place of the machine, an open question about it is closed.
func TestAZoneSetByHandAnswersTheQuestion(t *testing.T) {
	machine, restarts := inZone("Europe/Berlin"), &atomic.Int32{}
	traveling(t, machine, restarts, func(_ home, b *Bot) {
		machine.moves("Asia/Tokyo")
		time.Sleep(2 * zoneLook)
		out := do(t, b, command.SetConfig{Key: "timezone", Value: "tokyo"})
		if out.Message != "timezone: Europe/Berlin → Asia/Tokyo; the bot restarts for that" {
			t.Error(out.Message)
		}
		time.Sleep(2 * zoneGrace)
		if restarts.Load() != 1 {
			t.Errorf("%d restarts", restarts.Load())
		}
	})
}

// Zones with the same clock are no journey.
func TestAnotherNameOfTheSameClockIsNotAskedAbout(t *testing.T) {
	machine, restarts := inZone("Europe/Berlin"), &atomic.Int32{}
	traveling(t, machine, restarts, func(_ home, b *Bot) {
		machine.moves("Europe/Vienna")
		time.Sleep(2 * zoneLook)
		if n := len(b.offers.Of(KindZone)); n != 0 {
			t.Errorf("%d questions", n)
		}
	})
}

func TestAFixedZoneIsNotChanged(t *testing.T) {
	livesWith(t, func(o *Options) { o.Env.ZoneFixed = "OLLIM_TIMEZONE" }, 0, func(home) {}, func(_ home, b *Bot) {
		if _, err := b.Do(t.Context(), command.SetConfig{Key: "timezone", Value: "tokyo"}); err == nil || !strings.Contains(err.Error(), "OLLIM_TIMEZONE") {
			t.Error(err)
		}
	})
}
