package core

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/command"
	"ollimbot/core/work/webhook"
	"ollimbot/routines/watch"
)

// TestThePreviewIsThePrompt runs random days: routines, reminders and webhooks fire,
// report, ping, are held, edited and missed, and clocks change. Each sent prompt must
// equal, byte for byte, the output of `preview --at` that moment just before.
func TestThePreviewIsThePrompt(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := newHome(t)
			synctest.Test(t, func(t *testing.T) {
				h.t = t
				p := &previewed{checks: checks{t}, home: h, rng: rand.New(rand.NewPCG(seed, 7))}
				// One of three days, two of them with a clock change.
				days := []string{"2000-01-03T06:00:00Z", "2000-03-25T22:30:00Z", "2000-10-28T22:30:00Z"}
				time.Sleep(time.Until(must(time.Parse(time.RFC3339, days[seed%3]))(t)))
				p.furnish()
				p.start()
				for range 100 {
					p.minute()
				}
				p.stop()
				p.holds(p.foretold >= 30 && p.late+p.hooked > 0, "prompts that were foretold, sent late, and of webhooks", p.foretold, p.late, p.hooked)
			})
		})
	}
}

// previewed is a running bot with someone previewing its prompts.
type previewed struct {
	checks
	home
	rng   *rand.Rand
	bot   *Bot
	end   func()
	n     int // tasks written so far
	ids   []string
	hooks sync.WaitGroup
	turns atomic.Int64

	mu sync.Mutex
	// said are the prompts predicted for a moment, for a quiet and for a busy bot, by task.
	said                   map[string][2]string
	moment                 time.Time
	began                  time.Time // when the bot started last
	foretold, late, hooked int
}

func (p *previewed) chance(percent int) bool { return p.rng.IntN(100) < percent }

func one[T any](p *previewed, list ...T) T { return list[p.rng.IntN(len(list))] }

func (p *previewed) furnish() {
	p.home.write("state/settings.json", `{"max_background_forks": 100, "quiet_hours": "23:30-00:40"}`)
	p.home.write(hook.rel, strings.Replace(hook.text, "isolated: true\n", "", 1))
	for range 4 + p.rng.IntN(6) {
		p.write("routines", fmt.Sprintf("cron: %q\n", one(p, "*/5 * * * *", "*/15 * * * *", "* * * * *", "30 * * * *", "7-50/9 * * * *",
			"15 0-3 * * *", "30 2 * * *", "0 */2 * * *", "45 7 * * *")))
	}
	for range 6 + p.rng.IntN(10) {
		p.remind(time.Duration(p.rng.IntN(200)) * time.Minute)
	}
}

func (p *previewed) remind(in time.Duration) string {
	at := time.Now().Truncate(time.Minute).Add(in)
	chain := ""
	if p.chance(30) {
		chain = fmt.Sprintf("max-chain: 3\nchain-depth: %d\n", p.rng.IntN(4))
	}
	return p.write("reminders", fmt.Sprintf("run-at: %q\n%s", at.In(p.zone).Format(time.RFC3339), chain))
}

// write makes a task file with random settings.
func (p *previewed) write(folder, when string) string {
	p.n++
	id := fmt.Sprintf("task %03d", p.n)
	extra := fmt.Sprintf("background: %v\nupdate-main-session: %s\n", p.chance(80), one(p, "on_ping", "on_ping", "freely", "always", "blocked"))
	for _, line := range []string{"description: \"Look after " + id + "\"", "isolated: true", "allow-ping: false", "allowed-tools: [\"Read(notes/*.md)\"]"} {
		if p.chance(25) {
			extra += line + "\n"
		}
	}
	act := one(p, `say Good.`, `call report_updates {"message":"`+id+` has news\nof two lines"}`, `call ping_user {"message":"Stand up."}`,
		`call follow_up_chain {"minutes_from_now":7}`)
	rel := fmt.Sprintf("%s/t%03d.md", folder, p.n)
	p.put(task(rel, fmt.Sprintf("id: %q\n%s%s", id, when, extra), "Do "+id+".\n\n"+plays(act)))
	return rel
}

func (p *previewed) start() {
	p.bot = p.home.bot(&recorder{Engine: offline(), hears: p.sent, waits: func() {
		// Act between two minutes, at a distinct moment.
		time.Sleep(300*time.Millisecond + time.Duration(p.turns.Add(1))*time.Microsecond)
	}})
	p.began = time.Now()
	p.end = begin(p, p.bot)
	synctest.Wait()
}

func (p *previewed) stop() {
	p.end()
	p.hooks.Wait()
}

// minute runs a minute with random events, and previews the next one.
func (p *previewed) minute() {
	next := time.Now().Truncate(time.Minute).Add(time.Minute)
	time.Sleep(20*time.Second + 100*time.Millisecond)
	switch n := p.rng.IntN(100); {
	case n < 8:
		p.deliver()
	case n < 12:
		p.hold()
	case n < 18:
		rel := p.remind(time.Duration(p.rng.IntN(60)) * time.Minute)
		p.bot.directory.Apply(watch.Batch{Names: []string{rel}})
	case n < 19:
		p.stop()
		time.Sleep(time.Duration(p.rng.IntN(25)) * time.Minute)
		next = time.Now().Truncate(time.Minute).Add(time.Minute)
		p.start()
	}
	if ahead := time.Until(next.Add(-250 * time.Millisecond)); ahead > 0 {
		time.Sleep(ahead)
		synctest.Wait()
		p.foretell(next)
	}
	time.Sleep(time.Until(next))
	synctest.Wait()
}

// foretell previews every task that is due at a future moment.
func (p *previewed) foretell(at time.Time) {
	set := p.bot.index.Set()
	var ids, due []string
	for _, r := range set.Routines {
		ids = append(ids, r.ID)
		if r.Schedule.Next(at.Add(-time.Second)).Equal(at) {
			due = append(due, r.ID)
		}
	}
	for _, r := range set.Reminders {
		ids = append(ids, r.ID)
		if !r.RunAt.After(at) {
			due = append(due, r.ID)
		}
	}
	said := map[string][2]string{}
	for _, id := range due {
		said[id] = p.both(func(busy bool) (string, error) { return p.bot.dispatch.Preview(p.Context(), id, at, busy) })
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moment, p.said, p.ids = at, said, slices.Sorted(slices.Values(ids))
}

func (p *previewed) both(preview func(busy bool) (string, error)) (texts [2]string) {
	for i := range texts {
		text, err := preview(i == 1)
		p.holds(err == nil, "the preview fails", err)
		texts[i] = text
	}
	return texts
}

// deliver triggers a webhook.
func (p *previewed) deliver() {
	spec, ok := p.bot.webhooks.index.Find("ci")
	payload := []byte(`{"status":"success","title":"green"}`)
	checked, err := spec.Check(payload)
	p.needs(ok && err == nil, "the webhook is not there", err)
	at := time.Now()
	said := p.both(func(busy bool) (string, error) {
		return p.bot.dispatch.PreviewWebhook(p.Context(), "ci", payload, at, busy)
	})
	p.mu.Lock()
	p.moment, p.said = at, map[string][2]string{"ci": said}
	p.hooked++
	p.mu.Unlock()
	p.hooks.Add(1)
	go func(b *Bot) {
		defer p.hooks.Done()
		// It ends with its bot, which is not an error.
		_ = b.dispatch.FireWebhook(context.Background(), webhook.Job{Spec: spec, Payload: checked, Delivery: webhook.Delivery{ID: "aaaaaaaa", At: at}})
	}(p.bot)
	synctest.Wait()
}

// hold snoozes, pauses or resumes a task.
func (p *previewed) hold() {
	if len(p.ids) == 0 {
		return
	}
	id, until := one(p, p.ids...), time.Now().Add(time.Duration(p.rng.IntN(30))*time.Minute)
	do := one[command.Value](p, command.Pause{ID: id, Paused: true}, command.Snooze{ID: id}, command.Snooze{ID: id, Until: until})
	_, _ = p.bot.Do(p.Context(), do) // the task may no longer exist
}

var previewTag = regexp.MustCompile(`(?m)^(?:\[\d{4}-[^\]]+\] )?\[(routine|reminder|webhook)(-bg)?:([^\]]+)\]`)

// sent compares a sent prompt with the predicted one. A prompt sent at another moment,
// such as that of a late task, is compared with a preview of now.
func (p *previewed) sent(text string) {
	tag := previewTag.FindStringSubmatch(text)
	if p.holds(tag != nil, "a prompt without a tag", text); tag == nil || p.began.Equal(time.Now()) {
		return // missed fires are being recorded at the same moment as the start
	}
	p.mu.Lock()
	want, ok := p.said[tag[3]]
	ok = ok && p.moment.Equal(time.Now())
	if ok {
		p.foretold++
	} else {
		p.late++
	}
	p.mu.Unlock()
	busy, _ := p.bot.chat.Busy()
	if !ok {
		want = p.both(func(busy bool) (string, error) {
			return p.bot.dispatch.Preview(p.Context(), tag[3], time.Now(), busy)
		})
	}
	if text != want[0] && (!busy || text != want[1]) {
		p.Errorf("%s at %s, foretold %v (-preview +sent):\n%s", tag[0], time.Now().In(p.zone), ok, cmp.Diff(want[0], text))
	}
}
