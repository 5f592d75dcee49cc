package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"ollimbot/core/base/lazyregexp"
	"ollimbot/discord/discordtest"
)

// play is all lives of a batch: the first, those that end in a kill, and the last one, which ends by itself.
func (b *batch) play() {
	b.born()
	for b.round = range b.rounds {
		b.live()
		b.inspect()
	}
	b.settle()
	b.inspect()
}

// start starts the program; its log goes to the batch's. The engine takes no time at all, or some milliseconds for a call,
// so that a kill finds turns of every length.
func (b *batch) start() {
	pace := []string{"0", "0", "0.02", "0.1"}[b.rng.IntN(4)]
	cmd := exec.Command(b.exe, "run", "--headless", "--engine", "script", "--pace", pace)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // killed with what it has started
	path := ""
	if b.git {
		path = os.Getenv("PATH")
	}
	cmd.Env = append(onDiscord(filepath.Dir(b.root), b.root, b.fake),
		"PATH="+path, fmt.Sprintf("WEBHOOK_PORT=%d", b.port), "WEBHOOK_SECRET="+b.secret)
	cmd.Stdout, cmd.Stderr = b.log, b.log
	must(cmd.Start())
	b.cmd = cmd
}

// stop asks the program to end, which it has to do in time and without an error.
func (b *batch) stop() {
	late := time.AfterFunc(settling, func() { _ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL) })
	defer late.Stop()
	if err := errors.Join(b.cmd.Process.Signal(syscall.SIGTERM), b.cmd.Wait()); err != nil {
		b.wrong("the last life ended with %v", err)
	}
}

// usual is how long the program takes to come up, where nothing else is going on.
const usual = 100 * time.Millisecond

// slowly stretches a time as the machine is slower than usual, so that a life there has as much in it.
func (b *batch) slowly(d time.Duration) time.Duration { return d * b.upAfter / usual }

// born is the first life: until it has seen Discord once, the program takes what is there for old.
func (b *batch) born() {
	b.start()
	begun := time.Now()
	b.wait("the first connection", func() bool {
		return strings.Contains(stored(b.root, "state/discord.json"), "channel") && b.fake.State().Up()
	})
	b.upAfter = min(max(time.Since(begun), usual), 5*usual)
	b.stop()
}

// death is when and how a life ends, counted from its start.
type death struct {
	name  string
	kill  time.Duration
	term  time.Duration // when it is asked to stop before that; 0 for never
	after time.Duration // so long after the next arrival outside it dies, at the latest at kill; 0 for whenever it is
}

// dies draws a death: any moment of a life, with more of them in the first 50 ms, after the program was asked to stop, and
// just behind something that has arrived. Some lives are long: messages to Discord are a second apart.
func (b *batch) dies() death {
	ms := func(n int) time.Duration { return b.slowly(time.Duration(1+b.rng.IntN(n*1000)) * time.Microsecond) }
	switch n := b.rng.IntN(20); {
	case n < 3:
		return death{name: "at the start", kill: time.Duration(b.rng.IntN(50_000)) * time.Microsecond}
	case n < 7:
		term := b.slowly(30*time.Millisecond) + ms(250)
		return death{name: "while stopping", kill: term + ms(150), term: term}
	case n < 10:
		return death{name: "in the middle", kill: b.slowly(40*time.Millisecond) + ms(2500)}
	case n < 13:
		return death{name: "behind an arrival", kill: b.slowly(2500 * time.Millisecond), after: ms(8)}
	}
	return death{name: "in the middle", kill: b.slowly(40*time.Millisecond) + ms(300)}
}

// live is one life of the program, from its start to its kill, and what is sent meanwhile. Everything is drawn before the
// program starts.
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
	if d.term > 0 {
		acts = append(acts, deed{d.term, func(context.Context) { _ = cmd.Process.Signal(syscall.SIGTERM) }}) // it may be dead
	}
	var g sync.WaitGroup
	for _, a := range acts {
		g.Go(func() {
			if sleepUntil(ctx, begun.Add(a.at)) {
				a.do(ctx)
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
	b.tally["killed "+d.name]++
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
	select {
	case <-time.After(time.Until(at)):
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

// acts draws what a life sees in its first part. In half of the lives or more the user is silent: no ping is sent while the user
// is in a conversation.
func (b *batch) acts(life time.Duration) (list []deed) {
	chance := func(percent int) bool { return b.rng.IntN(100) < percent }
	moment := func(most time.Duration) time.Duration { return time.Duration(b.rng.Int64N(max(1, int64(most)))) }
	does := func(do func()) { list = append(list, deed{moment(life), func(context.Context) { do() }}) }
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
		does(func() { b.say(x, "say heard.") })
	}
	if chance(40) {
		x := b.add(aPlan)
		does(func() { b.say(x, planLine(x), "say planned-"+x.mark) })
	}
	for x, file := range b.plans() {
		if chance(50) {
			does(b.moving(x, file))
		}
	}
	return list
}

var (
	runAtLine = lazyregexp.New(`(?m)^run-at: "?([^"\n]*)"?$`)
	idLine    = lazyregexp.New(`(?m)^id: "?([^"\n]+)"?$`)
)

// plans are the reminder files of the agent that wait and were not moved yet.
func (b *batch) plans() map[*thing]string {
	found := map[*thing]string{}
	for _, f := range b.files("reminders/*.md") {
		text := stored(f) // it may be gone by now
		for _, x := range b.things {
			if x.kind == aPlan && !x.moved && strings.Contains(text, x.mark) {
				found[x] = f
			}
		}
	}
	return found
}

// postpone does to the reminders that are left what a user might: those that have not fired get a new time soon, so that
// they are not late; most of those that a kill has cut off are removed, and some stay: they fire again, marked as late, after
// the seconds that late ones wait. One whose run has ended is only the program's.
func (b *batch) postpone() {
	last, soon := b.round == b.rounds, 0
	for _, x := range b.things {
		file := filepath.Join(b.root, "reminders", x.mark+"md")
		fired := b.received(":"+x.id+"]") > 0
		switch {
		case !exists(file): // it is none, or gone
		case x.ended > 0:
			b.note("%s is in its file although its run has ended", x.mark)
		case x.kept:
		case fired && b.again > 0:
			x.kept = true
			b.again--
		case fired:
			b.note("%s is removed", x.mark)
			must(os.Remove(file))
		case !last:
			b.due(file, b.upAfter+time.Duration(b.rng.IntN(100))*time.Millisecond)
		case soon < 3:
			soon++
			b.due(file, time.Second)
		default: // still pending at the end
			b.due(file, time.Hour)
		}
	}
}

// due gives a reminder another time, if it is still there.
func (b *batch) due(file string, in time.Duration) {
	at := time.Now().Add(in).UTC().Format(time.RFC3339Nano)
	if text := runAtLine().ReplaceAllString(stored(file), fmt.Sprintf("run-at: %q", at)); text != "" {
		must(b.write("reminders/"+filepath.Base(file), text))
	}
}

// say writes a message of the user whose script the engine plays.
func (b *batch) say(x *thing, lines ...string) {
	b.fake.User().Say(x.words() + "\n" + strings.Join(lines, "\n") + "\n```")
	x.sent = true
	b.note("said %s", x.mark)
}

// words are how a message begins, as opposed to others that name its mark.
func (x *thing) words() string { return x.mark + "\n\n```script" }

// planLine makes the agent add a reminder for the main session.
func planLine(x *thing) string {
	return fmt.Sprintf(`call add_reminder {"prompt":%q,"delay_minutes":60,"foreground":true}`, x.mark+" Water the plants.")
}

// moving has the agent move a plan: it is cancelled and set again with the same words. Each plan is moved once, so that
// no id is cancelled that is gone.
func (b *batch) moving(x *thing, file string) func() {
	x.moved = true
	m, id := b.add(aMessage), ""
	if found := idLine().FindStringSubmatch(stored(file)); found != nil {
		id = found[1]
	}
	return func() {
		b.say(m, fmt.Sprintf(`call cancel_reminder {"reminder_id":%q}`, id), planLine(x), "say moved-"+x.mark)
	}
}

// remind writes a reminder's file that is due soon.
func (b *batch) remind(x *thing, in time.Duration) {
	script := "say " + x.mark
	switch x.kind {
	case aReport: // the ping is seen outside: what was reported before it had been accepted
		script = fmt.Sprintf("call report_updates {\"message\":%q}\ncall ping_user {\"message\":%q,\"critical\":true}", x.mark, "reported-"+x.mark)
	case aPing:
		script = fmt.Sprintf(`call ping_user {"message":%q}`, x.mark)
	}
	text := fmt.Sprintf("---\nid: %q\nrun-at: %q\nbackground: %[3]v\nisolated: %[3]v\nupdate-main-session: \"freely\"\ndescription: %[4]q\n---\n%[4]s\n\n"+
		"```script\n%[5]s\n```\n", x.id, time.Now().Add(in).UTC().Format(time.RFC3339Nano), x.kind != aTalk, x.mark, script)
	err := b.write("reminders/"+x.mark+"md", text)
	x.sent = err == nil
	b.note("reminder %s, error %v", x.mark, err)
}

// hookSpec is a webhook that is delivered to once: its id names the delivery.
func hookSpec(x *thing) string {
	return fmt.Sprintf("---\nid: %q\nisolated: true\nupdate-main-session: \"freely\"\nfields:\n  type: object\n  properties:\n    n: {type: integer}\n---\n"+
		"Delivered.\n\n```script\ncall report_updates {\"message\":%q}\n```\n", x.id, x.mark)
}

// post delivers as soon as something takes it.
func (b *batch) post(ctx context.Context, x *thing) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for ctx.Err() == nil {
		url := fmt.Sprintf("http://127.0.0.1:%d/hook/%s", b.port, x.id)
		r := sure(http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewBufferString(`{"n":1}`)))
		r.Header.Set("Authorization", "Bearer "+b.secret)
		answer, err := client.Do(r)
		if errors.Is(err, syscall.ECONNREFUSED) {
			sleepUntil(ctx, time.Now().Add(3*time.Millisecond))
			continue
		}
		if err == nil {
			_ = answer.Body.Close() // only the status counts
			x.sent = answer.StatusCode == http.StatusAccepted
		}
		b.note("webhook %s: sent %v, error %v", x.mark, x.sent, err)
		return
	}
}

// settle lets the program live until nothing is left to do, and ends it kindly.
func (b *batch) settle() {
	b.round = b.rounds
	b.postpone()
	for _, pattern := range []string{".git/*.lock", ".git/refs/heads/*.lock"} { // the last life would have to wait for a minute
		for _, lock := range b.files(pattern) {
			must(os.Remove(lock))
			b.tally["locks that a killed git has left"]++
		}
	}
	b.start()
	b.note("the last life")
	b.wait("messages, webhooks and runs", b.idle)
	for x, file := range b.plans() {
		b.moving(x, file)()
	}
	b.wait("the last moves", b.idle)
	if b.git {
		b.wait("git to catch up with the agent's reminders", func() bool {
			out, err := exec.Command("git", "-C", b.root, "status", "--porcelain", "--", "reminders/plan-*").Output()
			return err == nil && len(bytes.TrimSpace(out)) == 0
		})
	}
	for _, file := range b.files("reminders/plan-*.md") { // now they are due
		b.due(file, 50*time.Millisecond)
	}
	b.wait("the reminders", b.idle)
	// An update may come in behind the turn that takes the others.
	for tries := 0; tries < 3 && strings.Contains(b.pending(), "{"); tries++ {
		b.say(b.add(aMessage), "say heard.")
		b.wait("the updates", b.idle)
	}
	b.stop()
}

// wait waits for something that should come soon. A program that lets it wait in vain hangs: it is aborted, so that the
// log has what each goroutine is at.
func (b *batch) wait(what string, ok func() bool) {
	if !eventually(4*settling, ok) {
		b.wrong("waited in vain for %s", what)
		_ = b.cmd.Process.Signal(syscall.SIGABRT) // it may have ended by itself
	}
}
