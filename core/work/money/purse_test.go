package money

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"os"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

func open(t *testing.T) (*store.Dir, *Purse) {
	t.Helper()
	d := storetest.Dir(t)
	must(t, d.Prepare())
	return d, made(Options{Dir: d})
}

func noCaps() Caps { return Caps{math.Inf(1), math.Inf(1)} }

// made fills in the options that a test leaves out: no caps, no past, no callbacks.
func made(o Options) *Purse {
	o.Zone = cmp.Or(o.Zone, time.UTC)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Caps == nil {
		o.Caps = noCaps
	}
	if o.Past == nil {
		o.Past = func() []Run { return nil }
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	return New(o)
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestADaysTurnsAreSummedAndSurviveARestart(t *testing.T) {
	d, l := open(t)
	for range 3 {
		must(t, l.Add(noon, "", agent.Usage{InputTokens: 10, OutputTokens: 2, CostUSD: 0.5}))
	}
	must(t, l.Add(noon.Add(13*time.Hour), "", agent.Usage{InputTokens: 1}))
	again := made(Options{Dir: d})
	if u := again.Today(noon); u.InputTokens != 30 || u.OutputTokens != 6 || u.CostUSD != 1.5 {
		t.Errorf("%+v", u)
	}
	days := again.Days()
	if len(days) != 2 || days[0].Date != "2026-11-22" || days[1].Turns != 3 {
		t.Errorf("%+v", days)
	}
}

func TestATurnThatUsedNothingWritesNothing(t *testing.T) {
	d, l := open(t)
	must(t, l.Add(noon, "", agent.Usage{}))
	if _, err := os.Stat(d.Path(fileName)); !os.IsNotExist(err) {
		t.Error(err)
	}
}

func TestAfterFourHundredDaysTheOldestAreForgotten(t *testing.T) {
	_, l := open(t)
	for i := range keptDays + 5 {
		must(t, l.Add(noon.AddDate(0, 0, i), "", agent.Usage{InputTokens: 1}))
	}
	days := l.Days()
	if oldest := days[len(days)-1].Date; len(days) != keptDays || oldest != noon.AddDate(0, 0, 5).Format(time.DateOnly) {
		t.Errorf("%d days from %s", len(days), oldest)
	}
}

func TestADayBeginsInTheUsersZone(t *testing.T) {
	d, _ := open(t)
	l := made(Options{Dir: d, Zone: time.FixedZone("far", -8*3600)})
	must(t, l.Add(noon.Add(13*time.Hour), "", agent.Usage{InputTokens: 1}))
	if u := l.Today(noon); u.InputTokens != 1 {
		t.Errorf("%+v", u)
	}
}

func TestAFileThatIsNoLedgerIsReplaced(t *testing.T) {
	for i, garbage := range []string{"", "null", "[]", "{\"x\":1}", "\x00\xff"} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			d, l := open(t)
			must(t, d.Write(fileName, []byte(garbage)))
			must(t, l.Add(noon, "", agent.Usage{InputTokens: 7}))
			if u := made(Options{Dir: d}).Today(noon); u.InputTokens != 7 {
				t.Errorf("%+v", u)
			}
		})
	}
}
