package guide

import (
	"io/fs"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/skill"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/work/webhook"
	pages "ollimbot/docs"
	"ollimbot/routines"
	"ollimbot/routines/when"
)

// N17: the pages for people explain the same keys as the agent's documents, which are
// compared with the parsers above, and claim nothing about a key that the parser does not
// do.

// A reference is a page of the documentation that explains the keys of a kind of file.
type reference struct{ page, spec, kind string }

var references = []reference{
	{"routines.md", "routine-reminder-spec.md", "routines"},
	{"routines.md", "routine-reminder-spec.md", "reminders"},
	{"webhooks.md", "webhook-spec.md", "webhooks"},
}

// row is a page's description of a key.
type row struct{ in, standard, example, effect string }

var code = regexp.MustCompile("`([^`]+)`")

func pageText(t testing.TB, page string) string {
	t.Helper()
	data, err := fs.ReadFile(pages.FS, page)
	testkit.Must(t, err)
	return string(data)
}

// asInRoutines matches the list of the keys that a page leaves to the page about routines.
var asInRoutines = regexp.MustCompile(`As in \[routine files\]\(routines\.md#keys\):[^.]+\.`)

// keyRows returns the rows with an example from a page's tables.
func keyRows(t testing.TB, page string) map[string]row {
	t.Helper()
	rows := map[string]row{}
	var head []string
	for line := range strings.Lines(pageText(t, page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case cells[0] == "Key":
			head = cells
		case !strings.HasPrefix(line, "|"):
			head = nil
		case len(head) > 0 && strings.HasPrefix(cells[0], "`"):
			if len(cells) != len(head) {
				t.Errorf("%s: %d cells below %d in %s", page, len(cells), len(head), line)
				continue
			}
			r := row{}
			for i, name := range head {
				*map[string]*string{"Key": new(string), "Type": new(string), "In": &r.in, "Default": &r.standard, "Example": &r.example, "Effect": &r.effect}[name] = cells[i]
			}
			rows[strings.Trim(cells[0], "`")] = r
		}
	}
	if shared := asInRoutines.FindString(pageText(t, page)); shared != "" {
		ofRoutines := keyRows(t, "routines.md")
		for _, key := range code.FindAllStringSubmatch(shared, -1) {
			r := ofRoutines[key[1]]
			r.in = ""
			rows[key[1]] = r
		}
	}
	return rows
}

func TestThePagesExplainTheSameKeysAsTheAgentsDocuments(t *testing.T) {
	for _, r := range append(references, reference{"skills.md", "skill-spec.md", "skills"}) {
		rows, spec := keyRows(t, r.page), keys(t, r.spec)
		if missing := slices.DeleteFunc(slices.Sorted(maps.Keys(spec)), func(k string) bool { return rows[k] != (row{}) }); len(missing) > 0 {
			t.Errorf("docs/%s does not explain %q", r.page, missing)
		}
		for key, said := range rows {
			if in, ok := spec[key]; !ok || in != said.in {
				t.Errorf("docs/%s: %s is in %q, the agent's document says %q", r.page, key, said.in, in)
			}
			if said.standard == "" || said.effect == "" {
				t.Errorf("docs/%s: the row of %s is not complete", r.page, key)
			}
		}
	}
}

// file returns a file of a kind with these lines in its front matter.
func file(kind string, lines ...string) string {
	base := map[string][]string{
		"routines": {`cron: "0 9 * * *"`}, "reminders": {`run-at: "2026-11-24T09:00:00Z"`},
		"webhooks": {"fields: {type: object, properties: {a: {type: string}}}"},
	}[kind]
	base = append([]string{`id: "a"`}, base...)
	for _, line := range lines {
		key, _, _ := strings.Cut(line, ":")
		base = slices.DeleteFunc(base, func(b string) bool { return strings.HasPrefix(b, key+":") })
	}
	return "---\n" + strings.Join(append(base, lines...), "\n") + "\n---\nx"
}

// parsed returns a parsed file without the parts that depend only on its bytes.
func parsed(kind, text string) (any, []routines.Problem) {
	switch kind {
	case "webhooks":
		s, problems := webhook.Parse("webhooks/x.md", []byte(text))
		s.Digest = ""
		verified := []string{s.Verify, s.SecretEnv, s.SignatureHeader, s.DeliveryHeader}
		return []any{s.Task, s.Fields.Declared, verified}, problems // compiled schemas cannot be compared
	case "reminders":
		r, problems := routines.ParseReminder("reminders/x.md", []byte(text), time.UTC)
		r.Digest = ""
		return r, problems
	}
	r, problems := routines.ParseRoutine("routines/x.md", []byte(text))
	r.Digest = ""
	return r, problems
}

// needs are the other lines without which a key has no effect.
var needs = map[string][]string{
	"again": {"until: done"}, "first-at": {"until: done"}, "last-word": {"until: done"},
	"every": {"from: 2026-12-01"}, "times": {"from: 2026-12-01"}, "late": {"missed: run"},
	"verify": {"secret-env: A_SECRET"}, "secret-env": {"verify: github"}, "signature-header": {"verify: hmac-sha256", "secret-env: A_SECRET"},
	"chain-depth": {"max-chain: 3"}, "check": {"background: true"}, "say": {"background: true", `check: "true"`}, "essential": {"background: true"},
}

// The example of each row is accepted unchanged and has an effect; the default of each
// row, written out, has none.
func TestTheExamplesAndDefaultsOfThePagesAreTheParsers(t *testing.T) {
	examples, defaults := 0, 0
	for _, r := range references {
		for key, said := range keyRows(t, r.page) {
			if said.in != "" && said.in != "both" && said.in != r.kind {
				continue
			}
			base, _ := parsed(r.kind, file(r.kind, needs[key]...))
			shown, ofRoutines, two := strings.Cut(said.example, ", in routines ")
			if two && r.kind == "routines" {
				shown = ofRoutines
			}
			example := strings.Trim(shown, "`")
			got, problems := parsed(r.kind, file(r.kind, append(needs[key][:len(needs[key]):len(needs[key])], example)...))
			if len(problems) > 0 || !strings.HasPrefix(example, key+": ") {
				t.Errorf("docs/%s: the example %q is refused in %s: %+v", r.page, example, r.kind, problems)
			}
			onlyOtherKind := key == "background" && r.kind == "reminders" // where it is the default
			if reflect.DeepEqual(got, base) && !onlyOtherKind {
				t.Errorf("docs/%s: the example %q changes nothing in %s", r.page, example, r.kind)
			}
			examples++
			if standard := code.FindAllStringSubmatch(said.standard, -1); strings.HasPrefix(said.standard, "`") {
				value := standard[0][1]
				if _, other, found := strings.Cut(said.standard, "in routines, `"); found && r.kind == "reminders" {
					value, _, _ = strings.Cut(other, "`")
				}
				defaults++
				if got, _ := parsed(r.kind, file(r.kind, append(needs[key][:len(needs[key]):len(needs[key])], key+": "+value)...)); !reflect.DeepEqual(got, base) {
					t.Errorf("docs/%s: %s: %s is not the default of %s", r.page, key, value, r.kind)
				}
			}
		}
	}
	if examples < 45 || defaults < 25 {
		t.Errorf("only %d examples and %d defaults were tried", examples, defaults)
	}
}

func TestTheFilesThatThePagesShowAreWithoutFault(t *testing.T) {
	for page, kinds := range map[string][]string{"routines.md": {"routines", "reminders"}, "webhooks.md": {"webhooks"}} {
		shown := fence.FindAllStringSubmatch(pageText(t, page), -1)
		if len(shown) != len(kinds) {
			t.Fatalf("docs/%s shows %d files", page, len(shown))
		}
		for i, m := range shown {
			if _, problems := parsed(kinds[i], m[1]); len(problems) > 0 {
				t.Errorf("docs/%s: %s\n%+v", page, m[1], problems)
			}
		}
	}
	senders := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(pageText(t, "webhooks.md"), -1)
	for _, m := range senders {
		if _, problems := parsed("webhooks", "---\n"+m[1]+"---\nx"); len(problems) > 0 {
			t.Errorf("docs/webhooks.md: %s\n%+v", m[1], problems)
		}
	}
	if len(senders) != 5 {
		t.Errorf("docs/webhooks.md shows %d senders", len(senders))
	}
	d := prepared(t)
	storetest.Put(t, d, "skills/email-triage/SKILL.md", fence.FindStringSubmatch(pageText(t, "skills.md"))[1])
	if skills, problems := skill.List(d); len(problems) > 0 || len(skills) != 1 {
		t.Errorf("docs/skills.md: %d skills, %+v", len(skills), problems)
	}
	for key, said := range keyRows(t, "skills.md") {
		if doc, err := frontmatter.Parse([]byte("---\n" + strings.Trim(said.example, "`") + "\n---\nx")); err != nil || len(doc.Fields) != 1 || doc.Fields[0].Key != key {
			t.Errorf("docs/skills.md: the example of %s is %s: %v", key, said.example, err)
		}
	}
}

// inWords finds the schedules that the pages say in words: in commands, and in the line above cron in a file.
var inWords = regexp.MustCompile("(?m)`ollim-bot cron ([a-z][^`]*)`|^    ollim-bot cron ([a-z].*)$|--(?:when|cron) \"([^\"*]+)\"|^# (.*)\ncron: \"(.*)\"$")

// D8: the pages say schedules in words first, and the program takes what they say.
func TestTheSchedulesThatThePagesSayInWordsAreAccepted(t *testing.T) {
	reader := when.Reader{Now: time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC), Day: when.Day{Morning: 8 * 60, Noon: 12 * 60, Afternoon: 15 * 60, Evening: 18 * 60, Night: 21 * 60}}
	said := 0
	names, err := fs.Glob(pages.FS, "*.md")
	testkit.Must(t, err)
	for _, name := range names {
		for _, m := range inWords.FindAllStringSubmatch(pageText(t, name), -1) {
			text := strings.TrimSuffix(strings.Split(m[1]+m[2]+m[3]+m[4], ",")[0], ".")
			if strings.ToUpper(text) == text { // a placeholder
				continue
			}
			said++
			got, err := reader.Schedule(text)
			if err != nil {
				t.Errorf("docs/%s: %q: %v", name, text, err)
				continue
			}
			if m[5] == "" {
				continue
			}
			if want, err := reader.Schedule(m[5]); err != nil || want.Words() != got.Words() {
				t.Errorf("docs/%s: %q is %s, and %s is %s, %v", name, text, got.Words(), m[5], want.Words(), err)
			}
		}
	}
	if said < 7 {
		t.Errorf("only %d schedules were found", said)
	}
}

// Every document with the key model says that a provider may precede the model.
func TestTheDocumentsSayThatAModelMayHaveItsProvider(t *testing.T) {
	for _, name := range []string{"routine-reminder-spec.md", "webhook-spec.md"} {
		_, line, _ := strings.Cut(text(t, name), "| `model` |")
		line, _, _ = strings.Cut(line, "\n")
		if !strings.Contains(line, "`local/qwen3`") {
			t.Errorf("%s: %s", name, line)
		}
	}
}
