package core

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
)

func TestEachViewerHasWakeUpsOfItsOwn(t *testing.T) {
	story(t, nil, func(w *world) {
		woken := func(v *Viewer) bool {
			select {
			case <-v.Changed():
				return true
			default:
				return false
			}
		}
		one, two, gone := w.Viewer(false), w.Viewer(true), w.Viewer(false)
		gone.Close()
		gone.Close()
		w.viewers.notify()
		w.viewers.notify()
		for _, v := range []*Viewer{one, two} {
			<-v.Changed()
			w.is("woken twice for what it has not looked at", woken(v), false)
			v.Close()
		}
		w.is("woken though it is closed", woken(gone), false)
		w.is("viewers that are left", len(w.viewers.open), 0)
	})
}

func TestAReadOnlyViewerChangesNothing(t *testing.T) {
	const loud = "Hear !`touch ran; echo it`."
	story(t, []file{
		task("skills/loud/SKILL.md", "name: loud\ndescription: Loud.\n", loud),
		task("routines/r.md", "id: \"bbbb0002\"\ncron: \"0 3 1 1 *\"\nskills: [loud]\n", "Good morning."),
	}, func(w *world) {
		v := w.Viewer(true)
		defer v.Close()
		for _, c := range []command.Value{
			command.SetBudget{Capacity: new(6)},
			command.Say{Text: "hello"},
			command.FireNow{ID: "bbbb0002"},
			command.Pause{ID: "bbbb0002", Paused: true},
			command.EditTask{ID: "bbbb0002"},
			command.DeleteTask{ID: "bbbb0002"},
			command.Answer{},
			command.UserActive{},
			command.MarkSeen{},
			command.SetConfig{Key: "quiet_hours", Value: "off"},
			command.Login{},
			command.Slash{Line: "/restart"},
			command.Interrupt{},
			nil,
		} {
			_, err := v.Do(t.Context(), c)
			fails(t, "a command", err, "read-only")
		}
		w.is("the budget", w.Snapshot().Budget.State.Capacity, 5)
		_, describe := v.Describe(t.Context(), "bbbb0002")
		_, costs := v.Costs(t.Context(), 1)
		_, runs := v.Runs(t.Context(), command.Mark{}, 5)
		_, past := v.Past(t.Context(), "bbbb0002")
		_, away := v.Away(t.Context())
		testkit.Must(t, errors.Join(describe, costs, runs, past, away))
		text, err := v.Preview(t.Context(), "bbbb0002")
		testkit.Must(t, err)
		w.shows("the preview", text, loud)
		w.holds(!w.has("ran"), "the command of a skill ran")
	})
}

// A read-only viewer may have every line of the command line carried out that changes nothing, and no other.
func TestAReadOnlyViewerRunsOnlyLinesThatChangeNothing(t *testing.T) {
	story(t, nil, func(w *world) {
		ran := ""
		w.o.UserCommands = func(_ context.Context, args []string) (agent.CommandResult, command.Value) {
			ran = strings.Join(args, " ")
			return agent.CommandResult{Stdout: "done\n"}, nil
		}
		for _, readOnly := range []bool{true, false} {
			v, lines, refused := w.Viewer(readOnly), 0, 0
			for _, c := range command.List(command.InShell) {
				ran = ""
				line := c.Name + " 0123abcd"
				if c.Takes(command.Task) && c.Takes(command.Moment) {
					line += " 2h"
				}
				_, err := v.Do(t.Context(), command.Line{Text: line, Sure: true})
				if c.In&command.InPlain != 0 && (!readOnly || !c.Writes) {
					w.holds(err == nil && ran == line, "a line that changes nothing", readOnly, line, ran, err)
					lines++
				} else {
					w.holds(err != nil && ran == "", "a line that was carried out", readOnly, line)
					refused++
				}
			}
			w.holds(lines >= 20 && refused >= 15, "lines, and refused ones", readOnly, lines, refused)
			v.Close()
		}
	})
}

func TestABotLivesWhileItsLoopsTurn(t *testing.T) {
	alive := func(b *Bot) error {
		ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
		defer stop()
		return b.Alive(ctx)
	}
	story(t, nil, func(w *world) {
		began := time.Now()
		for range 201 { // probes must not fill the queue
			testkit.Must(t, alive(w.Bot))
		}
		w.holds(time.Since(began) <= time.Second, "a bot that waits answers after", time.Since(began))
	})
	fails(t, "a bot that was never started", alive(newHome(t).bot(offline())))
}
