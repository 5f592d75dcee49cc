package core

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/command"
	"ollimbot/routines/watch"
)

// `task soak` asks for a week. A seed repeats the same actions at the same times.
var (
	soakDays = flag.Int("soak", 1, "how many days TestSoak lives through")
	soakSeed = flag.Uint64("soakseed", 1, "seed of what is done in them")
)

// Limits of a soak's resources, whatever its length.
const (
	soakHeap      = 24 << 20 // growth of the heap in bytes from the first day's end to the last's
	soakState     = 24 << 20 // bytes in state/
	soakFile      = 8 << 20  // bytes of one file there
	soakReminders = 20       // pending files at a day's end
)

// The routines of the soak. The first three are left alone, so that the number of their
// fires is known; the last one is edited, paused, snoozed and fired early.
const (
	everyFive = "50a00001"
	pinging   = "50a00002"
	hourly    = "50a00003"
	edited    = "50a00004"
)

// TestSoak runs days of an accelerated life: a real bot in a bubble whose clock runs as
// fast as the work is done, with routines, reminders, pings, messages, edits of files and
// settings, and a restart each night. Every hour it compares sent and received messages,
// and every day it checks the bot's resources. Webhooks are left out, because a bubble
// has no network; TestCrashes covers them.
func TestSoak(t *testing.T) {
	soakWith(t, *soakDays, func(home) (agent.Engine, func()) {
		return script.New(script.Options{Pace: 0.5}), func() {}
	})
}

// TestADayOverTheMessagesAPI runs a day with the engine for the Messages API, with the
// offline engine as the model.
func TestADayOverTheMessagesAPI(t *testing.T) {
	soakWith(t, 1, overMessages)
}

// soakWith runs days with an engine, which is closed at the end.
func soakWith(t *testing.T, days int, engine func(home) (agent.Engine, func())) {
	t.Helper()
	h := newHome(t)
	wall := time.Now()
	s := &soak{h: h, rng: rand.New(rand.NewPCG(*soakSeed, 2)), model: newSoakModel(), sums: map[string]int{}}
	defer func() {
		t.Logf("%d days in %s, seed %d\n%s", days, time.Since(wall).Round(time.Second), *soakSeed, s)
	}()
	synctest.Test(t, func(t *testing.T) {
		s.h.t, s.t = t, t
		e, end := engine(s.h)
		defer end()
		s.ear = newSoakEar(e)
		s.furnish()
		s.start()
		from := time.Now()
		for day := range days {
			for range 24 {
				s.hour()
				s.compare()
			}
			s.restart()
			s.bounded(day)
		}
		s.end()
		s.fired(from, time.Now())
	})
}

// soak is a run of the bot with its expected state.
type soak struct {
	t   *testing.T
	h   home
	rng *rand.Rand
	ear *soakEar
	bot *Bot
	end func()

	model soakModel
	sums  map[string]int // what was done, by kind
	marks int
	// sent are the messages, set the reminders that were written or that the agent has
	// accepted, dropped the texts of discarded updates.
	sent, set []string
	dropped   map[string]int
	heap      uint64 // at the end of the first day
	routines  int    // goroutines while the bot is idle, at the end of the first day
}

func (s *soak) furnish() {
	s.dropped = map[string]int{}
	s.routine(everyFive, "*/5 * * * *", "background: true\nisolated: true\nallow-ping: false\n", `call report_updates {"message":"from-`+everyFive+`."}`)
	s.routine(pinging, "5,35 * * * *", "background: true\nupdate-main-session: \"freely\"\n", `call ping_user {"message":"Stand up."}`)
	s.routine(hourly, "0 * * * *", "", "say Good.")
	s.routine(edited, "*/30 * * * *", "background: true\n", `call report_updates {"message":"from-`+edited+`."}`)
}

func (s *soak) routine(id, cron, extra string, lines ...string) {
	s.h.put(task("routines/"+id+".md", fmt.Sprintf("id: %q\ncron: %q\ndescription: \"Routine %s\"\n%s", id, cron, id, extra), "Do it.\n\n"+plays(lines...)))
}

func (s *soak) start() {
	s.bot = s.h.bot(s.ear)
	s.end = begin(s.t, s.bot)
	synctest.Wait()
}

// restart restarts the bot, between two fires.
func (s *soak) restart() {
	time.Sleep(2 * time.Minute)
	s.end()
	s.start()
	s.sums["restarts"]++
}

// hour runs an hour with a few random actions, each at a minute of its own. It ends at
// two minutes past, when no fire is in progress.
func (s *soak) hour() {
	end := time.Now().Truncate(time.Hour).Add(time.Hour + 2*time.Minute)
	for {
		time.Sleep(time.Duration(3+s.rng.IntN(14))*time.Minute + time.Duration(s.rng.IntN(60_000))*time.Millisecond)
		if !time.Now().Before(end.Add(-3 * time.Minute)) {
			break
		}
		d := doings[s.rng.IntN(len(doings))]
		s.sums[d.name]++
		d.do(s)
	}
	time.Sleep(time.Until(end))
	synctest.Wait()
}

func (s *soak) mark(kind string) string {
	s.marks++
	return fmt.Sprintf("%s-%d.", kind, s.marks)
}

// do carries out a command. An error is ignored, because the task may no longer exist.
func (s *soak) do(c command.Value) command.Outcome {
	out, err := s.bot.Do(s.t.Context(), c)
	if err != nil {
		s.sums["commands refused"]++
	}
	return out
}

func (s *soak) saved(rel string) { s.bot.directory.Apply(watch.Batch{Names: []string{rel}}) }

// bounded checks the bot's resources at the end of a day.
func (s *soak) bounded(day int) {
	synctest.Wait()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	n := runtime.NumGoroutine()
	if day == 0 {
		s.heap, s.routines = m.HeapAlloc, n
	}
	if m.HeapAlloc > s.heap+soakHeap {
		s.t.Errorf("day %d: the heap has grown from %d to %d bytes", day, s.heap, m.HeapAlloc)
	}
	if n > s.routines+2 {
		s.t.Errorf("day %d: there are %d goroutines, %d after the first day", day, n, s.routines)
	}
	total := int64(0)
	err := filepath.WalkDir(filepath.Join(s.h.root, "state"), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		total += info.Size()
		if info.Size() > soakFile {
			s.t.Errorf("day %d: %s has %d bytes", day, e.Name(), info.Size())
		}
		if strings.Contains(e.Name(), ".corrupt-") || strings.Contains(e.Name(), ".tmp") {
			s.t.Errorf("day %d: %s was left behind", day, e.Name())
		}
		return nil
	})
	if err != nil {
		s.t.Error(err)
	}
	if total > soakState {
		s.t.Errorf("day %d: state/ has %d bytes", day, total)
	}
	if n := len(s.bot.Index().Set().Reminders); n > soakReminders {
		s.t.Errorf("day %d: %d reminders wait", day, n)
	}
	s.sums["bytes in state/"], s.sums["kB on the heap"], s.sums["goroutines"] = int(total), int(m.HeapAlloc>>10), n
}
