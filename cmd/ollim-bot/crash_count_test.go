package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/budget"
	"ollimbot/discord/discordtest"
	"ollimbot/routines"
)

// inspect looks at the files after a death: all of them parse, nothing was set aside, and a crash has given no token back.
func (b *batch) inspect() {
	b.listen()
	for _, f := range append(b.files("state/*"), b.files("state/forks/*")...) {
		b.parses(f)
	}
	if !exists(filepath.Join(b.root, "reminders")) {
		b.corrupt(kindReminders, "the folder of reminders is gone")
		must(os.MkdirAll(filepath.Join(b.root, "reminders"), 0o700)) // the batch continues
	}
	for _, f := range b.files("reminders/*.md") {
		if _, p := routines.ParseReminder("reminders/"+filepath.Base(f), []byte(stored(f)), time.UTC); routines.HasErrors(p) && exists(f) {
			b.corrupt(kindReminders, "%s does not parse: %+v", filepath.Base(f), p)
		}
	}
	b.bucket()
	b.endsStay()
	// A repository that a kill has left half made is made whole at the next start.
	made := func(name string) bool { return exists(filepath.Join(b.root, ".git", name)) }
	if b.git && made("HEAD") && made("config") && made("objects") && made("refs") {
		if out, err := exec.Command("git", "-C", b.root, "fsck", "--no-progress").CombinedOutput(); err != nil {
			b.corrupt(kindReminders, "git fsck: %v: %s", err, out)
		}
	}
}

// files are the files of the data directory with such a name.
func (b *batch) files(pattern string) []string {
	return sure(filepath.Glob(filepath.Join(b.root, pattern)))
}

// lines decodes the lines of a file of the state; one that a kill has cut off is left out.
func lines[T any](b *batch, name string) (list []T) {
	for line := range strings.Lines(stored(b.root, "state", name)) {
		var v T
		if json.Unmarshal([]byte(line), &v) == nil {
			list = append(list, v)
		}
	}
	return list
}

func (b *batch) corrupt(kind, format string, args ...any) {
	b.fault(kind+" corrupt", 1, format, args...)
}

// owners say to which kind a state file belongs; the others are the messages'.
var owners = map[string]string{
	"pending_updates.json": kindUpdates, "pings.jsonl": kindPings, "ping_budget.json": kindTokens,
	"webhooks.jsonl": kindWebhooks, "schedule.json": kindReminders, "provenance.json": kindReminders,
}

// parses checks one file of the state. In sessions.json there is an id alone, as the original has it.
func (b *batch) parses(path string) {
	name, _, aside := strings.Cut(filepath.Base(path), ".corrupt-")
	kind := owners[name]
	if kind == "" {
		kind = kindMessages
	}
	if aside {
		b.corrupt(kind, "%s was set aside", filepath.Base(path))
	}
	if info, err := os.Stat(path); aside || name == "sessions.json" || err != nil || !info.Mode().IsRegular() {
		return // gone, a folder, or a socket
	}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		b.corrupt(kind, "%s: %v", name, err)
	case strings.HasSuffix(name, ".json") && !json.Valid(data):
		b.corrupt(kind, "%s does not parse: %.200q", name, data)
	case strings.HasSuffix(name, ".jsonl"):
		for line := range bytes.Lines(data) {
			if len(bytes.TrimSpace(line)) > 0 && !json.Valid(line) && !b.cutOff(name, line) {
				b.corrupt(kind, "%s has a line that does not parse: %.200q", name, line)
			}
		}
	}
}

// cutOff reports whether a kill has cut a line off: it was the last one of its file then, and not ended. The next life ends
// it and continues behind it.
func (b *batch) cutOff(file string, line []byte) bool {
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	key := file + " " + string(text)
	if !ended && !b.torn[key] {
		b.torn[key] = true
		b.tally["lines that a kill has cut off"]++
	}
	return b.torn[key]
}

// bucket checks what was spent: it is never taken back by a crash, and never in parts. What was earned until the last write
// is known to the microsecond.
func (b *batch) bucket() {
	data := stored(b.root, "state/ping_budget.json")
	s, problems := budget.Decode([]byte(data), time.Now().UTC())
	spent := b.first + s.LastRefill.Sub(b.since).Minutes()/refill - s.Available
	whole := int(math.Round(spent))
	switch {
	case len(problems) > 0 || s.Available < 0 || s.Capacity != capacity || math.Abs(spent-float64(whole)) > 0.001:
		b.corrupt(kindTokens, "the budget makes no sense, %v tokens were spent: %s", spent, data)
	case whole < b.tokens:
		b.corrupt(kindTokens, "the crash gave tokens back: %v were spent, and now %v", b.tokens, whole)
	}
	b.tokens = whole
}

// endsStay notes which reminders have had their run, and whether one that had before came to the engine once more.
func (b *batch) endsStay() {
	book := b.book()
	for _, x := range b.things {
		var ended bool
		switch x.kind {
		case aTalk, aPlan: // it is in the audit log by its title
			ended = slices.ContainsFunc(lines[struct{ Action, Detail string }](b, "audit.jsonl"), func(a struct{ Action, Detail string }) bool {
				return a.Action == audit.RunInFront && strings.Contains(a.Detail, x.mark)
			})
		case aReport, aPing:
			ended = slices.ContainsFunc(book[x.id], bookRun.ended)
		default:
			continue
		}
		n := b.received(x.tags()...)
		if x.ended > 0 {
			b.fault(kindReminders+" doubled", n-x.ended, "reminder %s came to the engine %d times after its run had ended", x.mark, n-x.ended)
		}
		if x.ended > 0 || ended {
			x.ended = max(n, x.ended)
		}
	}
}

// tags are in what the engine receives at a reminder's fire. The harness does not know the id of a plan.
func (x *thing) tags() []string {
	if x.kind == aPlan {
		return []string{"[reminder:", x.mark + " Water"}
	}
	return []string{":" + x.id + "]"}
}

// bookRun is what the ledger says of a run.
type bookRun struct {
	ID, Task, State string
	Reports         int
}

// ended reports whether the run has come to its end, whatever that was. It is not to be repeated.
func (r bookRun) ended() bool { return r.State != "running" && r.State != "interrupted" }

// book is the ledger: the runs of each task in the order of their starts, with the last that it says of them.
func (b *batch) book() map[string][]bookRun {
	found := map[string][]bookRun{}
	for _, r := range lines[bookRun](b, "fork_runs.jsonl") {
		runs := found[r.Task]
		if i := slices.IndexFunc(runs, func(o bookRun) bool { return o.ID == r.ID }); i >= 0 {
			runs[i] = r
		} else if r.ID != "" {
			found[r.Task] = append(runs, r)
		}
	}
	return found
}

// input is a message that the engine received.
type input struct {
	Session string `json:"session"`
	Text    string `json:"text"`
}

// listen reads what the engine received since the last time. What it has once had cannot be taken back.
func (b *batch) listen() {
	data, err := os.ReadFile(filepath.Join(b.root, "state/script_messages.jsonl"))
	if errors.Is(err, fs.ErrNotExist) && b.read == 0 {
		return
	}
	if err != nil || len(data) < b.read {
		b.wrong("the engine's journal has shrunk from %d to %d bytes: %v", b.read, len(data), err)
		b.read = 0
		return
	}
	data = data[b.read:]
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	b.read += len(data)
	for line := range bytes.Lines(data) {
		var in input
		if err := json.Unmarshal(line, &in); err != nil {
			b.wrong("the engine's journal: %v", err)
		}
		b.inputs = append(b.inputs, in)
	}
}

// received counts the messages in the engine's journal that have all of the words.
func (b *batch) received(words ...string) (n int) {
	for _, in := range b.inputs {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(in.Text, w) }) {
			n++
		}
	}
	return n
}

// idle reports whether nothing is on its way: asked again and again with a pause, because the last turn's tools leave no
// trace while they work.
func (b *batch) idle() bool {
	trace := func() [2]int {
		b.listen()
		return [2]int{len(b.inputs), len(b.fake.State().Messages)}
	}
	for range 4 {
		before := trace()
		if !b.still() {
			return false
		}
		time.Sleep(20 * time.Millisecond)
		if trace() != before {
			return false
		}
	}
	return true
}

func (b *batch) still() bool {
	for _, x := range b.things {
		if x.sent && (x.kind == aMessage || x.kind == aPlan) && b.received(x.words()) == 0 {
			return false
		}
	}
	var room struct{ Messages []any }
	text := stored(b.root, "state/waiting_messages.json")
	if text != "" && json.Unmarshal([]byte(text), &room) != nil || len(room.Messages) > 0 {
		return false
	}
	for _, f := range b.files("reminders/*.md") { // one waits that is not put off for long; it may be gone by now
		found := append(runAtLine().FindStringSubmatch(stored(f)), "", "")
		if at, err := time.Parse(time.RFC3339Nano, found[1]); err == nil && time.Until(at) < time.Minute/2 {
			return false
		}
	}
	for _, states := range []map[string]string{b.last("fork_runs.jsonl", "id", "state"), b.last("webhooks.jsonl", "webhook", "outcome")} {
		for _, state := range states {
			if state == "accepted" || state == "running" {
				return false
			}
		}
	}
	return true
}

// last reads a file of lines in which the last one of a key counts.
func (b *batch) last(name, key, value string) map[string]string {
	found := map[string]string{}
	for _, fields := range lines[map[string]any](b, name) {
		found[fmt.Sprint(fields[key])] = fmt.Sprint(fields[value])
	}
	return found
}

func (b *batch) pending() string { return stored(b.root, "state/pending_updates.json") }

// evidence is what there is outside of the program, and what it has left behind.
type evidence struct {
	*batch
	main    []string               // what the main session received with updates
	posts   []*discordtest.Message // at Discord
	updates string                 // that are pending
	waiting string                 // reminder files
	paid    map[string][]string    // pings that the program has recorded, by task: their ids
	book    map[string][]bookRun   // what the program's ledger says of runs, by task
	hooks   []string               // webhooks that neither ran nor were reported
	lost    int                    // updates that are nowhere
	omitted int                    // updates that a sentinel is for
	pings   int                    // that have arrived, but for critical ones
	unknown int                    // runs that were cut off, whose ping may have been sent
}

// count compares what was sent in a batch with what arrived.
func (b *batch) count() {
	b.round = atTheEnd
	s := b.fake.State()
	for _, v := range s.Violations {
		b.wrong("Discord: %s", v)
	}
	e := &evidence{batch: b, posts: s.Messages, updates: b.pending(), paid: b.recorded(), book: b.book(), omitted: omitted(b.pending())}
	for _, f := range b.files("reminders/*.md") {
		e.waiting += stored(f)
	}
	for _, in := range b.inputs {
		if strings.Contains(in.Text, "(mention key findings in your response)") {
			e.main = append(e.main, in.Text)
		}
		e.omitted += omitted(in.Text)
	}
	for _, x := range b.things {
		e.judge(x)
	}
	e.tokens()
	b.tally["updates that made room"] += e.omitted
	if e.lost+len(e.hooks) <= e.omitted {
		return // what made room for newer ones may have been these
	}
	e.fault(kindUpdates+" lost", e.lost-e.omitted, "%d updates and %d webhooks are nowhere, and only %d updates made room for others",
		e.lost, len(e.hooks), e.omitted)
	ledger := b.last("webhooks.jsonl", "webhook", "outcome")
	for _, id := range e.hooks {
		e.fault(kindWebhooks+" lost", 1, "webhook %s had its 202, and neither ran nor was reported; the ledger says %q", id, ledger[id])
	}
}

// judge compares what became of a thing with what may.
func (e *evidence) judge(x *thing) {
	switch x.kind {
	case aMessage, aPlan:
		if n := e.received(x.words()); x.sent {
			e.row(kindMessages, 1, n, 0)
			e.fault(kindMessages+" lost", 1-n, "the engine never received %s", x.mark)
			e.fault(kindMessages+" doubled", n-1, "the engine received %s %d times", x.mark, n)
		}
		if x.kind == aPlan {
			e.fires(x, e.planned(x))
		}
		return
	case aHook:
		e.hook(x)
		return
	case aReport:
		e.report(x, e.posted("reported-"+x.mark))
		e.ping(x, "reported-"+x.mark)
	case aPing:
		arrived, unknown := e.ping(x, x.mark)
		e.pings += arrived
		e.unknown += unknown
	case aTalk:
		e.again("answers to reminders in the conversation that were shown twice, cut off in between", e.posted(x.mark)-1)
	}
	if x.sent {
		e.fires(x, true)
	}
}

// row counts what became of one kind.
func (e *evidence) row(kind string, sent, arrived, pending int) {
	e.tally[kind+" sent"] += sent
	e.tally[kind+" arrived"] += arrived
	e.tally[kind+" pending"] += pending
}

// again notes what a reader has seen once more because a run was cut off. Its second run is another one, and says so.
func (e *evidence) again(what string, n int) { e.tally[what] += max(0, n) }

// posted counts the bot's messages at Discord that have a text.
func (e *evidence) posted(text string) (n int) {
	for _, m := range e.posts {
		if m.Author.Bot && strings.Contains(m.Content, text) {
			n++
		}
	}
	return n
}

// delivered counts an update in what the main session received, and in what waits.
func (e *evidence) delivered(text string) (arrived, pending int) {
	for _, m := range e.main {
		arrived += strings.Count(m, ") "+text)
	}
	return arrived, strings.Count(e.updates, `"`+text)
}

// report: each report that was accepted is delivered once or still pending. A run that has ended says how often it reported;
// one that was cut off may have, once.
func (e *evidence) report(x *thing, accepted int) {
	arrived, pending := e.delivered(x.mark)
	e.row(kindUpdates, max(accepted, arrived+pending), arrived, pending)
	ended, cut := e.ended(x)
	most := cut
	for _, run := range ended {
		most += run.Reports
	}
	e.fault(kindUpdates+" doubled", arrived+pending-most,
		"%s was delivered %d times and waits %d times; %d runs were cut off, and these have ended: %v", x.mark, arrived, pending, cut, ended)
	e.again("updates of a run that was cut off, and of the one that followed", arrived+pending-1)
	if accepted > arrived+pending {
		e.lost += accepted - arrived - pending
		e.note("%s is lost, or made room", x.mark)
	}
}

// ended are the runs of a thing of which the ledger knows the end, and how many were cut off: the engine received them, and
// how far they have come is not known.
func (e *evidence) ended(x *thing) (ended []bookRun, cut int) {
	for _, run := range e.book[x.id] {
		if run.ended() {
			ended = append(ended, run)
		}
	}
	return ended, max(0, e.received(x.tags()...)-len(ended))
}

// ping: what was recorded as sent has arrived, and a fire sends once, also if a kill cut its run off and another one followed
// (L5). The second number is of runs that were cut off and whose ping has not arrived: it may have been paid.
func (e *evidence) ping(x *thing, text string) (arrived, unknown int) {
	byID := map[string]int{}
	for _, m := range e.posts {
		if m.Author.Bot && strings.Contains(m.Content, text) {
			arrived++
			byID[m.Nonce()]++
		}
	}
	e.row(kindPings, max(len(e.paid[x.id]), arrived), arrived, 0)
	for _, id := range e.paid[x.id] {
		e.fault(kindPings+" lost", 1-byID[id], "the ping %s of %s was recorded and has not arrived", id, x.mark)
	}
	e.fault(kindPings+" doubled", arrived-1, "the ping of %s arrived %d times: %v", x.mark, arrived, byID)
	ended, cut := e.ended(x)
	if len(ended) == 0 {
		cut -= arrived
	}
	return arrived, max(0, cut)
}

// tokens: each message cost one. Where a run was cut off, its message may have been sent, so that it may have cost one too.
func (e *evidence) tokens() {
	e.row(kindTokens, e.pings, e.batch.tokens, 0)
	e.again("tokens for pings that a kill cut off", e.batch.tokens-e.pings)
	e.fault(kindTokens+" lost", e.batch.tokens-e.pings-e.unknown, "%d tokens were spent for %d pings, and %d that may have been sent",
		e.batch.tokens, e.pings, e.unknown)
	e.fault(kindTokens+" doubled", e.pings-e.batch.tokens, "%d pings went out for %d tokens", e.pings, e.batch.tokens)
}

// hook: what had its 202 was run once, or the main session was informed once that it was not.
func (e *evidence) hook(x *thing) {
	runs := e.received(x.tags()...)
	reported, waits := e.delivered("Webhook " + x.id + ":")
	e.report(x, 0)
	sent := 0
	if x.sent || runs+reported > 0 { // its answer may have been cut off
		sent = 1
	}
	e.row(kindWebhooks, sent, min(1, runs+reported), waits)
	if x.sent && runs+reported+waits == 0 {
		e.hooks = append(e.hooks, x.id)
	}
	if runs > 1 || reported+waits > 1 {
		e.fault(kindWebhooks+" doubled", 1, "webhook %s ran %d times and was reported %d times", x.id, runs, reported+waits)
	}
}

// planned reports whether the agent had the answer that its reminder is set, moved or not. Where the turn was cut off, it had none.
func (e *evidence) planned(x *thing) bool {
	set, moved := e.posted("planned-"+x.mark) > 0, e.posted("moved-"+x.mark) > 0
	if set && x.moved && !moved {
		e.again("moves cut off", 1)
	}
	return moved || set && !x.moved
}

// fires counts the fires of a reminder: what is set fires or is in its file. One that was cut off fires again; one whose run
// has ended does not, late or not (see endsStay).
func (e *evidence) fires(x *thing, set bool) {
	n, pending := e.received(x.tags()...), strings.Count(e.waiting, x.mark)
	if set || n > 0 || pending > 0 {
		e.row(kindReminders, 1, min(n, 1), max(0, min(pending, 1)-n))
	}
	e.again("reminders that were cut off, and fired again", n-1)
	if set {
		e.fault(kindReminders+" lost", 1-n-pending, "reminder %s never fired and is gone", x.mark)
	}
	if x.ended > 0 {
		e.fault(kindReminders+" doubled", pending, "reminder %s is still in its file, to fire again, although its run has ended", x.mark)
	}
	runs := e.book[x.id]
	if i := slices.IndexFunc(runs, bookRun.ended); i >= 0 {
		e.fault(kindReminders+" doubled", len(runs)-1-i, "reminder %s fired again after its run %s had ended: %v", x.mark, runs[i].ID, runs)
	}
}

// recorded are the ids of pings in the program's own journal, by task. One that was about to leave when the program was
// killed may have arrived.
func (b *batch) recorded() map[string][]string {
	found := map[string][]string{}
	pings, err := budget.NewJournal(sure(store.At(b.root)), time.UTC, nil).All()
	if err != nil {
		b.wrong("the journal of pings: %v", err)
	}
	for _, p := range pings {
		if p.Task != "" && p.Refused == "" && !p.Begun {
			found[p.Task] = append(found[p.Task], p.ID)
		}
	}
	return found
}

// sentinel is for updates that had to make room.
var sentinel = lazyregexp.New(`\((\d+) earlier update`)

// omitted sums what the sentinels in a text are for.
func omitted(text string) (sum int) {
	for _, m := range sentinel().FindAllStringSubmatch(text, -1) {
		sum += sure(strconv.Atoi(m[1]))
	}
	return sum
}
