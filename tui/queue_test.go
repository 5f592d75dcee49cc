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

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
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

func TestTenUpAndTenDownEndWhereTheyBegan(t *testing.T) {
	dice := rand.New(rand.NewPCG(7, 7))
	keys := append(slices.Repeat([]string{"+"}, 10), slices.Repeat([]string{"-"}, 10)...)
	for range 5 {
		if got := budgets(t, hasty(5, dice), keys, false)[0]; got != "5 every 90" {
			t.Fatalf("ends at %s", got)
		}
	}
}

func TestASlowCommandHoldsNothingButItsKind(t *testing.T) {
	play(t, setup{rings: func(b *bot) {
		b.takes = func(c command.Value) time.Duration {
			if _, slow := c.(command.Say); slow {
				return 5 * time.Second
			}
			return time.Millisecond
		}
	}}, func(s *stage) {
		s.press("5", "i")
		s.types("one")
		s.press("enter")
		s.types("two")
		s.press("enter", "esc", "1", "+", "u")
		time.Sleep(100 * time.Millisecond)
		six := 6
		want := []command.Value{command.SetBudget{Capacity: &six}, command.RestoreBudget{Capacity: 5, RefillMinutes: 90, Available: 3.2}}
		if d := cmp.Diff(want, s.bot.done()); d != "" {
			t.Errorf("while words are on their way (-want +got):\n%s", d)
		}
		time.Sleep(11 * time.Second)
		if d := cmp.Diff([]command.Value{command.Say{Text: "one"}, command.Say{Text: "two"}}, s.bot.done()[2:]); d != "" {
			t.Errorf("the words (-want +got):\n%s", d)
		}
	})
}

func TestADiskThatHangsHoldsNeitherTheWayAboutNorTheEnd(t *testing.T) {
	play(t, setup{rings: func(b *bot) { b.takes = func(command.Value) time.Duration { return time.Hour } }}, func(s *stage) {
		s.press("1", "+", "2")
		s.sees("▸ 2 Schedule")
		s.press("P", "6") // held: it changes something, and so is what follows
		s.sees("▸ 2 Schedule")
		s.press("ctrl+c")
		s.quits()
		time.Sleep(2 * time.Hour)
	})
}

// TestNoCommandOvertakesAnother drives the queue alone.
func TestNoCommandOvertakesAnother(t *testing.T) {
	kinds := []command.Value{command.SetBudget{}, command.Pause{}, command.Say{}, command.ExitFork{}, command.FireNow{}, command.Answer{}}
	testkit.Check(t, func(t *rapid.T) {
		q := commandQueue{busy: map[command.Lane]bool{}}
		number := map[pane.Dialog]int{}
		var began, running []doneMsg
		pull := func() {
			for _, m := range q.ready() {
				lane := command.LaneOf(m.command)
				for _, other := range running {
					if l := command.LaneOf(other.command); l == lane || l == command.LaneQuick {
						t.Fatalf("%T begins while %T runs", m.command, other.command)
					}
				}
				for _, other := range began {
					if l := command.LaneOf(other.command); number[other.asker] > number[m.asker] && (l == lane || lane == command.LaneQuick) {
						t.Fatalf("%T has overtaken %T", other.command, m.command)
					}
				}
				began, running = append(began, m), append(running, m)
			}
		}
		end := func(i int) {
			delete(q.busy, command.LaneOf(running[i].command))
			running = slices.Delete(running, i, i+1)
			pull()
		}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if len(running) > 0 && rapid.Bool().Draw(t, "one ends") {
				end(rapid.IntRange(0, len(running)-1).Draw(t, "which"))
				continue
			}
			m := doneMsg{command: rapid.SampledFrom(kinds).Draw(t, "command"), asker: &dialog.Page{}}
			number[m.asker] = len(number)
			q.waiting = append(q.waiting, m)
			pull()
		}
		for len(running) > 0 {
			end(0)
		}
		if len(began) != len(number) {
			t.Fatalf("%d of %d have begun", len(began), len(number))
		}
	})
}

func TestAStepThatWasRefusedIsNotCountedByTheNext(t *testing.T) {
	dice := rand.New(rand.NewPCG(3, 3))
	for _, wait := range []bool{true, false} {
		if got := budgets(t, hasty(1000, dice), []string{"+", "-"}, wait)[0]; got != "999 every 90" {
			t.Errorf("waiting %v: ends at %s", wait, got)
		}
	}
}
