package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/storage/store"
	"ollimbot/core/work/budget"
	"ollimbot/discord/discordtest"
)

// count compares what was sent in a batch with what arrived.
func (b *batch) count() {
	b.round = atTheEnd
	s := b.fake.State()
	for _, v := range s.Violations {
		b.fault("Discord: %s", v)
	}
	e := evidence{
		b: b, posts: s.Messages, pending: b.pending(), waiting: b.waitingFiles(), paid: b.recorded(), book: b.book(),
		ledger: b.last("webhooks.jsonl", "webhook", "outcome"),
	}
	for _, h := range b.told {
		if strings.Contains(h.Text, "(mention key findings in your response)") {
			e.main = append(e.main, h.Text)
		}
		e.omitted += omitted(h.Text)
	}
	e.omitted += omitted(e.pending)
	var sent, unknown int
	for _, x := range b.things {
		switch x.kind {
		case aMessage:
			e.message(x)
		case aPlan:
			e.message(x)
			e.plan(x)
		case aHook:
			e.hook(x)
		case aReport:
			e.report(x, posted(e.posts, "reported-"+x.mark))
			e.reminder(x, x.id)
			e.ping(x, "reported-"+x.mark)
		case aPing:
			e.reminder(x, x.id)
			arrived, cut := e.ping(x, x.mark)
			sent += arrived
			unknown += cut
		case aTalk:
			e.reminder(x, x.id)
			e.again("answers to reminders in the conversation that were shown twice, cut off in between", posted(e.posts, x.mark)-1)
		}
	}
	e.tokens(sent, unknown)
	b.tally.notes["updates that made room"] += e.omitted
	if e.lost+len(e.hooks) <= e.omitted {
		return // what made room for newer ones may have been these
	}
	if e.lost > 0 {
		b.fault("%d updates and %d webhooks are nowhere, and only %d updates made room for others", e.lost, len(e.hooks), e.omitted)
	}
	b.tally.rows[kindUpdates].lost += max(0, e.lost-e.omitted)
	for _, id := range e.hooks {
		b.tally.rows[kindWebhooks].lost++
		b.fault("webhook %s had its 202, and neither ran nor was reported; the ledger says %q", id, e.ledger[id])
	}
}

// evidence is what there is outside of the program, and what it has left behind.
type evidence struct {
	b       *batch
	main    []string               // what the main session was told with updates
	posts   []*discordtest.Message // at Discord
	pending string                 // updates
	waiting string                 // reminder files
	paid    map[string][]string    // pings that the program has recorded, by task: their ids
	book    map[string][]bookRun   // what the program's ledger says of runs, by task
	ledger  map[string]string      // what became of a webhook's delivery, as the program has it
	hooks   []string               // webhooks that neither ran nor were reported
	lost    int                    // updates that are nowhere
	omitted int                    // updates that a sentinel stands for
}

// runs is how often a task of that id was told to the engine.
func (e *evidence) runs(x *thing) int {
	return e.b.tells("[reminder-bg:"+x.id+"]") + e.b.tells("[reminder:"+x.id+"]") + e.b.tells("[webhook:"+x.id+"]")
}

// delivered counts an update in what the main session was told, and in what waits.
func (e *evidence) delivered(text string) (arrived, pending int) {
	for _, m := range e.main {
		arrived += strings.Count(m, ") "+text)
	}
	return arrived, strings.Count(e.pending, `"`+text)
}

// report: each report that was accepted is delivered once or still pending. A run
// that has ended says how often it reported; one that was cut off may have, once.
func (e *evidence) report(x *thing, accepted int) {
	r := e.b.tally.rows[kindUpdates]
	arrived, pending := e.delivered(x.mark)
	r.sent, r.arrived, r.pending = r.sent+max(accepted, arrived+pending), r.arrived+arrived, r.pending+pending
	ended, cut := e.ended(x)
	most := cut
	for _, run := range ended {
		most += run.Reports
	}
	if over := arrived + pending - most; over > 0 {
		r.doubled += over
		e.b.fault("%s was delivered %d times and waits %d times; %d runs have ended and %d were cut off: %v", x.mark, arrived, pending, len(ended), cut, ended)
	}
	e.again("updates of a run that was cut off, and of the one that followed", arrived+pending-1)
	if accepted > arrived+pending {
		e.lost += accepted - arrived - pending
		e.b.note("%s is lost, or made room", x.mark)
	}
}

// again notes what a reader has seen once more because a run was cut off. Its
// second run is another one, and says so.
func (e *evidence) again(what string, n int) { e.b.tally.notes[what] += max(0, n) }

// ended are the runs of a thing of which the ledger knows the end, and how many were
// cut off: they were told to the engine and nobody knows how far they have come.
func (e *evidence) ended(x *thing) (ended []bookRun, cut int) {
	for _, run := range e.book[x.id] {
		if run.ended() {
			ended = append(ended, run)
		}
	}
	return ended, max(0, e.runs(x)-len(ended))
}

// message: the engine was told each message once.
func (e *evidence) message(x *thing) {
	if !x.sent {
		return
	}
	r := e.b.tally.rows[kindMessages]
	n := e.b.tells(x.words())
	r.sent++
	r.arrived += n
	switch {
	case n == 0:
		r.lost++
		e.b.fault("the engine was never told %s", x.mark)
	case n > 1:
		r.doubled += n - 1
		e.b.fault("the engine was told %s %d times", x.mark, n)
	}
}

// ping: what was recorded as sent has arrived, and a fire sends once, also if a kill cut its
// run off and another one followed (L5). The second number is of runs that were cut off and
// whose ping has not arrived: it may have been paid.
func (e *evidence) ping(x *thing, text string) (arrived, cut int) {
	r := e.b.tally.rows[kindPings]
	byID := map[string]int{}
	for _, m := range e.posts {
		if m.Author.Bot && strings.Contains(m.Content, text) {
			arrived++
			byID[m.Nonce()]++
		}
	}
	r.sent, r.arrived = r.sent+max(len(e.paid[x.id]), arrived), r.arrived+arrived
	for _, id := range e.paid[x.id] {
		if byID[id] == 0 {
			r.lost++
			e.b.fault("the ping %s of %s was recorded and has not arrived", id, x.mark)
		}
	}
	if arrived > 1 {
		r.doubled += arrived - 1
		e.b.fault("the ping of %s arrived %d times: %v", x.mark, arrived, byID)
	}
	ended, cut := e.ended(x)
	if len(ended) == 0 {
		cut -= arrived
	}
	return arrived, max(0, cut)
}

// tokens: each message cost one. Where a run was cut off nobody knows whether
// its message was sent, so that it may have cost one as well.
func (e *evidence) tokens(sent, unknown int) {
	r := e.b.tally.rows[kindTokens]
	spent := int(e.b.tokens)
	r.sent, r.arrived = sent, spent
	e.b.tally.notes["tokens for pings that a kill cut off"] += max(0, spent-sent)
	if over := spent - sent - unknown; over > 0 {
		r.lost += over
		e.b.fault("%d tokens were spent for %d pings, and %d that may have been sent", spent, sent, unknown)
	}
	if over := sent - spent; over > 0 {
		r.doubled += over
		e.b.fault("%d pings went out for %d tokens", sent, spent)
	}
}

// hook: what had its 202 was run once, or the main session was told once that
// it was not.
func (e *evidence) hook(x *thing) {
	r, runs := e.b.tally.rows[kindWebhooks], e.runs(x)
	told, waits := e.delivered("Webhook " + x.id + ":")
	e.report(x, 0)
	if x.sent || runs+told > 0 { // its answer may have been cut off
		r.sent++
	}
	r.arrived += min(1, runs+told)
	r.pending += waits
	switch {
	case x.sent && runs+told+waits == 0:
		e.hooks = append(e.hooks, x.id)
	case runs > 1 || told+waits > 1:
		r.doubled++
		e.b.fault("webhook %s ran %d times and was reported %d times", x.id, runs, told+waits)
	}
}

// plan: a reminder that the agent was told is set fires or stands in its file,
// moved or not. Where the turn was cut off, nobody was told.
func (e *evidence) plan(x *thing) {
	set := posted(e.posts, "planned-"+x.mark) > 0
	if x.moved {
		moved := posted(e.posts, "moved-"+x.mark) > 0
		if set && !moved {
			e.b.tally.notes["moves cut off"]++
		}
		set = moved
	}
	e.fires(x, planTag, set)
}

// reminder: what the user has written fires or stands in its file.
func (e *evidence) reminder(x *thing, id string) {
	if x.sent {
		e.fires(x, ":"+id+"]", true)
	}
}

// fires counts the fires of a reminder by its tag and mark. One that was cut off
// fires again; one whose run has ended does not, late or not (see endsStay).
func (e *evidence) fires(x *thing, tag string, set bool) {
	r := e.b.tally.rows[kindReminders]
	n, pending := e.b.tells(x.tags(tag)...), strings.Count(e.waiting, x.mark)
	if set || n > 0 || pending > 0 {
		r.sent++
	}
	r.arrived += min(n, 1)
	e.again("reminders that were cut off, and fired again", n-1)
	if n == 0 {
		r.pending += min(pending, 1)
	}
	if set && n+pending == 0 {
		r.lost++
		e.b.fault("reminder %s never fired and is gone", x.mark)
	}
	if x.ended > 0 && pending > 0 {
		r.doubled++
		e.b.fault("reminder %s is still in its file, to fire again, although its run has ended", x.mark)
	}
	runs := e.book[x.id]
	for i, run := range runs {
		if run.ended() && i < len(runs)-1 {
			r.doubled += len(runs) - 1 - i
			e.b.fault("reminder %s fired again after its run %s had ended (%s): %v", x.mark, run.ID, run.State, runs)
			break
		}
	}
}

// recorded are the ids of pings in the program's own journal, by task. One that was about to
// leave when the program was killed may have arrived.
func (b *batch) recorded() map[string][]string {
	found := map[string][]string{}
	dir, err := store.At(b.root)
	must(err)
	pings, err := budget.NewJournal(dir, time.UTC, nil).All()
	if err != nil {
		b.fault("the journal of pings: %v", err)
	}
	for _, p := range pings {
		if p.Task != "" && p.Refused == "" && !p.Begun {
			found[p.Task] = append(found[p.Task], p.ID)
		}
	}
	return found
}

// waitingFiles is what stands in the reminder files that are left.
func (b *batch) waitingFiles() string {
	var all strings.Builder
	for _, f := range b.files("reminders/*.md") {
		data, err := os.ReadFile(f)
		if err != nil {
			b.fault("%v", err)
		}
		_, _ = all.Write(data) // into memory
	}
	return all.String()
}

// omitted sums what the sentinels in a text stand for.
func omitted(text string) (sum int) {
	for _, m := range sentinel().FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			sum += n
		}
	}
	return sum
}
