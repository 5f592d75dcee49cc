package tui

import (
	stdcmp "cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/command"
)

// hasty is a bot whose commands take as long as they like, at one of a few
// capacities from which steps reach the floor and the ceiling.
func hasty(capacity int, dice *rand.Rand) setup {
	return setup{
		snap: func(at time.Time) core.Snapshot {
			s := busyDay(at)
			s.Budget.State.Capacity = capacity
			return s
		},
		rings: func(b *bot) {
			var mu sync.Mutex // what reads runs beside the rest
			b.takes = func(command.Value) time.Duration {
				mu.Lock()
				defer mu.Unlock()
				return time.Duration(dice.IntN(40)) * time.Millisecond
			}
		},
	}
}

// budgets presses keys, and then takes everything back, as far as that goes. It
// gives the numbers on the way.
func budgets(t *testing.T, s setup, keys []string, wait bool) (out []string) {
	t.Helper()
	play(t, s, func(s *stage) {
		note := func() {
			time.Sleep(2 * time.Second)
			b := s.bot.Snapshot().Budget.State
			out = append(out, fmt.Sprintf("%d every %d", b.Capacity, b.RefillRateMinutes))
		}
		s.press("1")
		if wait {
			for _, k := range keys {
				s.press(k)
				time.Sleep(time.Second)
			}
		} else {
			var b strings.Builder
			for _, k := range keys {
				b.WriteString(stdcmp.Or(keyBytes[k], k))
			}
			s.send(b.String())
		}
		note()
		for range len(keys) + 1 {
			s.press("u")
			note()
		}
	})
	return out
}

func TestKeysWithoutWaitingEndWhereKeysWithWaitingDo(t *testing.T) {
	all := []string{"+", "-", "+", "-", "[", "]", "u", "up", "2", "1", "e", "7", "enter"}
	for seed := range uint64(25) {
		dice := rand.New(rand.NewPCG(seed, 1))
		capacity := []int{0, 1, 2, 5, 999, 1000}[dice.IntN(6)]
		keys := make([]string, 3+dice.IntN(18))
		for i := range keys {
			keys[i] = all[dice.IntN(len(all))]
		}
		want := budgets(t, hasty(capacity, dice), keys, true)
		got := budgets(t, hasty(capacity, dice), keys, false)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("from %d, %v (-waiting +at once):\n%s", capacity, keys, d)
		}
	}
}

func TestInputThatWaitsIsTakenInTheOrderOfTheKeys(t *testing.T) {
	q := commandQueue{}
	for _, key := range []string{"1", "+", "enter"} {
		if !q.hold(key, func(tea.Msg) bool { return key == "1" }) {
			t.Errorf("%s does not wait", key)
		}
	}
	if _, ok := q.release(func(tea.Msg) bool { return true }); ok {
		t.Error("a key that has to wait is taken")
	}
	var taken []tea.Msg
	for msg, ok := q.release(func(tea.Msg) bool { return false }); ok; msg, ok = q.release(func(tea.Msg) bool { return false }) {
		taken = append(taken, msg)
	}
	if !slices.Equal(taken, []tea.Msg{"1", "+", "enter"}) {
		t.Errorf("taken as %v", taken)
	}
}

func TestWhatIsSlowHoldsNothingElseAsItsStoriesSay(t *testing.T) {
	takes := func(f func(c command.Value) time.Duration) setup { return setup{rings: func(b *bot) { b.takes = f }} }
	const budget = "SetBudget Capacity=6; RestoreBudget Capacity=5 RefillMinutes=90 Available=3.2"
	tell(t, []story{
		{"a slow command holds nothing but its kind", takes(func(c command.Value) time.Duration {
			if _, slow := c.(command.Say); slow {
				return 5 * time.Second
			}
			return time.Millisecond
		}), `
			5 i "one" enter "two" enter esc 1 + u ~100ms => did ` + budget + `
			~11s => did ` + budget + `; Say Text=one; Say Text=two`},
		{"steps that are typed ahead add up, and one that is refused counts nothing", hasty(999, rand.New(rand.NewPCG(7, 7))), `
			1 {++-} ~2s                  => capacity 1000 → 999
			{++++++++++----------++} ~9s => 3.2 / 992`},
		{"a disk that hangs holds neither the way about nor the end", takes(func(command.Value) time.Duration { return time.Hour }), `
			1 + 2  => ▸ 2 Schedule
			P 6    => ▸ 2 Schedule
			ctrl+c => quits
			~2h`}, // P changes something: it is held, and so is what follows
	})
}
