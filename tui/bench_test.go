package tui

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/tui/screen"
	"ollimbot/tui/theme"
)

// crowded is a bot with more in every pane than the pane can show, and a tail of 100,000 lines.
func crowded() *bot {
	at := time.Now()
	s := withForks(busyDay(at))
	for i := range 40 {
		e := s.Schedule.Entries[i%3]
		e.ID, e.FireTime, e.Kind = fmt.Sprintf("%08x", i), at.Add(time.Duration(i+1)*4*time.Minute), routines.KindRoutine
		s.Schedule.Entries = append(s.Schedule.Entries, e)
		s.Updates = append(s.Updates, updates.Update{Key: e.ID, At: at.Add(-time.Duration(i) * time.Minute), Message: "Email triage: 2 need an answer today, 9 archived."})
		s.Chat = append(s.Chat, transcript.Entry{ID: post.MessageID(e.ID), At: at, Role: transcript.Bot, Text: "Two things are left:\n- answer the **landlord** about Thursday\n- the `weekly review` at 16:45"})
	}
	for i := range 10 {
		s.Forks = append(s.Forks, fork.View{ID: fmt.Sprintf("%08x", 0xd000+i), Title: "Medication", State: fork.Done, Started: at.Add(-time.Hour), Ended: at.Add(-59 * time.Minute), Pings: 1, Reports: 1})
	}
	s.Chat = append(s.Chat, transcript.Entry{ID: "growing", At: at, Role: transcript.Bot, Streaming: true})
	s.Busy, s.BusySince = true, at
	b := newBot(s)
	b.rings["f1f1f1f1"], b.rings[core.LogTail] = tail.New(100_000), tail.New(10_000)
	b.grow(100_000)
	return b
}

// grow adds n lines to the tail, each of 40 to 120 cells and none like the one before, a tenth of them to the log, and a word to the answer.
func (b *bot) grow(n int) {
	words := strings.Fields("two need an answer today: the landlord asks about Thursday, and Dana waits for the numbers of the third quarter; eleven newsletters can wait")
	b.mu.Lock()
	run, log := b.rings["f1f1f1f1"], b.rings[core.LogTail]
	for range n {
		i := int(run.Len())
		line := strconv.Itoa(i)
		for j := range 8 + i%13 {
			line += " " + words[(i*7+j*(1+i%5))%len(words)]
		}
		run.Add(tail.Line{At: time.Now(), Kind: tail.Text, Text: line})
		if i%10 == 0 {
			log.Add(tail.Line{At: time.Now(), Kind: tail.Info, Text: "watch event file=routines/gym.md line=" + strconv.Itoa(i)})
		}
	}
	b.mu.Unlock()
	b.change(func(s *core.Snapshot) {
		s.Forks[0].Lines, s.LogLines = run.Len(), log.Len()
		s.Chat = slices.Clone(s.Chat)
		last := &s.Chat[len(s.Chat)-1]
		if last.Text += words[len(last.Text)%len(words)] + " "; len(last.Text) > 4000 {
			last.Text = ""
		}
	})
}

// watched is a dashboard that runs, and what it writes.
type watched struct {
	b      *testing.B
	keys   *io.PipeWriter
	writes chan string // dropped when they are not read
	bytes  atomic.Int64
}

func (w *watched) Write(p []byte) (int, error) {
	w.bytes.Add(int64(len(p)))
	select {
	case w.writes <- string(p):
	default:
	}
	return len(p), nil
}

// watch runs a dashboard while f looks at it.
func watch(b *testing.B, bot *bot, size string, f func(w *watched)) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	in, keys := io.Pipe()
	w := &watched{b: b, keys: keys, writes: make(chan string, 64)}
	ended := make(chan error, 1)
	env := append([]string{"TERM=xterm-256color", "COLORTERM=truecolor", "TTY_FORCE=1"}, strings.Fields(size)...)
	go func() { ended <- Run(ctx, bot, Options{Input: in, Output: w, Env: env, Theme: "dark"}) }()
	<-w.writes
	f(w)
	cancel()
	testkit.Must(b, keys.Close())
	testkit.Must(b, <-ended)
}

// press types a key and waits until the screen says so.
func (w *watched) press(k, want string) time.Duration {
	w.b.Helper()
	for len(w.writes) > 0 {
		<-w.writes
	}
	began := time.Now()
	_, err := io.WriteString(w.keys, k)
	testkit.Must(w.b, err)
	limit := time.After(5 * time.Second)
	for seen := ""; ; {
		select {
		case p := <-w.writes:
			if seen += p; strings.Contains(ansi.Strip(seen), want) {
				return time.Since(began)
			}
		case <-limit:
			w.b.Fatalf("%q was not answered within 5 s: %q", k, seen)
		}
	}
}

var paneKeys = [2][2]string{{"1", "▸ 1 Ping budget"}, {"2", "▸ 2 Schedule"}}

func BenchmarkKeyToPaint(b *testing.B) {
	watch(b, newBot(withForks(busyDay(day))), "COLUMNS=120 LINES=40", func(w *watched) {
		for n := 0; b.Loop(); n++ {
			w.press(paneKeys[n%2][0], paneKeys[n%2][1])
		}
	})
}

// BenchmarkFrame200x60 is a frame of ours, drawn and written: six full panes, a
// tail of 100,000 lines that has grown by 33 since the frame before. 1 ms is asked.
func BenchmarkFrame200x60(b *testing.B) {
	bot := crowded()
	r := newRoot(b.Context(), bot, Options{Output: io.Discard})
	r.prefs.theme = theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
	r.terminal.screen, r.w, r.h = screen.New(b.Context(), io.Discard, nil), 200, 60
	testkit.Must(b, r.terminal.screen.Open())
	r.refresh()
	r.show(atOnce)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		bot.grow(33)
		b.StartTimer()
		r.refresh()
		r.show(atOnce)
	}
	testkit.Must(b, r.err)
}

// BenchmarkUnderLoad is what this process costs, with the bot in it, while a tail grows. Asked is under 8 % of a core at
// 1,000 lines a second, a key that is answered within 20 ms at 99 %, and, where nothing comes, 0.3 % of a core and
// 40 wakeups a second at most.
func BenchmarkUnderLoad(b *testing.B) {
	const watching, keys = 15 * time.Second, 600
	used := func() (cpu time.Duration, sleeps int64) {
		var u syscall.Rusage
		testkit.Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano()), u.Nvcsw
	}
	for _, perSecond := range []int{0, 1000} {
		b.Run(fmt.Sprint(perSecond, "-lines-a-second"), func(b *testing.B) {
			for b.Loop() {
				bot := crowded()
				ctx, stop := context.WithCancel(b.Context())
				var feeding sync.WaitGroup
				if perSecond > 0 {
					feeding.Go(func() {
						for wait(ctx, 10*time.Millisecond) {
							bot.grow(perSecond / 100)
						}
					})
				}
				watch(b, bot, "COLUMNS=200 LINES=60", func(w *watched) {
					w.press(paneKeys[1][0], paneKeys[1][1])
					wait(ctx, 3*time.Second)
					cpu, sleeps := used()
					written := w.bytes.Load()
					wait(ctx, watching)
					cpu2, sleeps2 := used()
					b.ReportMetric(100*(cpu2-cpu).Seconds()/watching.Seconds(), "%core")
					b.ReportMetric(float64(sleeps2-sleeps)/watching.Seconds(), "wakeups/s")
					b.ReportMetric(float64(w.bytes.Load()-written)/watching.Seconds()/1024, "kB-written/s")
					took := make([]time.Duration, keys)
					for i := range took {
						wait(ctx, 7*time.Millisecond+time.Duration(i%11)*time.Millisecond) // at every phase of a frame
						took[i] = w.press(paneKeys[i%2][0], paneKeys[i%2][1])
					}
					slices.Sort(took)
					b.ReportMetric(took[keys/2].Seconds()*1000, "ms-key-median")
					b.ReportMetric(took[keys*99/100].Seconds()*1000, "ms-key-99%")
				})
				stop()
				feeding.Wait()
			}
		})
	}
}

// wait passes time, unless the context ends.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
