package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/store"
	"ollimbot/core/work/budget"
	"ollimbot/discord/discordtest"
	"ollimbot/routines"
)

// heard is a message that the engine was told.
type heard struct {
	Session string `json:"session"`
	Text    string `json:"text"`
}

// inspect looks at the files after a death: all of them parse, nothing was set
// aside, and a crash has given no token back.
func (b *batch) inspect() {
	b.listen()
	for _, pattern := range []string{"*", "forks/*"} {
		for _, f := range b.files("state/" + pattern) {
			b.parses(f)
		}
	}
	b.remindersParse()
	b.bucket()
	b.endsStay()
	// A repository that a kill has left half made is made whole at the next start.
	made := func(name string) bool { _, err := os.Stat(filepath.Join(b.root, ".git", name)); return err == nil }
	if b.git && made("HEAD") && made("config") && made("objects") && made("refs") {
		if out, err := exec.Command("git", "-C", b.root, "fsck", "--no-progress").CombinedOutput(); err != nil {
			b.corrupt(kindReminders, "git fsck: %v: %s", err, out)
		}
	}
}

// files are the files of the data directory with such a name.
func (b *batch) files(pattern string) []string {
	list, err := filepath.Glob(filepath.Join(b.root, pattern))
	must(err)
	return list
}

// text is a file of the data directory, "" before there is one.
func (b *batch) text(rel string) string {
	data, err := os.ReadFile(filepath.Join(b.root, rel))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.fault("%v", err)
	}
	return string(data)
}

// lines decodes the lines of a file of the state; one that a kill has cut off is left out.
func lines[T any](b *batch, name string) (list []T) {
	for line := range strings.Lines(b.text("state/" + name)) {
		var v T
		if json.Unmarshal([]byte(line), &v) == nil {
			list = append(list, v)
		}
	}
	return list
}

func (b *batch) corrupt(kind, format string, args ...any) {
	b.tally.rows[kind].corrupt++
	b.fault(format, args...)
}

// owners say to which kind a state file belongs; the others are the messages'.
var owners = map[string]string{
	"pending_updates.json": kindUpdates, "pings.jsonl": kindPings, "ping_budget.json": kindTokens,
	"webhooks.jsonl": kindWebhooks, "schedule.json": kindReminders, "provenance.json": kindReminders,
}

// parses checks one file of the state.
func (b *batch) parses(path string) {
	name := filepath.Base(path)
	kind := owners[name]
	if kind == "" {
		kind = kindMessages
	}
	if strings.Contains(name, ".corrupt-") {
		b.corrupt(owners[strings.SplitN(name, ".corrupt-", 2)[0]], "%s was set aside", name)
		return
	}
	if name == "sessions.json" { // as the original has it: an id alone
		return
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return // a folder, or a socket
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

// cutOff reports whether a kill has cut a line off: it was the last one of its file then, and
// not ended. The next life ends it and goes on behind it.
func (b *batch) cutOff(file string, line []byte) bool {
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	key := file + " " + string(text)
	if !ended && !b.torn[key] {
		b.torn[key] = true
		b.tally.notes["lines that a kill has cut off"]++
	}
	return b.torn[key]
}

func (b *batch) remindersParse() {
	if _, err := os.Stat(filepath.Join(b.root, "reminders")); err != nil {
		b.corrupt(kindReminders, "the folder of reminders: %v", err)
		must(os.MkdirAll(filepath.Join(b.root, "reminders"), 0o700)) // the batch goes on
	}
	for _, f := range b.files("reminders/*.md") {
		if _, p := routines.ParseReminder("reminders/"+filepath.Base(f), []byte(stored(f)), time.UTC); routines.HasErrors(p) && exists(f) {
			b.corrupt(kindReminders, "%s does not parse: %+v", filepath.Base(f), p)
		}
	}
}

// bucket checks what was spent: it is never taken back by a crash, and never in
// parts. What was earned until the last write is known to the microsecond.
func (b *batch) bucket() {
	data, err := os.ReadFile(filepath.Join(b.root, "state", "ping_budget.json"))
	if err != nil {
		b.corrupt(kindTokens, "%v", err)
		return
	}
	s, problems := budget.Decode(data, time.Now().UTC())
	spent := b.first + s.LastRefill.Sub(b.since).Minutes()/refill - s.Available
	whole := math.Round(spent)
	switch {
	case len(problems) > 0 || s.Available < 0 || s.Capacity != capacity || math.Abs(spent-whole) > 0.001:
		b.corrupt(kindTokens, "the budget makes no sense, %v tokens were spent: %s", spent, data)
	case whole < b.tokens:
		b.corrupt(kindTokens, "the crash gave tokens back: %v were spent, and now %v", b.tokens, whole)
	}
	b.tokens = whole
}

// bookRun is what the ledger says of a run.
type bookRun struct {
	ID, Task, State string
	Reports         int
}

// ended reports whether the run has come to its end, whatever that was. It is not to
// be repeated.
func (r bookRun) ended() bool { return r.State != "running" && r.State != "interrupted" }

// book is the ledger: the runs of each task in the order of their starts, with the
// last that it says of them.
func (b *batch) book() map[string][]bookRun {
	found := map[string][]bookRun{}
	for _, r := range lines[bookRun](b, "fork_runs.jsonl") {
		if r.ID == "" {
			continue
		}
		runs := found[r.Task]
		if i := slices.IndexFunc(runs, func(o bookRun) bool { return o.ID == r.ID }); i >= 0 {
			runs[i] = r
		} else {
			found[r.Task] = append(runs, r)
		}
	}
	return found
}

// inFront counts the runs in the conversation that have ended, by what stands in
// their titles.
func (b *batch) inFront(mark string) (n int) {
	for _, a := range lines[struct{ Action, Detail string }](b, "audit.jsonl") {
		if a.Action == audit.RunInFront && strings.Contains(a.Detail, mark) {
			n++
		}
	}
	return n
}

// planTag is in what the engine is told of a plan, whose id the harness does not know.
const planTag = "[reminder:"

// tags are in what the engine is told of a thing's fire.
func (x *thing) tags(tag string) []string {
	if x.kind == aPlan {
		return []string{tag, x.mark + " Water"}
	}
	return []string{tag}
}

// endsStay notes which reminders have had their run, and whether one that had before
// was told to the engine once more.
func (b *batch) endsStay() {
	book := b.book()
	for _, x := range b.things {
		tag, ended := ":"+x.id+"]", slices.ContainsFunc(book[x.id], bookRun.ended)
		switch x.kind {
		case aTalk:
			ended = b.inFront(x.mark) > 0
		case aPlan:
			tag, ended = planTag, b.inFront(x.mark) > 0
		case aReport, aPing:
		default:
			continue
		}
		n := b.tells(x.tags(tag)...)
		switch {
		case x.ended > 0 && n > x.ended:
			b.tally.rows[kindReminders].doubled += n - x.ended
			b.fault("reminder %s was told to the engine %d times after its run had ended", x.mark, n-x.ended)
			x.ended = n
		case ended && x.ended == 0:
			x.ended = n
		}
	}
}

const journal = "state/script_messages.jsonl"

// listen reads what the engine was told since the last time. What was told once
// cannot be taken back.
func (b *batch) listen() {
	data, err := os.ReadFile(filepath.Join(b.root, journal))
	if errors.Is(err, fs.ErrNotExist) && b.read == 0 {
		return
	}
	if err != nil || len(data) < b.read {
		b.fault("the engine's journal has shrunk from %d to %d bytes: %v", b.read, len(data), err)
		b.read = 0
		return
	}
	data = data[b.read:]
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	b.read += len(data)
	for line := range bytes.Lines(data) {
		var h heard
		if err := json.Unmarshal(line, &h); err != nil {
			b.fault("the engine's journal: %v", err)
		}
		b.told = append(b.told, h)
	}
}

// tells counts the messages of the engine's journal that hold all of the words.
func (b *batch) tells(words ...string) (n int) {
	for _, h := range b.told {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(h.Text, w) }) {
			n++
		}
	}
	return n
}

// idle reports whether nothing is on its way: asked twice with a pause, because
// the last turn's tools leave no trace while they work.
func (b *batch) idle() bool {
	for range 4 {
		before := len(b.fake.State().Messages)
		b.listen()
		told := len(b.told)
		if !b.still() {
			return false
		}
		sleepUntil(context.Background(), time.Now().Add(20*time.Millisecond))
		b.listen()
		if len(b.told) != told || len(b.fake.State().Messages) != before {
			return false
		}
	}
	return true
}

func (b *batch) still() bool {
	dir, err := store.At(b.root)
	must(err)
	for _, x := range b.things {
		if x.sent && (x.kind == aMessage || x.kind == aPlan) && b.tells(x.words()) == 0 {
			return false
		}
	}
	var room struct{ Messages []any }
	if _, err := dir.PeekJSON("state/waiting_messages.json", &room); err != nil || len(room.Messages) > 0 {
		return false
	}
	if b.dueSoon() {
		return false
	}
	open := []string{"accepted", "running"}
	for _, states := range []map[string]string{b.last("fork_runs.jsonl", "id", "state"), b.last("webhooks.jsonl", "webhook", "outcome")} {
		for _, state := range states {
			if slices.Contains(open, state) {
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

// dueSoon reports whether a reminder waits that is not put off for long.
func (b *batch) dueSoon() bool {
	for _, f := range b.files("reminders/*.md") {
		found := runAtLine().FindStringSubmatch(stored(f)) // it may be gone by now
		if found == nil {
			continue
		}
		if at, err := time.Parse(time.RFC3339Nano, found[1]); err == nil && time.Until(at) < time.Minute/2 {
			return true
		}
	}
	return false
}

// words are how a message begins, as opposed to others that name its mark.
func (x *thing) words() string { return x.mark + "\n\n```script" }

func (b *batch) pending() string { return b.text("state/pending_updates.json") }

func (b *batch) updatesGone() bool { return !strings.Contains(b.pending(), "{") }

// committed reports whether git has caught up with the agent's reminders.
func (b *batch) committed() bool {
	out, err := exec.Command("git", "-C", b.root, "status", "--porcelain", "--", "reminders/plan-*").Output()
	return err == nil && len(bytes.TrimSpace(out)) == 0
}

func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// posted counts the bot's messages at Discord that hold a text.
func posted(list []*discordtest.Message, text string) (n int) {
	for _, m := range list {
		if m.Author.Bot && strings.Contains(m.Content, text) {
			n++
		}
	}
	return n
}

// sentinel stands for updates that had to make room.
var sentinel = lazyregexp.New(`\((\d+) earlier update`)
