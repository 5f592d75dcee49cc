package routines

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ollimbot/routines/recur"
)

// sentence is what a file's keys mean: what they change in the task, and what is wrong with them, one line for each problem.
type sentence struct{ keys, reads, says string }

// read parses a routine, or a reminder if that is what the keys are of, and returns what differs in it from one without
// keys of its own.
func read(t *testing.T, keys string) (task any, differs string, problems []Problem) {
	t.Helper()
	lacks := func(key, line string) string {
		if strings.Contains("\n"+keys, "\n"+key+":") {
			return ""
		}
		return line
	}
	var bare any
	head := "---\n" + lacks("id", "id: a\n")
	if strings.Contains(keys, "run-at:") {
		r, found := ParseReminder("x.md", []byte(head+keys+"---\nGo.\n"), losAngeles(t))
		again, _ := ParseReminder("x.md", FormatReminder(r), losAngeles(t))
		if r.FirstAt.IsZero() && (!r.UntilDone || r.MaxChain > 0) { // a new one is never written otherwise
			same(t, keys, r, again, found)
		}
		if ours := r.Ours(); strings.Contains(ours, "ahead") != (len(r.Ahead) > 0) || len(r.Ahead) == 0 && ours != "" {
			t.Errorf("%s: ours alone is %q", keys, ours)
		}
		plain, _ := ParseReminder("x.md", []byte("---\nid: a\nrun-at: 2026-11-23T09:40:00Z\n---\nGo.\n"), losAngeles(t))
		task, bare, problems = r, plain, found
	} else {
		r, found := ParseRoutine("x.md", []byte(head+lacks("cron", "cron: 0 9 * * *\n")+keys+"---\nGo.\n"))
		again, _ := ParseRoutine("x.md", FormatRoutine(r))
		same(t, keys, r, again, found)
		if ours := strings.Join(r.Ours(), ""); strings.Contains(ours, "ignores say") != r.Says {
			t.Errorf("%s: ours alone is %q", keys, ours)
		}
		plain, _ := ParseRoutine("x.md", []byte("---\nid: a\ncron: 0 9 * * *\n---\nGo.\n"))
		task, bare, problems = r, plain, found
	}
	var list []string
	differ(reflect.ValueOf(bare), reflect.ValueOf(task), &list)
	return task, strings.Join(list, " "), problems
}

// same fails where a task without errors is another once it has been written and read again.
func same(t *testing.T, keys string, task, again any, problems []Problem) {
	t.Helper()
	if HasErrors(problems) {
		return
	}
	if diff := cmp.Diff(task, again, cmpopts.IgnoreFields(Task{}, "Digest")); diff != "" {
		t.Errorf("%s: written again (-want +got)\n%s", keys, diff)
	}
}

func written(v reflect.Value) string {
	if r, is := v.Interface().(recur.Recurrence); is {
		return r.String()
	}
	return fmt.Sprint(v.Interface())
}

func differ(bare, got reflect.Value, list *[]string) {
	for i := range got.NumField() {
		name, a, b := got.Type().Field(i).Name, bare.Field(i), got.Field(i)
		if name == "Task" {
			differ(a, b, list)
			continue
		}
		if text := written(b); text != written(a) && name != "ID" && name != "Cron" && name != "Digest" {
			*list = append(*list, name+"="+text)
		}
	}
}

func TestEachKeyIsReadAndEachSlipNamesItsPlaceAndItsCure(t *testing.T) {
	for _, c := range sentences {
		_, reads, problems := read(t, c.keys)
		if reads != c.reads {
			t.Errorf("%sreads %q, want %q", c.keys, reads, c.reads)
		}
		says := strings.Split(c.says, "\n")
		if c.says == "" {
			says = nil
		}
		if len(problems) != len(says) || HasErrors(problems) != strings.Contains(c.says, " error: ") {
			t.Errorf("%ssays\n%swant\n%s", c.keys, report(problems), c.says)
			continue
		}
		for i, want := range says {
			place, message, _ := strings.Cut(want, ": ")
			p := problems[i]
			if got := fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Severity); got != place || !strings.Contains(p.Message, message) {
				t.Errorf("%ssays\n%swant\n%s", c.keys, report(problems), want)
			}
		}
	}
}

func TestACheckThatCallsAToolIsReadApart(t *testing.T) {
	for check, want := range map[string][2]string{
		"mcp__mail__unread": {"mcp__mail__unread", "{}"}, `mcp__weather__alerts  {"area": "x"} `: {"mcp__weather__alerts", `{"area": "x"}`},
		"mcp__a__b__c {}": {"mcp__a__b__c", "{}"}, "./mcp__a__b": {}, "": {}, "mcp__mail__unread 7": {},
	} {
		tool, args, ok := CheckCall(check)
		if ok != (want[0] != "") || ok && (tool != want[0] || string(args) != want[1]) {
			t.Errorf("%q is %q with %s, %v", check, tool, args, ok)
		}
	}
}

func TestOnlyTheTimeOfTheFileHasItsWindow(t *testing.T) {
	for keys, want := range map[string]string{
		`run-at: "2026-11-24T09:00:00-08:00"`: "9:00-11:00",
		`run-at: "2026-11-24T10:00:00-08:00"`: "", // no window starts then
	} {
		task, _, _ := read(t, keys+"\nwindow: 9:00-11:00\n")
		r, _ := task.(Reminder)
		if got := r.LeewayAt(r.RunAt).String(); got != want || r.LeewayAt(r.RunAt.Add(time.Hour)).String() != "" {
			t.Errorf("%s: %q, once it was snoozed %q", keys, got, r.LeewayAt(r.RunAt.Add(time.Hour)))
		}
		if end := r.Leeway.End(r.RunAt).Format("15:04"); want != "" && end != "11:00" {
			t.Errorf("its window ends at %s", end)
		}
	}
}

// The original program ignores the keys, so cron alone is what it fires at: never less often.
func TestEachTimeIsOneOfCronAlone(t *testing.T) {
	r, problems := ParseRoutine("r.md", []byte("---\nid: a\ncron: \"0 9 * * 2\"\nevery: 2 weeks\nfrom: 2026-12-01\nskip: 24 Dec to 2 Jan\n---\nGo.\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for range 50 {
		at = r.Schedule.Next(at)
		if !r.Schedule.Cron.Next(at).Equal(at) {
			t.Errorf("%v is no time of cron", at)
		}
		at = at.Add(time.Minute)
	}
}

// at is the time of most reminders.
const at = "run-at: 2026-11-23T09:40:00Z\n"

// sentences are the reference of the keys.
var sentences = []sentence{
	// The id, the time and what every task has.
	{"id:\ncron: 0 9 * * *\n", "", "2:1 error: there is no id"},
	{"id: [a]\n", "", "3:5 error: id must be a single value"},
	{"id: \"a\\nb\"\n", "", "3:5 error: one line"},
	{"id: \"\\u200b\"\n", "", "3:5 error: visible characters"},
	{"id: " + strings.Repeat("a", 257) + "\n", "", "3:5 error: 1 to 256"},
	{"cron: 0 9 * 13 *\n", "Schedule=", "3:13 error: month 13"},
	{"cron: '0 9 * 13 *'\n", "Schedule=", "3:14 error: month 13"},
	{"cron: [0 9]\n", "Schedule=", "3:7 error: cron must be a single value"},
	{"cron: ~\n", "Schedule=", "3:1 error: there is no cron"},
	{"allow_ping: never\n", "", "4:13 error: allow-ping is"},
	{"model: gpt\n", "", "4:8 error: write opus, sonnet, haiku or a model with its provider, such as local/qwen3"},
	{"model: local/qwen3\n", "Model=local/qwen3", ""},
	{"missed: skip\n", "", "4:9 error: write note or run"},
	{"background: \"false\"\n", "", "4:13 warning: counts as true"},
	{"description: \"\\e[2Jhi\"\n", "Description=hi", "4:14 warning: invisible"},
	{"description: \"two\\nlines\\tand a tab\"\n", "Description=two lines    and a tab", ""},
	{"disallowed-tools: [A]\nallowed-tools: [B]\n", "Allowed=[B]", "5:1 error: keep one"},
	{"allowed-tools: WebFetch\n", "", "4:16 error: must be a list"},
	{"allowed-tools:\n  - ~\n", "", "5:5 error: is not text"},
	{"allowed-tools:\n  - Read(*)\n", "Allowed=[Read(*)]", "5:5 warning: overly broad"},
	// A key that is none, or another kind's.
	{"subagnt: x\n", "", "4:1 warning: did you mean subagent?"},
	{"siklls: x\n", "", "4:1 warning: did you mean skills?"},
	{"evry: 2 weeks\n", "", `4:1 warning: "evry" is not a known key; did you mean every?`},
	{"may-wait: true\n", "", "4:1 warning: may-wait was removed"},
	{"Model: haiku\n", "", "4:1 warning: did you mean model?"},
	{"unknown-key: x\nnotes: y\ntag: z\nx: 1\n", "", ""},
	{"max-chain: 1\n", "", "4:1 warning: a key of reminders"},
	{"cron: 0 9 * * *\nrun-at: 2026-11-23T09:40:00Z\n", "", "3:1 warning: a key of routines"},
	{at + "skip: 24 Dec\n", "", "4:1 warning: skip is a key of routines"},
	{at + "say: check\n", "", "4:1 warning: say is a key of routines"},
	{"until: 2027-12-01\n", "Schedule=0 9 * * *, until 1 December 2027", ""},
	// A reminder's time and chain.
	{"run-at:\n", "RunAt=0001-01-01 00:00:00 +0000 UTC", "3:1 error: there is no run-at"},
	{"run-at: 2026-11-23\n", "RunAt=0001-01-01 00:00:00 +0000 UTC", "3:9 error: no time of day"},
	{"run-at: 2026-02-30T10:00:00Z\n", "RunAt=0001-01-01 00:00:00 +0000 UTC", "3:9 error: does not exist"},
	{"run-at: 0001-01-01T00:00:00Z\n", "RunAt=0001-01-01 00:00:00 +0000 UTC", "3:9 error: 1900 to 9999"},
	{"run-at: 1900-01-02T00:00:00Z\n", "RunAt=1900-01-01 16:00:00 -0800 PST", ""},
	{"run-at: 9999-12-30T00:00:00Z\n", "RunAt=9999-12-29 16:00:00 -0800 PST", ""},
	{"run-at: 9999-12-31T23:59:00-12:00\n", "RunAt=0001-01-01 00:00:00 +0000 UTC", "3:9 error: 1900 to 9999"},
	{"run-at: 1900-01-01T00:00:00Z\n", "RunAt=0001-01-01 00:00:00 +0000 UTC", "3:9 error: 1900 to 9999"},
	{at + "max-chain: -1\n", "", "4:12 error: whole number from 0"},
	{at + "max-chain: 1.5\n", "", "4:12 error: whole number from 0"},
	{at + "max-chain: 99999999999999999999\n", "", "4:12 error: to 10000"},
	{at + "chain-depth: 3\nmax-chain: 2\n", "ChainDepth=3 MaxChain=2", "4:14 error: beyond max-chain 2"},
	{at + "chain-depth: 2\nmax-chain: 2\n", "ChainDepth=2 MaxChain=2", ""},
	{at + "chain-parent: \"a\\eb\"\n", "", "4:15 error: not the id of a reminder"},
	// A reminder until it is done.
	{at + "until: done\n", "MaxChain=5 UntilDone=true Again=30", ""},
	{at + "until: \"done\"\nmax-chain: 2\nagain: 5\n", "MaxChain=2 UntilDone=true Again=5", ""},
	{at + "until: done\nmax-chain: 0\n", "UntilDone=true Again=30", ""},
	{at + "until: done\nbackground: false\n", "Background=false", "4:8 warning: write background: true"},
	{at + "until: done\nallow-ping: false\n", "AllowPing=false", "4:8 warning: delete allow-ping: false"},
	{at + "until: done\nagain: 20000\n", "MaxChain=5 UntilDone=true Again=30", "5:8 error: whole number"},
	{at + "until: done\nagain: 10000\n", "MaxChain=5 UntilDone=true Again=10000", ""},
	{at + "until: done\nfirst-at: soon\n", "MaxChain=5 UntilDone=true Again=30", "5:11 warning: writes it again"},
	{at + "again: 5\n", "", "4:8 warning: without until: done"},
	{at + "until: noon\n", "", `4:8 error: until is "noon"; write done, or delete the line`},
	{at + "until: done\nid: " + strings.Repeat("x", 81) + "\n", "", "3:8 warning: at most 80 bytes"},
	{at + "until: done\nid: " + strings.Repeat("x", 80) + "\n", "MaxChain=5 UntilDone=true Again=30", ""},
	{at + "until: done\nchain-depth: 7\n", "ChainDepth=7 MaxChain=7 UntilDone=true Again=30", ""},
	// What is sent ahead.
	{at + "ahead: 1 day\n", "Ahead=[1 day]", ""},
	{at + "ahead:\n  - 1 day: The dentist\n  - 10 minutes\n", "Ahead=[1 day: The dentist 10 minutes]", ""},
	{at + "ahead: soon\n", "", "4:8 error: ahead is"},
	{at + "ahead: 1 day\nallow-ping: false\n", "AllowPing=false", "4:8 warning: delete allow-ping: false, or ahead"},
	{at + "ahead:\n  - 1 hour\n  - 60 minutes\n", "Ahead=[1 hour]", "5:3 warning: delete one of them"},
	{at + "ahead:\n  - [a]\n", "", "5:3 error: ahead is\n5:5 error: is not text"},
	// Essential is for tasks that ping.
	{at + "essential: true\n", "Essential=true", ""},
	{"background: true\nessential: true\n", "Background=true Essential=true", ""},
	{"essential: true\n", "", "4:12 warning: background: true"},
	{at + "allow-ping: false\nessential: true\n", "AllowPing=false", "5:12 warning: allow-ping"},
	{at + "essential: false\n", "", ""},
	// A check, which decides before each fire whether it is needed.
	{"background: true\ncheck: ./new-mail.sh --quiet\n", "Background=true Check=./new-mail.sh --quiet", ""},
	{"background: true\ncheck: \"\"\n", "Background=true", "5:8 warning: check is empty"},
	{"check: ./new-mail.sh\n", "", "4:8 warning: background only"},
	{"background: true\ncheck: mcp__mail__unread\n", "Background=true Check=mcp__mail__unread", ""},
	{"background: true\ncheck: mcp__weather__alerts {\"area\":\"x\"}\n", `Background=true Check=mcp__weather__alerts {"area":"x"}`, ""},
	{"background: true\ncheck: 'mcp__weather__alerts {\"area\": \"x y\"}'\n", `Background=true Check=mcp__weather__alerts {"area": "x y"}`, ""},
	{"background: true\ncheck: mcp__weather__alerts area\n", "Background=true", "5:8 error: calls no tool"},
	{"background: true\ncheck: mcp__weather__alerts [1]\n", "Background=true", "5:8 error: calls no tool"},
	{"background: true\ncheck: mcp__weather__alerts {\"area\"\n", "Background=true", "5:8 error: calls no tool"},
	{"background: true\ncheck: mcp__weather\n", "Background=true", "5:8 error: calls no tool"},
	{"background: true\ncheck: mcp____alerts\n", "Background=true", "5:8 error: calls no tool"},
	// A check that is the message.
	{"background: true\ncheck: ./look.sh\nsay: check\n", "Background=true Check=./look.sh Says=true", ""},
	{"background: true\ncheck: ./look.sh\nsay: check\nessential: true\ntrust-input: true\nmissed: run\nlate: 2 hours\nwindow: 9:00-11:00\nupdate-main-session: blocked\n", "Background=true Mode=blocked TrustInput=true Essential=true Check=./look.sh Says=true Leeway=9:00-11:00 RunMissed=true Late=2h0m0s", ""},
	{"background: true\ncheck: mcp__weather__alerts\nsay: check\n", "Background=true Check=mcp__weather__alerts Says=true", ""},
	{"background: true\ncheck: ./look.sh\nsay: model\n", "Background=true Check=./look.sh", "6:6 error: write check, or delete the line"},
	{"background: true\nsay: check\n", "Background=true", "5:6 error: there is no check; add a line check:"},
	{"check: ./look.sh\nsay: check\n", "", "4:8 warning: write background: true, or delete check\n5:6 error: write background: true, or delete say"},
	{"background: true\ncheck: ./look.sh\nsay: check\nallow-ping: false\n", "Background=true AllowPing=false Check=./look.sh", "7:13 error: allow-ping: false forbids; delete one of them"},
	{"background: true\ncheck: ./look.sh\nsay: check\nmodel: haiku\n", "Background=true Model=haiku Check=./look.sh", "7:8 error: delete model, or delete say"},
	{"background: true\ncheck: ./look.sh\nsay: check\nthinking: false\n", "Background=true Thinking=false Check=./look.sh", "7:11 error: delete thinking, or delete say"},
	{"background: true\ncheck: ./look.sh\nsay: check\nisolated: true\n", "Background=true Isolated=true Check=./look.sh", "7:11 error: delete isolated, or delete say"},
	{"background: true\ncheck: ./look.sh\nsay: check\nskills: [weekly-review]\n", "Background=true Skills=[weekly-review] Check=./look.sh", "7:9 error: delete skills, or delete say"},
	{"background: true\ncheck: ./look.sh\nsay: check\nsubagent: user-proxy\n", "Background=true Subagent=user-proxy Check=./look.sh", "7:11 error: delete subagent, or delete say"},
	{"background: true\ncheck: ./look.sh\nsay: check\nallowed-tools: [\"WebFetch\"]\n", "Background=true Allowed=[WebFetch] Check=./look.sh", "7:16 error: delete allowed-tools, or delete say"},
	{"background: true\ncheck: ./look.sh\nsay: check\ndisallowed-tools: [\"WebFetch\"]\n", "Background=true Disallowed=[WebFetch] Check=./look.sh", "7:19 error: delete disallowed-tools, or delete say"},
	// A window and a jitter.
	{"window: 9:00-11:00\n", "Leeway=9:00-11:00", ""},
	{"cron: \"0 9 * * 1-5\"\nwindow: \"09:00-11:00\"\n", "Leeway=9:00-11:00 Schedule=0 9 * * 1-5", ""},
	{"cron: \"0 9 * * 1-5\"\nwindow: 9:00-11:00\njitter: 10m\n", "Leeway=9:00-11:00, up to 10 min later Schedule=0 9 * * 1-5", ""},
	{"cron: \"*/30 9-17 * * *\"\njitter: 10m\n", "Leeway=up to 10 min later Schedule=*/30 9-17 * * *", ""},
	{"cron: \"30 8 1 * *\"\nwindow: 9:00-11:00\n", "Leeway=9:00-11:00 Schedule=30 8 1 * *", `4:9 error: cron does not fire at 9:00, where the window starts; write cron: "0 9 1 * *"`},
	{"cron: \"0 9,12 * * *\"\nwindow: 9:00-11:00\n", "Leeway=9:00-11:00 Schedule=0 9,12 * * *", `4:9 error: write cron: "0 9 * * *"`},
	{"window: 9-25\n", "", `4:9 error: window "9-25" is not a window; write its start and end, for example 9:00-11:00`},
	{"window: 9:00-9:00\n", "", "4:9 error: is empty; write an end"},
	{"cron: \"0 22 * * *\"\nwindow: 22:00-1:00\n", "Schedule=0 22 * * *", "4:9 error: passes midnight; a window lies within one day"},
	{"window: [9:00]\n", "", "4:9 error: window must be a single value"},
	{"window: 9:00-9:05\njitter: 10m\n", "Leeway=9:00-9:05, up to 10 min later", "5:9 error: the window 9:00-9:05 is shorter than the jitter of 10m; write a longer window, or a jitter of at most 5m"},
	{"window: 9:00-9:10\njitter: 10m\n", "Leeway=9:00-9:10, up to 10 min later", ""},
	{"jitter: soon\n", "", `4:9 error: jitter "soon" is not a jitter; write minutes or hours`},
	{"jitter: 13h\n", "", "4:9 error: is out of range"},
	{"cron: \"*/10 * * * *\"\njitter: 10m\n", "Leeway=up to 10 min later Schedule=*/10 * * * *", "4:9 error: cron fires every 10m, which is not longer than the jitter of 10m; write a jitter below 10m"},
	{"cron: \"*/10 * * * *\"\njitter: 9m\n", "Leeway=up to 9 min later Schedule=*/10 * * * *", ""},
	{"cron: \"0 9 1 1 *\"\njitter: 12h\n", "Leeway=up to 720 min later Schedule=0 9 1 1 *", ""},
	{"run-at: \"2026-11-24T09:00:00-08:00\"\nwindow: 9:00-11:00\n", "Leeway=9:00-11:00 RunAt=2026-11-24 09:00:00 -0800 PST", ""},
	{"run-at: \"2026-11-24T10:00:00-08:00\"\nwindow: 9:00-11:00\n", "Leeway=9:00-11:00 RunAt=2026-11-24 10:00:00 -0800 PST", `4:9 warning: run-at is not at 9:00, where the window starts, so the reminder fires at exactly that time; write run-at: "2026-11-24T09:00:00-08:00"`},
	{"run-at: \"2026-11-24T10:00:00-08:00\"\nwindow: 9:00-11:00\nuntil: done\nfirst-at: \"2026-11-24T09:00:00-08:00\"\n", "Leeway=9:00-11:00 RunAt=2026-11-24 10:00:00 -0800 PST MaxChain=5 UntilDone=true Again=30 FirstAt=2026-11-24 09:00:00 -0800 PST", ""},
	// What narrows and bounds cron (issue 43).
	{"cron: \"0 9 * * 2\"\nevery: 2 weeks\nfrom: 2026-12-01\n", "Schedule=0 9 * * 2, every 2 weeks, from 1 December 2026", ""},
	{"cron: \"0 9 * * 2\"\nevery: 2 WEEKS\nfrom: \"1 December 2026\"\n", "Schedule=0 9 * * 2, every 2 weeks, from 1 December 2026", ""},
	{"cron: \"0 17 * * 5\"\ndays: last friday\n", "Schedule=0 17 * * 5, on the last Friday of the month", ""},
	{"days:\n  - first monday\n  - last day\n", "Schedule=0 9 * * *, on the first Monday and the last day of the month", ""},
	{"until: 2027-02-28\nskip: 24 Dec to 2 Jan, 2027-02-03\n", "Schedule=0 9 * * *, until 28 February 2027, except 24 December to 2 January and 3 February 2027", ""},
	{"from: 2026-12-01\ntimes: 10\nskip:\n  - 24 Dec to 2 Jan\n  - 2026-12-10 to 2026-12-12\n", "Schedule=0 9 * * *, from 1 December 2026, 10 times, except 24 December to 2 January and 10 December 2026 to 12 December 2026", ""},
	{"zone: Europe/Berlin\n", "Schedule=0 9 * * *, in Europe/Berlin time", ""},
	{"missed: run\nlate: 2 hours\n", "RunMissed=true Late=2h0m0s", ""},
	{"cron: \"0 9 * * 1-5\"\nwindow: 9:00-11:00\nevery: 2 weeks\nfrom: 2026-12-01\n", "Leeway=9:00-11:00 Schedule=0 9 * * 1-5, every 2 weeks, from 1 December 2026", ""},
	{"cron: \"0 9 * * 2\"\nevery: 2 weeks\n", "Schedule=0 9 * * 2, every 2 weeks", `4:8 warning: every counts from 1 January 2024, because there is no from; add the first day, such as from: "2024-01-01"`},
	{"cron: \"0 9 * * 2\"\nevery: 0\n", "Schedule=0 9 * * 2", `4:8 error: every is "0"; write days, weeks, months or years: 2 weeks`},
	{"cron: \"0 9 * * 2\"\nevery: 0 weeks\n", "Schedule=0 9 * * 2", "4:8 error: every 0 is never"},
	{"cron: \"0 9 * * 2\"\nevery: 2 hours\n", "Schedule=0 9 * * 2", "4:8 error: Hours belong in cron"},
	{"cron: \"0 9 * * 2\"\nevery: fortnights\n", "Schedule=0 9 * * 2", "4:8 error: every is"},
	{"cron: \"0 9 * * 2\"\nevery: 1 week\n", "Schedule=0 9 * * 2", ""},
	{"cron: \"0 9 * * 2\"\nfrom: 2026-12-01\nevery: 500 weeks\n", "Schedule=0 9 * * 2", "5:8 error: an interval is 1 to 366"},
	{"cron: \"0 9 * * 1\"\ndays: last friday\n", "Schedule=0 9 * * 1", "4:7 error: the last Friday never falls on a day of cron (every Monday); change one of them"},
	{"cron: \"0 9 * * 1\"\ndays: last blue moon\n", "Schedule=0 9 * * 1", `4:7 error: days is "last blue moon"; say what is last`},
	{"cron: \"0 9 * * 1\"\ndays: 15\n", "Schedule=0 9 * * 1", "4:7 error: write which day of the month"},
	{"until: march\n", "", "4:8 error: write the last day with its year"},
	{"until: done\n", "", "4:8 error: write the last day with its year"},
	{"until: 2027-02-30\n", "", "4:8 error: February has no 30th"},
	{"from: tomorrow\n", "", "4:7 error: write the first day with its year"},
	{"from: 1969-12-31\n", "", "4:7 error: more than can be counted"},
	{"from: 2026-12-02\nuntil: 2026-12-01\n", "", "5:8 error: 1 December 2026 is before 2 December 2026, when it begins; choose a later day"},
	{"times: 0\n", "", "4:8 error: write a whole number from 1 to 1000"},
	{"times: often\n", "", "4:8 error: write a whole number from 1 to 1000"},
	{"times: 10\n", "", `4:8 error: the times are counted from a day; add from: "2026-12-01"`},
	{"from: 2026-12-01\ntimes: 5000\n", "", "5:8 error: a routine fires 1 to 1000 times"},
	{"skip: 2027-01-02 to 2026-12-24\n", "", "4:7 error: 24 December 2026 is before 2 January 2027"},
	{"skip: 1 Jan to 31 Dec\n", "", "4:7 error: the exceptions leave no day"},
	{"skip: mondays\n", "", "4:7 error: left out by naming the others"},
	{"zone: Europe/Atlantis\n", "", "4:7 error: no such time zone is known; write its name"},
	{"zone: Local\n", "", "4:7 error: no such time zone is known; write its name"},
	{"late: 2 hours\n", "Late=2h0m0s", "4:7 warning: late has no effect without missed: run"},
	{"missed: run\nlate: soon\n", "RunMissed=true", "5:7 error: late is"},
	{"missed: run\nlate: 40 days\n", "RunMissed=true", "5:7 error: write 1 minute to 31 days"},
	{"missed: run\nlate: 31 days\n", "RunMissed=true Late=744h0m0s", ""},
	{"missed: run\nlate: 1 minute\n", "RunMissed=true Late=1m0s", ""},
}
