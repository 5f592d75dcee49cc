package routines

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ollimbot/core/base/goldentest"
	"ollimbot/routines/recur"
)

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

var many = regexp.MustCompile(`\((\d+) (\w)\)`)

// Each line has keys of a routine, or of a reminder where AT is the usual time, and what they change in the task; behind each ! is a problem.
func TestEachKeyIsReadAndEachSlipNamesItsPlaceAndItsCure(t *testing.T) {
	goldentest.Stories(t, "stories/keys.txt", func(t *testing.T, story string) string {
		var out strings.Builder
		for line := range strings.Lines(story) {
			keys, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " →")
			text := many.ReplaceAllStringFunc(keys, func(s string) string {
				m := many.FindStringSubmatch(s)
				n, _ := strconv.Atoi(m[1])
				return strings.Repeat(m[2], n)
			})
			_, reads, problems := read(t, strings.NewReplacer("AT", "run-at: 2026-11-23T09:40:00Z", " ⏎ ", "\n").Replace(text)+"\n")
			out.WriteString(strings.TrimRight(keys+" → "+reads, " "))
			for _, p := range problems {
				fmt.Fprintf(&out, " ! %d:%d %s: %s", p.Line, p.Column, p.Severity, p.Message)
			}
			out.WriteByte('\n')
		}
		return out.String()
	})
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
