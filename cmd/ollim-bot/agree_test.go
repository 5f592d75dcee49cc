package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/fork"
	"ollimbot/routines"
	"ollimbot/tui"
	"ollimbot/tui/action"
	"ollimbot/tui/plain"
)

// agreeStates is how many random states each question is asked in.
const agreeStates = 60

// home is a random data directory, and the program in it.
type home struct {
	t    *testing.T
	r    *rand.Rand
	root string
	zone string
	env  []string
	now  time.Time
	at   console.DataDir
	bot  *core.Bot
	said map[string]string // what each place says, by its name
}

// Every place answers the same questions alike, in whatever state the bot is.
func TestPropertyEveryPlaceGivesTheSameAnswer(t *testing.T) {
	t.Parallel()
	r, compared, answered, wrong := testkit.Rand(t), 0, map[string]bool{}, map[string]string{}
	for n := range agreeStates {
		synctest.Test(t, func(t *testing.T) {
			h := newRandomHome(t, r)
			for _, q := range questions {
				answers := map[string][]string{}
				for place, of := range q.places {
					if answer := of(h); answer != "" {
						answers[answer] = append(answers[answer], place)
						answered[q.asks+": "+place] = true
						compared++
					}
				}
				if len(answers) > 1 && wrong[q.asks] == "" { // the first state is enough
					wrong[q.asks] = fmt.Sprintf("state %d: %q\n%s", n, answers, h.whole())
				}
			}
		})
	}
	for asks, answers := range wrong {
		t.Errorf("%s? In %s", asks, answers)
	}
	t.Logf("%d questions to %d places in %d states: %d answers", len(questions), len(answered), agreeStates, compared)
	for _, q := range questions {
		for place := range q.places {
			if !answered[q.asks+": "+place] {
				t.Errorf("%s? %s never answered", q.asks, place)
			}
		}
	}
}

// question is one question, and how each place that answers it words the answer. An empty answer is none.
type question struct {
	asks   string
	places places
}

type places map[string]func(*home) string

// The places that print the lines of the status.
const (
	statusInPlain = "status, plain status"
	everyStatus   = "status, plain status, slash status"
)

// in are places with the same pattern, whose groups are the answer.
func in(pattern, list string) places {
	of := places{}
	for place := range strings.SplitSeq(list, ", ") {
		of[place] = match(place, pattern)
	}
	return of
}

// and are more places, with another pattern.
func (p places) and(pattern, list string) places {
	maps.Copy(p, in(pattern, list))
	return p
}

// by is another place, which answers in its own way.
func (p places) by(place string, of func(*home) string) places {
	p[place] = of
	return p
}

const (
	aTask   = `(\w+(?:, check \d of \d)?)`
	clock   = `\d\d:\d\d(?:–\d\d:\d\d)?`
	dayTime = `((?:\w{3} )?\d\d:\d\d)`
	sum     = `(\$[\d.]+)`
)

var questions = []question{
	{"what comes next", in(`Next: `+aTask+` `, "headline, frame").and(`(?m)^  \w{3} \d\d:\d\d.*?  [0-9a-f]{8}  `+aTask, "status").
		and(`  [0-9a-f]{8}  `+aTask, "schedule ahead").and(`, [0-9a-f]{8}, `+aTask, "plain schedule ahead").
		and(`(?m)^\w{3} \d\d:\d\d.*?, [0-9a-f]{8}, `+aTask, "plain status").and(`\d\d:\d\d `+aTask, "card next")},
	{"when does it come", in(`Next: \w+(?:, check \d of \d)? (now|in [^;]+);`, "headline, frame").
		and(`(?m)^  \w{3} `+clock+`  (in \S+ \w+(?: \d+ min)?) `, "status").
		and(clock+`  (in \S+ \w+(?: \d+ min)?) `, "schedule ahead").and(clock+`, (in [^,]+),`, "plain schedule ahead")},
	{"how many tasks are there", places{
		"status": counts("status"), "plain status": counts("plain status"), "slash status": counts("slash status"), "check": counts("check"),
		"status --json": func(h *home) string {
			return tasksText(field(h, "status --json", "routines"), field(h, "status --json", "reminders"))
		},
		"lists": func(h *home) string { return tasksText(rows(h.said["routine list"]), rows(h.said["reminder list"])) },
	}},
	{"what is wrong", places{
		"check":          positions("check"),
		"plain problems": positions("plain problems"),
		"check --json":   func(h *home) string { return positionsOf(h.said["check --json"]) },
		"status --json":  func(h *home) string { return positionsOf(field(h, "status --json", "problems")) },
	}},
	{"how many mistakes are there", in(`problems: +(\d+) error`, everyStatus).and(`: ([1-9]\d*) errors?, `, "check").
		by("status --json", func(h *home) string { return some(strings.Count(h.said["status --json"], `"severity": "error"`)) })},
	{"what failed", in(`failed: +(\d+) run`, statusInPlain).and(`(\d+) failed run`, "plain start").and(`^(\d+) runs failed`, "headline").
		and(numbered("failed_unseen"), "status --json")},
	{"how many runs ended today", in(`today: +(?:(\d+) runs?, )`, statusInPlain).and(`(\d+) run`, "card today").
		and(numbered("runs_today"), "status --json").by("runs --json", func(h *home) string { return some(h.endedToday()) })},
	{"which run was the last", in(`^  [0-9a-f]{8}  .*?\w{3} (\d\d:\d\d):\d\d +[\d:]+  (\w+)`, "runs").
		and(`(?m)^(?:run )?1, (?P<b>\w+), .*?(?P<a>\d\d:\d\d), `, "plain runs").
		by("runs --json", func(h *home) string {
			if len(h.runs()) == 0 {
				return ""
			}
			f := h.runs()[0]
			return f.Started.In(h.at.Env.Zone).Format("15:04") + " " + f.Title
		})},
	{"how many pings are left", in(`budget: +(\d+) of (\d+) pings? left`, everyStatus).and(`  (\d+) / (\d+)  `, "frame").
		and(`(\d+) of (\d+) pings? left`, "card pings").and(`budget: (\d+)(?:\.\d+)?/(\d+) available`, "budget, plain budget").
		and(`"capacity": (?P<b>[1-9]\d*),\s+"available": (?P<a>\d+)`, "budget --json, status --json")},
	{"how is the budget, in words", in(`(?m)^budget: +(.+)$`, everyStatus).and(`(.+)`, "card pings")},
	{"how was today, in words", in(`(?m)^today: +(.+)$`, everyStatus).and(`(.+)`, "card today")},
	{"what is most urgent, in words", in(`(.+)`, "headline, status, slash status")},
	{"what is most urgent, in the words of the phone", in(`(.+)`, "card").
		by("headline", func(h *home) string { return post.Phone(match("headline", `(.+)`)(h)) })},
	{"how is the budget", places{
		"budget --json": func(h *home) string { return compact(h.said["budget --json"]) },
		"status --json": func(h *home) string { return compact(field(h, "status --json", "budget")) },
	}},
	{"what was spent today", in(`today: .*?`+sum, everyStatus).and(sum, "card today").and(`today: +`+sum, "costs, plain costs").
		by("status --json", dollars("status --json")).by("costs --json", dollars("costs --json"))},
	{"what is the cap", in(`today: .*? of `+sum, "status, plain status, costs, plain costs").and(` of `+sum, "card today")},
	{"which updates are pending", places{"updates": names("updates"), "updates --json": names("updates --json"), "plain updates": names("plain updates")}},
	{"how many updates are pending", in(`updates: +(\d+) `, everyStatus).and(`3 Updates ─*(?: (\d+) )?─`, "frame").
		and(numbered("updates"), "status --json")},
	{"what is on hold", places{
		"status":     every(`(?m)^(?:paused|snoozed until .*?): +(\w+) \(`, "status"),
		"schedule":   every(`(\w+)(?:, check \d of \d)? \[(?:paused|snoozed)`, "schedule"),
		"lists":      every(`  (\w+)  \((?:paused|snoozed)`, "routine list", "reminder list"),
		"plain list": every(`(?m)^(?:task )?\d+, (\w+).*(?:paused|snoozed)`, "plain list"),
		"status --json": func(h *home) string {
			return strings.Join(found(`"title": "(\w+)"`, field(h, "status --json", "paused")), " ")
		},
	}},
	{"until when are pings muted", in(`muted until `+dayTime, everyStatus+", frame")},
	{"what waits for me", in(`waiting: +(\d+) file`, statusInPlain).and(`(\d+) files? of the agent`, "plain start").
		and(`^(\d+) files by the agent wait`, "headline").and(numbered("waiting"), "status --json").
		by("allow", func(h *home) string { return strings.TrimPrefix(rows(h.said["allow"]), "0") })},
}

// some is a number, of which 0 is none.
func some(n int) string { return strings.TrimPrefix(fmt.Sprint(n), "0") }

// numbered is a number of `status --json`, of which 0 is none.
func numbered(name string) string { return `(?m)^  "` + name + `": ([1-9]\d*)` }

// match returns the groups of the first match in what a place says, or nothing. Groups with names come in the order of these.
func match(place, pattern string) func(*home) string {
	re := regexp.MustCompile(pattern)
	return func(h *home) string {
		m := re.FindStringSubmatch(h.said[place])
		if m == nil {
			return ""
		}
		groups := m[1:]
		if re.SubexpIndex("b") == 1 {
			slices.Reverse(groups)
		}
		return strings.Join(groups, " ")
	}
}

// every returns the first group of all matches in what some places say, sorted.
func every(pattern string, list ...string) func(*home) string {
	return func(h *home) string {
		said := ""
		for _, place := range list {
			said += h.said[place] + "\n"
		}
		return strings.Join(found(pattern, said), " ")
	}
}

// names returns the updates that a place lists, sorted.
func names(place string) func(*home) string { return every(`(U\d+ from \w+)`, place) }

func counts(place string) func(*home) string {
	re := regexp.MustCompile(`(?:(\d+) routines?)?(?:,? ?(?:and )?(\d+) reminders?)?`)
	return func(h *home) string {
		for _, m := range re.FindAllStringSubmatch(h.said[place], -1) {
			if m[0] != "" {
				return tasksText(m[1], m[2])
			}
		}
		return ""
	}
}

func tasksText(routines, reminders string) string {
	if routines+reminders == "" || routines == "0" && reminders == "0" {
		return ""
	}
	return fmt.Sprintf("%s routines, %s reminders", strings.TrimPrefix(routines, "0"), strings.TrimPrefix(reminders, "0"))
}

// rows counts the indented lines of a list.
func rows(text string) string {
	n := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   ") {
			n++
		}
	}
	return fmt.Sprint(n)
}

// positions returns the file, line and column of each problem that a place lists, sorted.
func positions(place string) func(*home) string {
	return every(`(?m)^(?:\d+ problems?: )?((?:routines/|reminders/|skills/|tool-policy|prices)[\w /-]*\.(?:md|yaml)(?::\d+)*):`, place)
}

func positionsOf(list string) string {
	var problems []routines.Problem
	_ = json.Unmarshal([]byte(list), &problems)
	var found []string
	for _, p := range problems {
		found = append(found, p.Position())
	}
	slices.Sort(found)
	return strings.Join(found, " ")
}

// field returns a field of a JSON answer.
func field(h *home, place, name string) string {
	var answer map[string]json.RawMessage
	if err := json.Unmarshal([]byte(h.said[place]), &answer); err != nil {
		h.t.Fatalf("%s: %v in %s", place, err, h.said[place])
	}
	return string(answer[name])
}

func compact(text string) string {
	var out bytes.Buffer
	_ = json.Compact(&out, []byte(text))
	return out.String()
}

// dollars returns the dollars of today of a JSON answer.
func dollars(place string) func(*home) string {
	return func(h *home) string {
		sum, err := strconv.ParseFloat(strings.Join(found(`"today_usd": ([\d.e-]+)`, h.said[place]), ""), 64)
		testkit.Must(h.t, err)
		return words.Dollars(sum)
	}
}

func (h *home) runs() (list []fork.View) {
	testkit.Must(h.t, json.Unmarshal([]byte(h.said["runs --json"]), &list))
	return list
}

// endedToday counts the runs that have ended since midnight.
func (h *home) endedToday() (n int) {
	for _, f := range h.runs() {
		if !f.Ended.IsZero() && words.SameDay(f.Ended, h.now, h.at.Env.Zone) {
			n++
		}
	}
	return n
}

// whole is most of what was said, for a failure.
func (h *home) whole() (text string) {
	for _, place := range []string{"headline", "status", "schedule", "runs", "plain runs", "check", "allow", "frame"} {
		text += fmt.Sprintf("--- %s\n%s\n", place, h.said[place])
	}
	return text
}

// The words of random states.
var (
	treeNames = []string{"Alder", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak", "Pine", "Rowan", "Spruce"}
	someZones = []string{"UTC", "America/Los_Angeles", "Asia/Kolkata", "Pacific/Auckland", "Europe/Berlin"}
)

func newRandomHome(t *testing.T, r *rand.Rand) *home {
	t.Helper()
	time.Sleep(time.Duration(r.IntN(400*86_400)) * time.Second)
	h := &home{t: t, r: r, root: t.TempDir(), zone: someZones[r.IntN(len(someZones))], now: time.Now(), said: map[string]string{}}
	h.env = []string{"OLLIM_DATA_DIR=" + h.root, "OLLIM_TIMEZONE=" + h.zone, "HOME=" + t.TempDir(), "OLLIM_USER_NAME=Ada"}
	h.furnish()
	h.ask()
	return h
}

// chance reports one in n.
func (h *home) chance(n int) bool { return h.r.IntN(n) == 0 }

func (h *home) put(rel, format string, args ...any) {
	put(h.t, filepath.Join(h.root, rel), fmt.Sprintf(format, args...))
}

// ago is a moment in the past, up to a number of minutes.
func (h *home) ago(minutes int) time.Time {
	return h.now.Add(-time.Duration(1+h.r.IntN(minutes*60)) * time.Second)
}

// furnish writes the random state.
func (h *home) furnish() {
	names := slices.Clone(treeNames)
	h.r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var holds, ledger, spending, updates, written []string
	tasks := 0
	task := func(kind, head string) {
		id, name := fmt.Sprintf("%08x", 0xa0000000+tasks), names[tasks]
		tasks++
		text := fmt.Sprintf("---\nid: %q\n%sdescription: %s\nbackground: true\n%s", id, head, name, h.perhaps("allow-ping: false\n", 4))
		rel := kind + "s/" + strings.ToLower(name) + ".md"
		if h.chance(6) {
			text += "allowed-tools: [\"Bash(rm *)\"]\n---\nLook.\n"
			written = append(written, fmt.Sprintf(`%q: {"path": %q, "writer": "w", "at": "2000-01-01T00:00:00Z"}`, routines.Digest([]byte(text)), rel))
		} else {
			text += "---\nLook.\n"
		}
		h.put(rel, "%s", text)
		switch {
		case h.chance(8):
			holds = append(holds, fmt.Sprintf(`{"kind": %q, "id": %q, "since": %q, "paused": true}`, kind, id, h.ago(100).Format(time.RFC3339)))
		case h.chance(8):
			until := h.now.Add(time.Duration(1+h.r.IntN(3000)) * time.Minute)
			holds = append(holds, fmt.Sprintf(`{"kind": %q, "id": %q, "since": %q, "until": %q}`, kind, id, h.ago(100).Format(time.RFC3339), until.Format(time.RFC3339)))
		}
		for range h.r.IntN(3) {
			began := h.ago(2 * 24 * 60)
			ended := began.Add(time.Duration(h.r.IntN(300)) * time.Second)
			if ended.After(h.now) {
				ended = h.now
			}
			state := []string{"done", "failed", "timed out", "stopped", "no report"}[h.r.IntN(5)]
			cost, run := float64(h.r.IntN(200))/1000, fmt.Sprintf("%08x", h.r.Uint32())
			at := began.Format(time.RFC3339Nano)
			ledger = append(ledger, fmt.Sprintf(`{"id":%q,"kind":%q,"task":%q,"title":%q,"state":%q,"queued":%q,"started":%q,"ended":%q,"tokens":10,"cost_usd":%g}`,
				run, kind, id, name, state, at, at, ended.Format(time.RFC3339Nano), cost))
			spending = append(spending, fmt.Sprintf(`{"at":%q,"for":"run","task":{"kind":%q,"id":%q},"run":%q,"usage":{"input_tokens":10,"cost_usd":%g},"requests":1}`,
				ended.Format(time.RFC3339Nano), kind, id, run, cost))
		}
	}
	for range h.r.IntN(5) {
		task("routine", fmt.Sprintf("cron: %q\n", h.cron()))
	}
	for range h.r.IntN(4) {
		at := h.now.Add(time.Duration(h.r.IntN(3000)-200) * time.Minute).Truncate(time.Minute)
		task("reminder", fmt.Sprintf("run-at: %q\n", at.Format(time.RFC3339))+h.perhaps("max-chain: 3\nchain-depth: 1\nchain-parent: c0ffee00\n", 3))
	}
	for i := range h.r.IntN(3) {
		updates = append(updates, fmt.Sprintf(`{"ts": %q, "message": "U%d from %s", "source": {"from": %[3]q}}`, h.ago(900).Format(time.RFC3339), i, names[i]))
	}
	slices.Sort(ledger) // not the order of their times
	h.state("failures_seen.json", fmt.Sprintf(`{"since": %q}`, h.ago(2*24*60).Format(time.RFC3339)))
	h.state("provenance.json", `{"writers": {"w": {"kind": "main session", "allowed": ["Write(./**.md)"]}}, "written": {`+strings.Join(written, ",")+"}}")
	h.state("fork_runs.jsonl", strings.Join(ledger, "\n"))
	h.state("spending.jsonl", strings.Join(spending, "\n"))
	h.state("holds.json", `{"holds": [`+strings.Join(holds, ",")+`]}`)
	h.state("pending_updates.json", "["+strings.Join(updates, ",")+"]")
	h.furnishRest()
}

// furnishRest writes what does not belong to tasks.
func (h *home) furnishRest() {
	capacity := h.r.IntN(7)
	day := h.now.Format(time.DateOnly)
	h.state("ping_budget.json", fmt.Sprintf(`{"capacity": %d, "available": %g, "refill_rate_minutes": %d, "last_refill": %q, `+
		`"critical_used": %d, "critical_reset_date": %q, "daily_used": %d, "daily_used_reset": %[6]q}`,
		capacity, h.r.Float64()*float64(capacity), 1+h.r.IntN(200), h.ago(200).Format(time.RFC3339), h.r.IntN(3), day, h.r.IntN(9)))
	if h.chance(4) {
		h.state("mute.json", fmt.Sprintf(`{"until": %q}`, h.now.Add(time.Duration(1+h.r.IntN(900))*time.Minute).Format(time.RFC3339)))
	}
	if h.chance(2) {
		h.state("settings.json", fmt.Sprintf(`{"daily_cap": %d, "quiet_messages": %d}`, 1+h.r.IntN(5), h.r.IntN(5)))
	}
	for rel, text := range map[string]string{
		"routines/broken.md":     "---\nid: bad00001\ncron: sometimes\n---\nLook.\n",
		"reminders/broken.md":    "---\nid: bad00002\nrun-at: soon\n---\nLook.\n",
		"routines/alder 2.md":    "---\nid: a0000000\ncron: \"0 4 * * *\"\nbackground: true\n---\nA copy.\n",
		"tool-policy.yaml":       "bg_forks:\n  overide: []\n",
		"prices.yaml":            "opus: cheap\n",
		"skills/reader/SKILL.md": "---\nname: reader\ndescription: Reads.\n---\nNow: !`date`\n",
		"skills/empty/SKILL.md":  "nothing\n",
	} {
		if h.chance(5) {
			h.put(rel, "%s", text)
		}
	}
}

func (h *home) state(name, text string) { h.put("state/"+name, "%s", text+"\n") }

// perhaps returns a text once in n times, otherwise nothing.
func (h *home) perhaps(text string, n int) string {
	if h.chance(n) {
		return text
	}
	return ""
}

func (h *home) cron() string {
	switch h.r.IntN(4) {
	case 0:
		return fmt.Sprintf("*/%d * * * *", []int{5, 15, 30}[h.r.IntN(3)])
	case 1:
		return fmt.Sprintf("%d * * * *", h.r.IntN(60))
	case 2:
		return fmt.Sprintf("%d %d * * 1-5", h.r.IntN(60), h.r.IntN(24))
	}
	return fmt.Sprintf("%d %d * * *", h.r.IntN(60), h.r.IntN(24))
}

// ask has every place say everything.
func (h *home) ask() {
	p := inProcess(h.env, "", io.Discard, os.Stderr)
	var err error
	h.at, err = p.Open()
	testkit.Must(h.t, err)
	h.bot, err = p.Bot(h.at)
	testkit.Must(h.t, err)
	for _, line := range []string{
		"status", "status --json", "schedule", "runs", "runs --json", "updates", "updates --json", "check", "check --json", "budget", "budget --json",
		"costs", "costs --json", "routine list", "reminder list", "allow",
	} {
		var out, wrong bytes.Buffer
		if status := run(strings.Fields(line), inProcess(h.env, "", &out, &wrong)); status == command.UsageStatus {
			h.t.Fatalf("%s: %s", line, &wrong)
		}
		h.said[line] = out.String()
	}
	for _, line := range []string{"status", "schedule", "runs", "updates", "problems", "budget", "costs", "list"} {
		h.said["plain "+line] = h.plain(line + "\nmore all\n")
	}
	h.said["plain start"] = h.plain("")
	s := h.bot.SnapshotAt(time.Now())
	h.said["headline"], h.said["slash status"] = s.Headline().Text(), strings.Join(s.Status(), "\n")
	h.said["card"] = s.Card().Description
	for _, f := range s.Card().Fields {
		h.said["card "+strings.ToLower(f.Name)] = f.Value
	}
	frame := tui.Frame(moment{h.bot.Viewer(true), s}, tui.FrameOptions{Width: 240, Height: 60, Focus: action.Schedule})
	h.said["frame"] = strings.Join(frame, "\n")
	for _, place := range []string{"schedule", "plain schedule"} {
		h.said[place+" ahead"] = regexp.MustCompile(`(?m)^.*` + clock + `(?:  |, )(?:in |now).*$`).FindString(h.said[place])
	}
}

// plain plays lines to plain mode and returns what it prints.
func (h *home) plain(lines string) string {
	var out bytes.Buffer
	testkit.Must(h.t, plain.Run(h.t.Context(), beside{h.bot.Viewer(false), h}, plain.Options{Input: io.NopCloser(strings.NewReader(lines)), Output: &out}))
	return out.String()
}

// beside is a viewer whose lines are carried out as the running bot does it.
type beside struct {
	*core.Viewer
	h *home
}

func (b beside) Do(ctx context.Context, c command.Value) (command.Outcome, error) {
	if line, ok := c.(command.Line); ok {
		s := b.Snapshot()
		return line.CarryOut(ctx, func(ctx context.Context, args []string) (agent.CommandResult, command.Value) {
			return inProcess(b.h.env, "", nil, nil).carryOut(ctx, b.h.at, b.h.bot, args)
		}, command.Reading{Times: s.Times(), Find: s.Find})
	}
	return b.Viewer.Do(ctx, c)
}

// found is what the group of a pattern matches in a text, sorted.
func found(pattern, text string) (list []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	slices.Sort(list)
	return list
}
