package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/routines"
	"ollimbot/routines/leeway"
	"ollimbot/routines/watch"
)

// stories plays a file of stories. The first line of one has its task files, the others its steps; the rest follows from them: the fires,
// the notes to the user, and the account.
func stories(t *testing.T, name string) {
	t.Helper()
	goldentest.Stories(t, "stories/"+name+".txt", func(t *testing.T, story string) (got string) {
		story, _, _ = strings.Cut(story, "\n  ")
		files, steps, _ := strings.Cut(strings.TrimPrefix(story, "-"), "\n")
		inBubble(t, func(n *night) {
			n.play(strings.ReplaceAll(files, " | ", "|"), strings.ReplaceAll(strings.TrimSpace(steps), "\n", ", "))
			got = story + "\n  fires " + cmp.Or(n.fired(), "nothing")
			for _, note := range n.notes {
				got += "\n  note " + strings.ReplaceAll(note, "\n", " ⏎ ")
			}
			if rows := strings.Split(n.account(), ", "); len(rows) > 40 {
				got += fmt.Sprintf("\n  account %s, … %d rows …, %s", rows[0], len(rows), rows[len(rows)-1])
			} else if rows[0] != "" {
				got += "\n  account " + strings.Join(rows, ", ")
			}
		})
		return got
	})
}

// play writes files, separated by |, and takes steps: "start, sleep 1h, cannot fire x: no active". Each is a verb of the table below.
func (n *night) play(files, steps string) {
	n.t.Helper()
	if strings.Contains(steps, "kill") && !strings.Contains(steps, "snap") {
		n.disk = map[string][]byte{}
	}
	for one := range strings.SplitSeq(files, "|") {
		if one != "" {
			n.task(one)
		}
	}
	for one := range strings.SplitSeq(steps, ", ") {
		step, refused := strings.CutPrefix(one, "cannot ")
		words := ""
		if refused {
			step, words, _ = strings.Cut(step, ": ")
		}
		err := n.step(step)
		synctest.Wait()
		if refused && (err == nil || !strings.Contains(err.Error(), words)) || !refused && err != nil {
			n.t.Errorf("%s: %v", one, err)
		}
	}
}

func (n *night) step(text string) error {
	n.t.Helper()
	verb, rest, _ := strings.Cut(text, " ")
	name, more, _ := strings.Cut(rest, " ")
	switch verb {
	// The bot, the clock and the disk.
	case "start":
		n.start()
	case "stop":
		n.stop()
	case "sleep":
		n.sleep(span(n.t, rest))
	case "jump":
		n.jump(span(n.t, rest))
	case "snap":
		n.with(n.snap)
	case "kill": // at the last fire, or at snap
		n.stop()
		for path, data := range n.disk {
			testkit.Must(n.t, os.WriteFile(path, data, 0o600))
		}
	case "write":
		n.put(name, more)
	case "own": // as a bot does, so that the directory may be missing
		_, err := n.dir.Lock() // until the end of the test
		return err
	case "mkdir":
		return os.Mkdir(n.dir.Path(name), 0o700)
	case "rename":
		return os.Rename(n.dir.Path(name), n.dir.Path(more))
	case "remove", "drop":
		for _, rel := range []string{rest, "routines/" + rest + ".md", "reminders/" + rest + ".md"} {
			n.remove(rel)
		}
	case "put", "edit":
		n.task(rest)
	case "approve": // the text of the only task
		n.kept = n.only()
		testkit.Must(n.t, routines.KeepText(n.dir, []byte(n.kept)))
	case "agent": // edits it: "Call" to "Do not call"
		from, to, _ := strings.Cut(rest, " to ")
		text := strings.NewReplacer("Ada", "agent", from, to).Replace(n.kept)
		n.edits[routines.Digest([]byte(text))] = routines.Digest([]byte(n.kept))
		n.put("reminders/b.md", text)
		if n.loop != nil {
			n.look()
		}
	case "reread": // the files, and the loop does not know it yet
		n.loop.index.Apply(watch.Batch{Full: true})
	case "hold": // what the loop does not know yet
		return n.loop.holds.change(n.dir, false, func(all map[key]held) {
			for _, k := range []key{routineKey(rest), reminderKey(rest)} {
				all[k] = held{Hold: Hold{Since: n.clock(), Paused: true}}
			}
		})
	// The user and the core.
	case "fire":
		return n.loop.FireNow(rest)
	case "beside":
		return n.loop.FireBeside(rest)
	case "keep":
		if !n.loop.Keep(rest) {
			return errors.New("it does not run")
		}
	case "runs":
		if !n.loop.orders.runs(routineKey(rest)) {
			return errors.New("it does not run")
		}
	case "pause": // a because of a reason, if its own run does
		return n.hold(name, Hold{Paused: true, Reason: strings.TrimPrefix(more, "because ")})
	case "resume":
		return n.hold(rest, Hold{})
	case "snooze":
		until, why, _ := strings.Cut(more, " because ")
		return n.hold(name, Hold{Until: n.at(until), Reason: why})
	case "restore":
		if _, err := routines.RestoreTask(n.dir, time.Now(), rest); err != nil {
			return err
		}
	case "refuse":
		t, _ := n.loop.Set().Find(rest)
		_, err := n.loop.Refuse(t)
		return err
	case "judge":
		n.waits = rest
		if n.loop != nil {
			n.loop.Judge()
		}
	case "work":
		n.with(func() { n.work[""] = n.doing(rest) })
	case "works":
		n.with(func() { n.work[name] = n.doing(more) })
	case "ended": // a for 00:10 at 00:11, in addition to what is known to have ended
		due, begun, _ := strings.Cut(strings.TrimPrefix(more, "for "), " at ")
		others := n.ended
		n.ended = func(id string, runAt, since time.Time) bool {
			return id == name && runAt.Equal(n.at(due)) && !n.at(begun).Before(since) || others != nil && others(id, runAt, since)
		}
	case "usual":
		n.with(func() { n.facts.Habit = usual(span(n.t, rest)) })
	case "busy": // 09:03 until 09:30
		from, to, _ := strings.Cut(rest, " until ")
		n.with(func() { n.facts.Busy = []leeway.Busy{{From: n.at(from), To: n.at(to), Why: "conversation"}} })
	case "broke": // until 06:00
		if n.purse == nil {
			n.purse = &purse{}
		}
		n.purse.fill(n.at(more))
	case "paid":
		n.purse.fill(time.Time{})
	case "free":
		n.purse = nil
	case "money":
		n.loop.MoneyChanged()
	// What is seen.
	case "as": // a command, while the bot is there or not: as command people …
		loop := n.loop
		defer func() { n.loop = loop }()
		n.loop = made(n.dir, nil)
		n.loop.now = n.clock
		return n.step(more)
	case "kept", "gone":
		if !strings.Contains(rest, "/") {
			rest = "reminders/" + rest + ".md"
		}
		n.wantFile(rest, verb == "kept")
	case "mark":
		n.with(func() { n.mark = n.changed })
	case "woken", "asleep":
		n.with(func() {
			if woken := n.changed > n.mark; woken != (verb == "woken") {
				n.t.Errorf("the dashboard was woken: %v", woken)
			}
		})
	case "look":
	default:
		got, err := n.sees(verb, name)
		if strings.Contains("contains row file next task entry", verb) {
			rest = more
		}
		n.wantText(text, strings.ReplaceAll(rest, " / ", ", "), got)
		return err
	}
	if verb == "look" || verb == "edit" || verb == "drop" || verb == "restore" {
		n.look()
	}
	return nil
}

// only returns the text of the only reminder.
func (n *night) only() string {
	data, err := n.dir.Read("reminders/b.md")
	testkit.Must(n.t, err)
	return string(data)
}

// sees returns what a verb looks at.
func (n *night) sees(verb, name string) (string, error) {
	n.mu.Lock()
	lists := map[string][]string{"notes": n.notes, "commits": n.commits, "reports": n.reports, "asked": n.asked, "tickets": n.tickets, "names": n.names}
	n.mu.Unlock()
	if list, ok := lists[verb]; ok {
		return strings.Join(list, ", "), nil
	}
	now := n.clock()
	switch verb {
	case "account":
		return n.account(), nil
	case "rows":
		return fmt.Sprint(strings.Count(n.account(), ", ") + 1), nil
	case "people":
		return strings.Join(past(n.loop.Forward(now, "").Told(), now), ", "), nil
	case "agents":
		return strings.Join(past(n.loop.Forward(now, "").Entries, now), ", "), nil
	case "entries":
		return strings.Join(brief(n.loop.View(now).Entries), ", "), nil
	case "missed":
		return strings.Join(brief(n.loop.View(now).Missed), ", "), nil
	case "forward":
		return strings.Join(brief(n.loop.Forward(now, "").Entries), ", "), nil
	case "day":
		return strings.Join(brief(n.loop.View(now).Day), ", "), nil
	case "next": // three of a task
		return strings.Join(brief(n.loop.NextOf(name, now, 3)), ", "), nil
	case "task": // "at 9:00, every day; 02 00:00 to 02 02:00; ended on 2 January 2000"
		for _, v := range n.loop.View(now).Tasks {
			if v.ID == name {
				all := []string{v.When, moments(v.Next) + " to " + moments(v.Until), v.Ended, v.Held, v.Stopped, v.Waits}
				return strings.Join(slices.DeleteFunc(all, func(one string) bool { return one == "" }), "; "), nil
			}
		}
		return "", nil
	case "entry": // of the day
		for _, e := range n.loop.View(now).Day {
			if e.ID == name {
				return e.Title + " | " + e.Label + " | " + e.Description, nil
			}
		}
		return "", nil
	case "outcome":
		return string(readRecord(n.dir, slog.New(slog.DiscardHandler)).Routines["a"].Outcome), nil
	case "row": // the first entry of a task: "09:00–11:00" or "10:05 reason"
		for _, e := range n.loop.View(now).Day {
			if text := e.FireTime.Format("15:04"); e.ID == name {
				if !e.Until.IsZero() {
					text += "–" + e.Until.Format("15:04")
				}
				return strings.TrimSpace(text + " " + e.Reason), nil
			}
		}
		return "", nil
	case "file": // in force for a command
		if r, ok := Files(n.dir, time.UTC).RoutineByID(name); ok {
			return r.Path, nil
		}
		return "", nil
	case "was":
		if n.before == (Hold{}) {
			return "free", nil
		}
		return n.before.Words(now) + " since " + hour(n.before.Since), nil
	case "firm":
		return fmt.Sprint(n.purse.firm), nil
	case "holds":
		data, _ := n.dir.Read(holdsFile)
		return string(data), nil
	case "contains":
		data, err := n.dir.Read(name)
		return string(data), err
	case "logs":
		return n.log.String(), nil
	}
	return "", fmt.Errorf("%q is no step", verb)
}

// hold gives the loop an order.
func (n *night) hold(id string, h Hold) (err error) {
	n.before, err = n.loop.Hold(id, h)
	return err
}

// doing returns what a run does.
func (n *night) doing(what string) func(ctx context.Context, d Due) error {
	ends := map[string]error{
		"ok": nil, "nothing new": routines.ErrNothingNew, "nothing said": routines.ErrNothingSaid,
		"cut off": fmt.Errorf("the turn: %w", routines.ErrCutOff), "fails": errors.New("no route"),
	}
	if err, ok := ends[what]; ok {
		return func(context.Context, Due) error { return err }
	}
	var tries atomic.Int32 // runs may be under way side by side
	return func(ctx context.Context, d Due) error {
		switch try := tries.Add(1); what {
		case "panics":
			panic("no")
		case "hangs", "hangs and fails", "hangs quietly":
			<-ctx.Done()
			return map[string]error{"hangs": ctx.Err(), "hangs and fails": errors.New("no")}[what]
		case "unrecorded twice":
			if try < 3 {
				return fmt.Errorf("no space: %w", routines.ErrUnrecorded)
			}
		case "put off", "put off for money":
			return &PutOffError{Why: "quiet", Until: n.clock().Add(time.Hour), Broke: what != "put off"}
		case "ends slowly": // once the bot does
			<-ctx.Done()
			time.Sleep(10 * time.Second)
			n.with(func() { n.notes = append(n.notes, "it has ended") })
		case "is shown": // the conversation has the reminder before its run is recorded
			n.wantFile("reminders/a.md", true)
			d.Finish()
			n.wantFile("reminders/a.md", false)
		case "breaks state": // which has the lock of the folder, without which no file is removed
			n.remove("state")
			n.put("state", "in the way")
		case "mends state":
			n.remove("state")
		case "removes it":
			n.remove("reminders/a.md")
		case "breaks it":
			n.put("reminders/a.md", "---\nrun-at: soon\n---\n")
		case "fails slowly":
			time.Sleep(time.Minute)
			return errors.New("no route")
		case "is edited":
			return n.step("agent 09:00 to 12:00")
		case "moves it":
			n.task("a @ 02 00:00; until: done; again: 10")
		default:
			time.Sleep(span(n.t, what))
		}
		return nil
	}
}

// span reads "90m", "-1h" and "2d12h".
func span(t testing.TB, text string) time.Duration {
	t.Helper()
	days, rest, found := strings.Cut(text, "d")
	if !found {
		days, rest = "0", text
	}
	var n int
	_, err := fmt.Sscan(days, &n)
	testkit.Must(t, err)
	d := time.Duration(0)
	if rest != "" {
		d, err = time.ParseDuration(rest)
		testkit.Must(t, err)
	}
	return time.Duration(n)*day + d
}

// brief describes entries as "12:30 a snoozed until 13:00 held".
func brief(list []Entry) (out []string) {
	for _, e := range list {
		line := strings.TrimSpace(fmt.Sprintf("%s %s %s", e.FireTime.Format("15:04"), e.ID, e.Tag))
		if e.Held {
			line += " held"
		}
		out = append(out, line)
	}
	return out
}

// moments is a time, or "-" for none.
func moments(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return hour(at)
}

// past describes the entries up to now.
func past(list []Entry, now time.Time) []string {
	return brief(slices.DeleteFunc(slices.Clone(list), func(e Entry) bool { return e.FireTime.After(now) }))
}

// usual makes the user active at a time of every day before the bubble starts.
func usual(at time.Duration) *leeway.Habit {
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	var active []time.Time
	for back := 1; back <= 28; back++ {
		active = append(active, begin.AddDate(0, 0, -back).Add(at))
	}
	return leeway.NewHabit(active, begin, time.UTC)
}

// purse has money for runs from a moment on.
type purse struct {
	mu    sync.Mutex
	until time.Time
	firm  int
}

func (p *purse) fill(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = until
}

func (p *purse) At(now time.Time) func(*routines.Task) Price {
	p.mu.Lock()
	defer p.mu.Unlock()
	price := Price{Dollars: 0.25}
	if now.Before(p.until) {
		price.Until = p.until
	}
	return func(*routines.Task) Price { return price }
}

func (p *purse) Reserve(t routines.Task, now time.Time, firm bool) (string, time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if firm {
		p.firm++
	} else if now.Before(p.until) {
		return "", p.until
	}
	return "ticket of " + t.ID, time.Time{}
}
