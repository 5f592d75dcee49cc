package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"ollimbot/discord/discordtest"
)

// death is when and how a life ends, counted from its start.
type death struct {
	kill time.Duration
	term time.Duration // when it is asked to stop before that; 0 for never
	// after is how long after the next thing that arrives outside it dies; 0 for
	// whenever it is.
	after time.Duration
	name  string
}

// dies draws a death: any moment of a life, with more of them in the first
// 50 ms, after the program was asked to stop, and just behind something that
// has arrived. Some lives are long: messages to Discord are a second apart.
func (b *batch) dies() death {
	ms := func(n int) time.Duration { return b.slowly(time.Duration(1+b.rng.IntN(n*1000)) * time.Microsecond) }
	switch n := b.rng.IntN(20); {
	case n < 3:
		return death{kill: time.Duration(b.rng.IntN(50_000)) * time.Microsecond, name: "at the start"}
	case n < 7:
		term := b.slowly(30*time.Millisecond) + ms(250)
		return death{kill: term + ms(150), term: term, name: "while stopping"}
	case n < 10:
		return death{kill: b.slowly(40*time.Millisecond) + ms(2500), name: "in the middle"}
	case n < 13:
		return death{kill: b.slowly(2500 * time.Millisecond), after: ms(8), name: "behind an arrival"}
	}
	return death{kill: b.slowly(40*time.Millisecond) + ms(300), name: "in the middle"}
}

// live is one life of the program, from its start to its kill, and what is sent
// meanwhile. Everything is drawn before the program starts.
func (b *batch) live() {
	b.postpone()
	d := b.dies()
	acts := b.acts(min(d.kill, b.slowly(400*time.Millisecond)))
	armed := time.Duration(b.rng.IntN(1500)) * time.Millisecond
	b.start()
	cmd, begun := b.cmd, time.Now()
	b.note("round %d, killed %s after %s (asked after %s)", b.round, d.name, d.kill, d.term)
	ctx, over := context.WithCancel(context.Background())
	defer over()
	var g sync.WaitGroup
	for _, a := range acts {
		g.Go(func() {
			if sleepUntil(ctx, begun.Add(a.at)) {
				a.do(ctx)
			}
		})
	}
	if d.term > 0 {
		g.Go(func() {
			if sleepUntil(ctx, begun.Add(d.term)) {
				_ = cmd.Process.Signal(syscall.SIGTERM) // it may be dead
			}
		})
	}
	if d.after > 0 && sleepUntil(ctx, begun.Add(armed)) {
		b.arrival(begun.Add(d.kill))
		sleepUntil(ctx, time.Now().Add(d.after))
	} else {
		sleepUntil(ctx, begun.Add(d.kill))
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have stopped by itself
	if cmd.Wait() == nil {
		d.name = "after the end"
	}
	over()
	g.Wait()
	b.tally.died["killed "+d.name]++
}

// arrival waits for the next message at Discord, at most until a moment.
func (b *batch) arrival(limit time.Time) {
	ctx, stop := context.WithDeadline(context.Background(), limit)
	defer stop()
	before := len(b.fake.State().Messages)
	_, _ = b.fake.WaitContext(ctx, "a message", func(s discordtest.State) bool { return len(s.Messages) > before })
}

// sleepUntil waits for a moment; false means that ctx has ended before.
func sleepUntil(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// deed is something that the harness does at a moment of a life.
type deed struct {
	at time.Duration
	do func(ctx context.Context)
}

// acts draws what a life sees in its first part. In half of the lives nobody
// talks, or more: no ping is sent while the user is in a conversation.
func (b *batch) acts(life time.Duration) (list []deed) {
	chance := func(percent int) bool { return b.rng.IntN(100) < percent }
	moment := func(most time.Duration) time.Duration { return time.Duration(b.rng.Int64N(max(1, int64(most)))) }
	remind := func(kind sending) {
		x, at := b.add(kind), moment(life)
		// What is due before the program is up is late, and waits for seconds.
		due := max(at, b.upAfter) + moment(60*time.Millisecond)
		list = append(list, deed{at, func(context.Context) { b.remind(x, due-at) }})
	}
	for range b.rng.IntN(3) {
		x := b.add(aHook)
		must(b.write("webhooks/"+x.id+".md", hookSpec(x)))
		list = append(list, deed{moment(life), func(ctx context.Context) { b.post(ctx, x) }})
	}
	remind(aReport)
	if chance(60) && strings.Count(b.pending(), `"message"`) < 5 { // ten may wait, then the oldest make room
		for range 1 + b.rng.IntN(3) {
			remind(aPing)
		}
		return list
	}
	if chance(60) {
		remind(aTalk)
	}
	for range 1 + b.rng.IntN(2) {
		x := b.add(aMessage)
		list = append(list, deed{moment(life), func(context.Context) { b.say(x, "say heard.") }})
	}
	if chance(40) {
		x := b.add(aPlan)
		list = append(list, deed{moment(life), func(context.Context) { b.say(x, planLine(x), "say planned-"+x.mark) }})
	}
	waiting := b.plans()
	for _, x := range b.things {
		if file, ok := waiting[x.mark]; ok && !x.moved && chance(50) {
			list = append(list, deed{moment(life), b.moving(x, file)})
		}
	}
	return list
}

// postpone does to the reminders that are left what a user might: those that
// have not fired get a new time soon, so that they are not late; most of those that
// a kill has cut off are removed, and some stay: they fire again, marked as late,
// after the seconds that late ones wait. One whose run has ended is nobody's but the
// program's.
func (b *batch) postpone() {
	last, soon := b.round == b.rounds, 0
	for _, x := range b.things {
		file := filepath.Join(b.root, "reminders", x.mark+"md")
		data, err := os.ReadFile(file)
		switch {
		case err != nil: // it is none, or gone
		case x.ended > 0:
			b.note("%s stands in its file although its run has ended", x.mark)
		case x.kept:
		case b.tells(":"+x.id+"]") > 0 && b.again > 0:
			x.kept = true
			b.again--
		case b.tells(":"+x.id+"]") > 0:
			b.note("%s is removed", x.mark)
			must(os.Remove(file))
		case !last:
			b.due(file, data, b.upAfter+time.Duration(b.rng.IntN(100))*time.Millisecond)
		case soon < 3:
			soon++
			b.due(file, data, time.Second)
		default: // still pending at the end
			b.due(file, data, time.Hour)
		}
	}
}

// due gives a reminder another time.
func (b *batch) due(file string, data []byte, in time.Duration) {
	at := time.Now().Add(in).UTC().Format(time.RFC3339Nano)
	text := runAtLine().ReplaceAllString(string(data), fmt.Sprintf("run-at: %q", at))
	if err := b.write("reminders/"+filepath.Base(file), text); err != nil {
		b.note("%s has no new time: %v", file, err)
	}
}

// say writes a message of the user whose script the engine plays.
func (b *batch) say(x *thing, lines ...string) {
	text := x.mark + "\n\n```script\n"
	for _, l := range lines {
		text += l + "\n"
	}
	b.fake.User().Say(text + "```")
	x.sent = true
	b.note("said %s", x.mark)
}

// planLine makes the agent add a reminder for the main session.
func planLine(x *thing) string {
	return fmt.Sprintf(`call add_reminder {"prompt":%q,"delay_minutes":60,"foreground":true}`, x.mark+" Water the plants.")
}

// moving has the agent move a plan: it is cancelled and set again with the same
// words. Each plan is moved once, so that nobody cancels an id that is gone.
func (b *batch) moving(x *thing, file string) func(context.Context) {
	data, err := os.ReadFile(file)
	must(err)
	x.moved = true
	m, id := b.add(aMessage), ""
	if found := idLine().FindStringSubmatch(string(data)); found != nil {
		id = found[1]
	}
	return func(context.Context) {
		b.say(m, fmt.Sprintf(`call cancel_reminder {"reminder_id":%q}`, id), planLine(x), "say moved-"+x.mark)
	}
}

// remind writes a reminder's file that is due soon.
func (b *batch) remind(x *thing, in time.Duration) {
	at := time.Now().Add(in)
	var text string
	switch x.kind {
	case aReport:
		// The ping is seen outside: what was reported before it had been accepted.
		text = reminder(x, at, true, fmt.Sprintf(`call report_updates {"message":%q}`, x.mark),
			fmt.Sprintf(`call ping_user {"message":%q,"critical":true}`, "reported-"+x.mark))
	case aPing:
		text = reminder(x, at, true, fmt.Sprintf(`call ping_user {"message":%q}`, x.mark))
	default:
		text = reminder(x, at, false, "say "+x.mark)
	}
	err := b.write("reminders/"+x.mark+"md", text)
	x.sent = err == nil
	b.note("reminder %s, error %v", x.mark, err)
}

// hookSpec is a webhook that is delivered to once: its id tells the delivery.
func hookSpec(x *thing) string {
	return fmt.Sprintf("---\nid: %q\nisolated: true\nupdate-main-session: \"freely\"\nfields:\n  type: object\n  properties:\n    n: {type: integer}\n---\n"+
		"Delivered.\n\n```script\ncall report_updates {\"message\":%q}\n```\n", x.id, x.mark)
}

// post delivers as soon as somebody takes it.
func (b *batch) post(ctx context.Context, x *thing) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for ctx.Err() == nil {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/hook/%s", b.port, x.id), bytes.NewBufferString(`{"n":1}`))
		if err != nil {
			b.note("webhook %s: %v", x.mark, err)
			return
		}
		r.Header.Set("Authorization", "Bearer "+b.secret)
		answer, err := client.Do(r)
		if err == nil {
			_ = answer.Body.Close() // only the status counts
			x.sent = answer.StatusCode == http.StatusAccepted
			b.note("webhook %s: %d", x.mark, answer.StatusCode)
			return
		}
		if !refused(err) {
			b.note("webhook %s: %v", x.mark, err)
			return
		}
		sleepUntil(ctx, time.Now().Add(3*time.Millisecond))
	}
}

// born is the first life: until it has seen Discord once, the program takes what
// stands there for old.
func (b *batch) born() {
	b.start()
	begun := time.Now()
	b.wait("the first connection", func() bool {
		data, err := os.ReadFile(filepath.Join(b.root, "state", "discord.json"))
		return err == nil && bytes.Contains(data, []byte("channel")) && b.fake.State().Up()
	})
	b.upAfter = min(max(time.Since(begun), usual), 5*usual)
	b.stop()
}

// usual is how long the program takes to come up, where nothing else is going on.
const usual = 100 * time.Millisecond

// slowly stretches a time as the machine is slower than usual, so that a life
// there has as much in it.
func (b *batch) slowly(d time.Duration) time.Duration { return d * b.upAfter / usual }

// settle lets the program live until nothing is left to do, and ends it kindly.
func (b *batch) settle() {
	b.round = b.rounds
	b.postpone()
	for _, pattern := range []string{"*.lock", "refs/heads/*.lock"} { // the last life would have to wait for a minute
		locks, err := filepath.Glob(filepath.Join(b.root, ".git", pattern))
		must(err)
		for _, lock := range locks {
			must(os.Remove(lock))
			b.tally.notes["locks that a killed git has left"]++
		}
	}
	b.start()
	b.note("the last life")
	b.wait("messages, webhooks and runs", b.idle)
	waiting := b.plans()
	for _, x := range b.things {
		if file, ok := waiting[x.mark]; ok && !x.moved {
			b.moving(x, file)(context.Background())
		}
	}
	b.wait("the last moves", b.idle)
	if b.git && !b.wait("git", b.committed) {
		b.fault("git never caught up with the agent's reminders")
	}
	for _, file := range b.plans() { // now they are due
		if data, err := os.ReadFile(file); err == nil {
			b.due(file, data, 50*time.Millisecond)
		}
	}
	b.wait("the reminders", b.idle)
	for range 3 { // an update may come in behind the turn that takes the others
		if b.updatesGone() {
			break
		}
		b.say(b.add(aMessage), "say heard.")
		b.wait("the updates", b.idle)
	}
	b.stop()
}

// stop asks the program to end, which it has to do in time and without an error.
func (b *batch) stop() {
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		b.fault("the last life ended early: %v", err)
	}
	late := time.AfterFunc(settling, func() { _ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL) })
	defer late.Stop()
	if err := b.cmd.Wait(); err != nil {
		b.fault("the last life ended with %v", err)
	}
}

// wait waits for something that should come soon. A program that lets it wait in
// vain hangs: it is aborted, so that the log tells where each goroutine stands.
func (b *batch) wait(what string, ok func() bool) bool {
	limit := time.Now().Add(4 * settling)
	for !ok() {
		if time.Now().After(limit) {
			b.fault("waited in vain for %s", what)
			_ = b.cmd.Process.Signal(syscall.SIGABRT) // it may have ended by itself
			return false
		}
		sleepUntil(context.Background(), time.Now().Add(15*time.Millisecond))
	}
	return true
}
