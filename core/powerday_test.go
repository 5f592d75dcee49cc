package core

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/storage/config"
	"ollimbot/routines"
)

// promised is the guaranteed state, recorded while the bot was at rest.
type promised struct {
	At    time.Time
	Facts map[string]string // settings, numbers and files, by name
	Used  int               // paid pings of today
	// Pending are updates that wait, Given those that the conversation has been given, Taken those of
	// deliveries and of a reminder that were accepted, by their marks.
	Pending, Given, Taken []string
	Heard                 []string // messages of the user that the engine was sent
	// Refused says that something could not be done. It may have been done all the same, where a
	// file was replaced and the folder could not be synced.
	Refused bool
	// Digest is that of a message the engine has received; such a line contains nothing
	// else.
	Digest string
}

// marks distinguish things: u is the report of a run, t its task, w a message of the
// user.
var marks = regexp.MustCompile(`\b[utw][0-9]{3}\b`)

// powered is a bot in a bubble, with everything it has accepted.
type powered struct {
	h      home
	b      *Bot
	sent   []string // all that the engine was sent
	logged bytes.Buffer
	taken  []string
	// had are the messages the engine had before; heard is called with each new one.
	had   map[string]bool
	heard func(text string)
	// failed collects refused calls; nil if none are allowed.
	failed *[]error
}

// start starts a bot whose webhook port is taken: deliveries are passed to it directly.
func (p *powered) start(port int) (end func()) {
	var mu sync.Mutex
	hears := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		p.heard(text)
		p.sent = append(p.sent, text)
	}
	p.b = p.h.bot(remembering{&recorder{Engine: offline(), hears: hears}, p}, func(o *Options) {
		o.Env = config.Env{Zone: p.h.zone, WebhookPort: port, WebhookSecret: "hush"}
		o.Log = slog.New(slog.NewTextHandler(&p.logged, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.b.Run(ctx) }()
	synctest.Wait()
	return func() {
		stop()
		if err := <-done; err != nil {
			p.fails(fmt.Errorf("run ended: %w", err))
		}
	}
}

// do carries out a command, and reports whether it succeeded.
func (p *powered) do(c command.Value) bool {
	p.h.t.Helper()
	_, err := p.b.Do(p.h.t.Context(), c)
	if err != nil {
		p.fails(fmt.Errorf("%T: %w", c, err))
	}
	return err == nil
}

// fails notes what was refused, where that is allowed.
func (p *powered) fails(err error) {
	p.h.t.Helper()
	if p.failed == nil {
		p.h.t.Fatal(err)
	}
	*p.failed = append(*p.failed, err)
}

// say sends a message with a mark.
func (p *powered) say(mark string) {
	p.do(command.Say{Text: "please " + mark})
	time.Sleep(time.Minute)
}

// deliver passes a webhook payload to the bot, like its server.
func (p *powered) deliver(marks ...string) {
	for _, mark := range marks {
		r := httptest.NewRequest(http.MethodPost, "/hook/ci", strings.NewReader(fmt.Sprintf(`{"n": %s}`, mark[1:])))
		r.Header.Set("Authorization", "Bearer hush")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		p.b.webhooks.server.ServeHTTP(w, r)
		if w.Code == http.StatusAccepted {
			p.taken = append(p.taken, mark)
		} else {
			p.fails(fmt.Errorf("the delivery %s was answered with %d: %s", mark, w.Code, w.Body))
		}
	}
}

// now returns the guaranteed state, while the bot is at rest.
func (p *powered) now() promised {
	synctest.Wait()
	p.b.index.Scan() // there is no file watcher here
	s := p.b.Snapshot()
	out := promised{At: time.Now(), Facts: map[string]string{
		"capacity": strconv.Itoa(s.Budget.State.Capacity), "refill": strconv.Itoa(s.Budget.State.RefillRateMinutes),
		"cap": fmt.Sprint(s.Config.DailyCap), "model": s.Config.ModelMain,
	}, Used: s.Budget.State.DailyUsed, Taken: p.taken, Refused: p.failed != nil && len(*p.failed) > 0}
	for _, r := range p.b.index.Set().Reminders {
		if r.RunAt.After(s.At) { // the others repeat
			out.Facts["file "+r.ID] = r.Digest
		}
	}
	for _, r := range p.b.index.Set().Routines {
		out.Facts["file "+r.ID] = r.Digest
	}
	for _, v := range s.Schedule.Tasks {
		if _, ok := out.Facts["file "+v.ID]; ok {
			out.Facts["held "+v.ID] = fmt.Sprint(v.Paused, v.Snoozed.Unix())
		}
	}
	for _, u := range s.Updates {
		out.Pending = append(out.Pending, marks.FindAllString(u.Message, -1)...)
	}
	for mark := range p.given() {
		if mark[0] == 'w' {
			out.Heard = append(out.Heard, mark)
		} else {
			out.Given = append(out.Given, mark)
		}
	}
	return out
}

// given counts the marks the conversation was given: messages of the user, and the
// updates delivered with them. Runs are given neither.
func (p *powered) given() map[string]int {
	given := map[string]int{}
	for _, text := range p.sent {
		if strings.Contains(text, "```script\n") && !strings.Contains(text, "please w") {
			continue
		}
		for _, m := range marks.FindAllString(text, -1) {
			given[m]++
		}
	}
	return given
}

// remembering is an engine that knows after a restart which messages it was sent, like
// engines with sessions on disk.
type remembering struct {
	*recorder
	p *powered
}

func (r remembering) HasMessage(_ context.Context, _ string, digest [sha256.Size]byte) (bool, error) {
	return r.p.had[fmt.Sprintf("%x", digest)], nil
}

// prepareTheDay writes the files of the day, which exist and are durable before it
// starts.
func prepareTheDay(h home) {
	const fields = "fields:\n  type: object\n  properties:\n    n: {type: integer}\n"
	h.put(task("webhooks/ci.md", "id: \"ci\"\nisolated: true\nupdate-main-session: \"always\"\n"+fields,
		"The build number is {n}.\n\n"+plays(`call report_updates {"message":"u{n}"}`)))
	for i := range 6 {
		id := fmt.Sprintf("bbbb%04d", i)
		const front = "id: %q\nrun-at: %q\nbackground: true\nisolated: %v\nupdate-main-session: \"always\"\ndescription: \"Task t%03d\"\n"
		h.put(task("reminders/"+id+".md", fmt.Sprintf(front,
			id, time.Date(2000, 1, 1, 0, 3+4*i, 0, 0, time.UTC).Format(time.RFC3339), i%2 == 0, i),
			"Do it.\n\n"+plays(`call ping_user {"message":"Look."}`, fmt.Sprintf(`call report_updates {"message":"u%03d"}`, i))))
	}
	h.put(task("routines/often.md", "id: \"aaaa0001\"\ncron: \"*/20 * * * *\"\nbackground: true\n", "Look around.\n\n"+plays("say nothing new")))
}

// steps are the steps of the day. The bot comes to rest after each.
func (p *powered) steps() []func() {
	one := func(c command.Value) func() { return func() { p.do(c) } }
	wait := func(d time.Duration) func() { return func() { time.Sleep(d) } }
	say := func(mark string) func() { return func() { p.say(mark) } }
	deliver := func(marks ...string) func() {
		return func() {
			p.deliver(marks...)
			time.Sleep(time.Minute)
		}
	}
	return []func(){
		func() {},
		say("w001"),
		one(command.SetBudget{Capacity: new(7)}),
		one(command.SetConfig{Key: "daily_cap", Value: "9"}),
		wait(4 * time.Minute), // the first reminder
		deliver("u101"),
		say("w002"),
		one(command.Pause{ID: "aaaa0001", Paused: true}),
		one(command.SetBudget{Capacity: new(4), RefillMinutes: new(30)}),
		wait(4 * time.Minute),
		func() {
			words := "Do it.\n\n" + plays(`call report_updates {"message":"u201"}`)
			if p.do(command.AddTask{At: p.b.now().Add(9 * time.Minute), Description: "Task t201", Message: words}) {
				p.taken = append(p.taken, "u201")
			}
		},
		deliver("u102", "u103"),
		say("w003"),
		p.rewrite,
		one(command.Pause{ID: "aaaa0001"}),
		wait(4 * time.Minute),
		one(command.DeliverNow{}),
		wait(time.Minute),
		one(command.Snooze{ID: "bbbb0005", Until: time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)}),
		func() {
			if u := p.b.Snapshot().Updates; len(u) > 0 {
				p.do(command.DiscardUpdate{Key: u[0].Key})
			}
		},
		one(command.SetConfig{Key: "model_main", Value: "opus"}),
		wait(6 * time.Minute),
		say("w004"),
		one(command.DeleteTask{ID: "bbbb0005"}),
		deliver("u104"),
		say("w005"),
	}
}

// rewrite changes the text of the routine.
func (p *powered) rewrite() {
	past, err := p.b.Reads().Past(p.h.t.Context(), "aaaa0001")
	if err != nil {
		p.fails(err)
		return
	}
	body := "Look around well.\n\n" + plays("say nothing new")
	p.do(command.EditTask{ID: "aaaa0001", Version: past.File.Digest, Edit: routines.Edit{Body: &body}})
}

// A separate process runs the day, so that its system calls can be recorded and made to
// fail.
const (
	dayRoot    = "OLLIM_TEST_DAY_ROOT"
	dayWitness = "OLLIM_TEST_DAY_WITNESS"
	dayPort    = "OLLIM_TEST_DAY_PORT"
)

// liveTheDay writes the guaranteed state to the witness file whenever the bot is at rest,
// and each accepted message of the user.
func liveTheDay(t *testing.T) {
	zone, port := must(time.LoadLocation("Europe/Berlin"))(t), must(strconv.Atoi(os.Getenv(dayPort)))(t)
	witness, err := os.Create(os.Getenv(dayWitness))
	if err != nil { // the injected fault was meant for the bot
		witness = must(os.Create(os.Getenv(dayWitness)))(t)
	}
	note := func(p promised) {
		line := append(must(json.Marshal(p))(t), '\n')
		if _, err := witness.Write(line); err != nil { // the injected fault was meant for the bot
			must(witness.Write(line))(t)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		p := &powered{
			h: home{t: t, root: os.Getenv(dayRoot), zone: zone}, failed: new([]error),
			heard: func(text string) { note(promised{Digest: fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}) },
		}
		end := p.start(port)
		for _, step := range p.steps() {
			step()
			note(p.now())
		}
		end()
		for _, err := range *p.failed {
			fmt.Println("refused:", err)
		}
		fmt.Println(p.logged.String())
	})
}
