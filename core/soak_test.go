package core

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages"
	"ollimbot/core/agent/messages/messagestest"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
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

var soakCrons = map[string]string{everyFive: "*/5 * * * *", pinging: "5,35 * * * *", hourly: "0 * * * *"}

// TestSoak runs days of an accelerated life: a real bot in a bubble whose clock runs as
// fast as the work is done, with routines, reminders, pings, messages, edits of files and
// settings, and a restart each night. Every hour it compares sent and received messages,
// and every day it checks the bot's resources. Webhooks are left out, because a bubble
// has no network; TestAKillAtAnyMomentLosesAndRepeatsNothing covers them.
func TestSoak(t *testing.T) {
	soakWith(t, *soakDays, func(home) (agent.Engine, func()) {
		return script.New(script.Options{Pace: 0.5}), func() {}
	})
}

// TestADayOverTheMessagesAPI runs a day with the engine for the Messages API, with the
// offline engine as the model.
func TestADayOverTheMessagesAPI(t *testing.T) {
	soakWith(t, 1, func(h home) (agent.Engine, func()) {
		dir, model := storetest.At(h.t, h.root), messagestest.New(script.Options{Pace: 0.5})
		key := func(name string) string { return map[string]string{"ANTHROPIC_API_KEY": "a key of a test"}[name] }
		return messages.New(messages.Options{
			Dir: dir, Transport: model, Env: []string{"PATH=/usr/bin:/bin"}, Providers: provider.New(provider.Options{Dir: dir, Getenv: key}),
		}), model.Close
	})
}

// soakWith runs days with an engine, which is closed at the end.
func soakWith(t *testing.T, days int, engine func(home) (agent.Engine, func())) {
	t.Helper()
	h := newHome(t)
	s := &soak{
		rng: rand.New(rand.NewPCG(*soakSeed, 2)), model: soakModel{tokens: 5, capacity: 5, refill: 90}, sums: map[string]int{}, dropped: map[string]int{},
	}
	defer func(wall time.Time) {
		t.Logf("%d days in %s, seed %d", days, time.Since(wall).Round(time.Second), *soakSeed)
		for _, k := range slices.Sorted(maps.Keys(s.sums)) {
			t.Logf("%8d %s", s.sums[k], k)
		}
	}(time.Now())
	synctest.Test(t, func(t *testing.T) {
		h.t, s.checks = t, checks{t}
		h.put(
			routine(everyFive, soakCrons[everyFive], "isolated: true\nallow-ping: false\n", `call report_updates {"message":"from-`+everyFive+`."}`),
			routine(pinging, soakCrons[pinging], "update-main-session: \"freely\"\n", `call ping_user {"message":"Stand up."}`),
			task("routines/hourly.md", fmt.Sprintf("id: %q\ncron: %q\n", hourly, soakCrons[hourly]), "Do it.\n\n"+plays("say Good.")),
			routine(edited, "*/30 * * * *", "", `call report_updates {"message":"from-`+edited+`."}`),
		)
		e, closes := engine(h)
		defer closes()
		s.ear, s.home = newSoakEar(e), h
		s.start()
		from := time.Now()
		for day := range days {
			for range 24 {
				s.hour()
				s.compare()
			}
			time.Sleep(2 * time.Minute) // it restarts between two fires
			s.end()
			s.start()
			s.bounded(day)
		}
		s.end()
		s.fired(from, time.Now())
	})
}

// soak is a run of the bot with its expected state.
type soak struct {
	checks
	home
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

func (s *soak) start() {
	s.bot = s.home.bot(s.ear)
	s.end = begin(s, s.bot)
	synctest.Wait()
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
		s.act()
	}
	time.Sleep(time.Until(end))
	synctest.Wait()
}

// act is one action of a user, an editor or the agent.
func (s *soak) act() {
	share := s.rng.IntN(21)
	at := func(minutes int) time.Time { return time.Now().Add(time.Duration(minutes) * time.Minute) }
	for _, c := range []struct {
		name   string
		weight int
		do     func()
	}{
		{"messages", 3, s.talk},
		{"messages, two at once", 1, func() {
			s.talk()
			s.talk()
		}},
		{"messages that set a reminder", 2, s.askForReminder},
		{"reminder files", 3, s.remind},
		{"edits of a routine", 1, s.edit},
		{"broken routines", 1, func() { // half of a file is saved, and a little later all of it
			s.save(file{"routines/" + edited + ".md", "---\nid: \"" + edited + "\"\ncron: \"61 * *"})
			time.Sleep(time.Minute)
			s.edit()
		}},
		{"changes of the budget", 1, s.setBudget},
		{"changes of the settings", 1, s.configure},
		{"updates discarded", 1, s.discard},
		{"deliveries asked for", 1, func() { s.do(command.DeliverNow{}) }},
		{"interruptions", 1, func() { s.do(command.Interrupt{}) }},
		{"fires by hand", 1, func() { s.do(command.FireNow{ID: edited}) }},
		{"snoozes", 1, func() { s.do(command.Snooze{ID: edited, Until: at(20)}) }},
		{"pauses", 1, func() {
			s.do(command.Pause{ID: edited, Paused: true})
			time.Sleep(5 * time.Minute)
			s.do(command.Pause{ID: edited})
		}},
		{"mutes", 1, func() { s.do(command.MuteUntil{Until: at(10)}) }},
		{"previews", 1, func() { _, _ = s.bot.Reads().Preview(s.Context(), pinging) }},
	} {
		if share -= c.weight; share < 0 {
			s.sums[c.name]++
			c.do()
			return
		}
	}
}

func (s *soak) mark(kind string) string {
	s.marks++
	return fmt.Sprintf("%s-%d.", kind, s.marks)
}

// do carries out a command. An error is ignored, because the task may no longer exist.
func (s *soak) do(c command.Value) command.Outcome {
	out, err := s.bot.Do(s.Context(), c)
	if err != nil {
		s.sums["commands refused"]++
	}
	return out
}

func (s *soak) talk() {
	mark := s.mark("msg")
	s.sent = append(s.sent, mark)
	s.do(command.Say{Text: mark + " How is it going?"})
}

// askForReminder makes the agent set a reminder, which gets its mark once it is saved.
func (s *soak) askForReminder() {
	mark, where := s.mark("msg"), s.rng.IntN(2) == 0
	s.sent = append(s.sent, mark)
	s.do(command.Say{Text: mark + " Remind me.\n\n" + plays(
		fmt.Sprintf(`call add_reminder {"prompt":"%s Do it.","delay_minutes":%d,"foreground":%v}`, s.mark("added"), 1+s.rng.IntN(40), where), "say Done.")})
}

// remind writes a reminder file: one that reports, one that pings, or one that speaks.
func (s *soak) remind() {
	mark, id := s.mark("file"), store.NewID()
	lines, extra := "call report_updates {\"message\":\""+mark+"\"}", "background: true\n"
	switch s.rng.IntN(3) {
	case 0:
		lines, extra = "call ping_user {\"message\":\""+mark+"\"}", "background: true\nupdate-main-session: \"freely\"\n"
	case 1:
		lines, extra = "say "+mark, ""
	}
	at := time.Now().In(s.zone).Add(time.Duration(20+s.rng.IntN(1200)) * time.Second).Format(time.RFC3339)
	front := fmt.Sprintf("id: %q\nrun-at: %q\ndescription: %q\n%s", id, at, mark, extra)
	s.save(task("reminders/"+strings.TrimSuffix(mark, ".")+".md", front, mark+" Do it.\n\n"+plays(lines)))
	s.set = append(s.set, mark)
}

func (s *soak) edit() {
	crons := []string{"*/30 * * * *", "*/20 * * * *", "10,50 * * * *", "0 9-17 * * *"}
	s.save(routine(edited, crons[s.rng.IntN(len(crons))], "", `call report_updates {"message":"from-`+edited+`."}`))
}

func (s *soak) save(f file) {
	s.put(f)
	s.bot.directory.Apply(watch.Batch{Names: []string{f.rel}})
}

func (s *soak) setBudget() {
	capacity, refill := 2+s.rng.IntN(8), 10+s.rng.IntN(80)
	s.do(command.SetBudget{Capacity: &capacity, RefillMinutes: &refill})
	s.ear.mu.Lock()
	defer s.ear.mu.Unlock()
	s.spend()
	s.model.at(time.Now())
	s.model.capacity, s.model.refill, s.model.tokens = capacity, refill, min(s.model.tokens, float64(capacity))
}

func (s *soak) configure() {
	lines := []string{
		"bg_fork_timeout 600", "bg_fork_timeout 900", "max_background_forks 2", "max_background_forks 4", "quiet_hours 23:00-06:00", "quiet_hours off",
	}
	s.do(command.Slash{Line: "/config " + lines[s.rng.IntN(len(lines))]})
}

// discard discards an update, and usually restores it.
func (s *soak) discard() {
	list := s.bot.updates.Peek()
	if len(list) == 0 || list[0].Dropped > 0 {
		return
	}
	switch out := s.do(command.DiscardUpdate{Key: list[0].Key}); {
	case out.Undo == nil:
	case s.rng.IntN(3) > 0:
		s.do(out.Undo)
	default:
		s.dropped[list[0].Message]++
	}
}

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
	s.holds(m.HeapAlloc <= s.heap+soakHeap, "the heap has grown, by the end of day", day, s.heap, m.HeapAlloc)
	s.holds(n <= s.routines+2, "goroutines at the end of day", day, n, s.routines)
	total := int64(0)
	testkit.Must(s, fs.WalkDir(os.DirFS(s.root), "state", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		total += info.Size()
		s.holds(info.Size() <= soakFile, path+" is too large at the end of day", day, info.Size())
		s.holds(!strings.Contains(path, ".corrupt-") && !strings.Contains(path, ".tmp"), path+" was left behind on day", day)
		return nil
	}))
	s.holds(total <= soakState, "bytes of state/ at the end of day", day, total)
	waiting := len(s.bot.Index().Set().Reminders)
	s.holds(waiting <= soakReminders, "reminders that wait at the end of day", day, waiting)
	s.sums["bytes in state/"], s.sums["kB on the heap"], s.sums["goroutines"] = int(total), int(m.HeapAlloc>>10), n
}
