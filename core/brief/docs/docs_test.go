package docs_test

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/docs"
	pages "ollimbot/docs"
)

func library(t testing.TB, files map[string]string) *docs.Library {
	t.Helper()
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return docs.New(m)
}

func shipped(t testing.TB) *docs.Library {
	t.Helper()
	return docs.New(pages.FS)
}

func TestPagesAreListedWithTitleAndFirstParagraph(t *testing.T) {
	l := library(t, map[string]string{
		"b.md":        "# Second\n\n| a | b |\n\nWhat it is\nabout.\n\n## More\n",
		"a.md":        "No heading here\x1b[31m.",
		"empty.md":    "",
		"notes.txt":   "# No page",
		"folder/c.md": "# No page either",
	})
	want := []docs.Page{{Name: "a", Title: "a", About: "No heading here."}, {Name: "b", Title: "Second", About: "What it is about."}, {Name: "empty", Title: "empty"}}
	if diff := cmp.Diff(want, l.List()); diff != "" {
		t.Error(diff)
	}
	if text, ok := l.Read("b.md"); !ok || !strings.HasPrefix(text, "# Second") {
		t.Errorf("b.md reads %q", text)
	}
	for _, name := range []string{"", "c", "../b", "folder/c", "notes", "notes.txt"} {
		if _, ok := l.Read(name); ok {
			t.Errorf("%q is no page", name)
		}
	}
}

func TestEveryRealPageHasATitleAndSaysWhatItIsAbout(t *testing.T) {
	list := shipped(t).List()
	if len(list) < 5 {
		t.Fatalf("only %d pages", len(list))
	}
	for _, p := range list {
		if p.Title == p.Name || p.About == "" {
			t.Errorf("%s is listed as %q, about %q", p.Name, p.Title, p.About)
		}
	}
}

// Questions for the guide, with the page whose section answers them.
func TestSearchFindsTheRealSectionThatAnswers(t *testing.T) {
	l := shipped(t)
	for _, c := range []struct{ query, page string }{
		{"which tools may background runs use", "permissions"},
		{"override background tools yaml", "permissions"},
		{"permission modes acceptEdits", "permissions"},
		{"set ping budget capacity command", "cli"},
		{"reminder add flags", "cli"},
		{"save the fork as the main conversation", "how-it-works"},
		{"leave a fork save report exit", "how-it-works"},
	} {
		hits := l.Search(c.query, 3)
		found := false
		for _, h := range hits {
			found = found || h.Page == c.page
		}
		if !found {
			t.Errorf("%q is not answered from %s: %+v", c.query, c.page, hits)
		}
	}
}

func TestSearchRanksHeadingsRareWordsAndSeveralWordsFirst(t *testing.T) {
	l := library(t, map[string]string{
		"first.md": "# First\n\nIt mentions a chain and two budgets.\n",
		"one.md":   "# One\n\nThe fork is a fork. A budget.\n\n## Chains\n\nNothing of use.\n",
		"two.md":   "# Two\n\nA fork.\n\n## Deep\n\nHere the chain and the quiet hours meet.\n\n```\n# not a heading: zebra\n```\n",
		"three.md": "# Three\n\nforks, forking, forked\n",
	})
	for _, c := range []struct{ query, page, heading string }{
		{"chain", "one", "Chains"},         // in a heading
		{"fork quiet", "two", "Deep"},      // the rarer word
		{"budget of a fork", "one", "One"}, // both words
		{"mentions", "first", "First"},     // in its body alone
		{"budgets fork", "one", "One"},     // the singular, too
		{"ZEBRA", "two", "Deep"},           // code counts, and its # is not a heading
		{"three", "three", "Three"},        // the page's name
	} {
		hits := l.Search(c.query, 5)
		if len(hits) == 0 || hits[0].Page != c.page || hits[0].Heading != c.heading {
			t.Errorf("%q: %+v", c.query, hits)
		}
	}
	if hits := l.Search("fork", 2); len(hits) != 2 {
		t.Errorf("a limit of 2 gives %d", len(hits))
	}
	for _, query := range []string{"", "the of and", "xylophone", "\x00", "?!"} {
		if hits := l.Search(query, 5); len(hits) != 0 {
			t.Errorf("%q finds %+v", query, hits)
		}
	}
	const fifteen = "q0 q1 q2 q3 q4 q5 q6 q7 q8 q9 q10 q11 q12 q13 q14 q0 "
	if within, beyond := l.Search(fifteen+"chain", 9), l.Search(fifteen+"q15 chain", 9); len(within) == 0 || len(beyond) > 0 {
		t.Errorf("the 16th word finds %+v, the 17th %+v", within, beyond)
	}
	if hits := l.Search("fork", -1); len(hits) != 0 {
		t.Errorf("a negative limit gives %+v", hits)
	}
}

func TestAnExcerptIsOneLineOfAtMost320CharactersFromTheLineWithMostWords(t *testing.T) {
	filler := strings.Repeat("filler line\n", 200)
	for name, c := range map[string]struct{ body, query, want string }{
		"it begins at the best line":   {filler + "the needle is here\n" + strings.Repeat("more\n", 200), "needle", "the needle is here" + strings.Repeat(" more", 60) + " …"},
		"more words win over a first":  {"one needle\nnothing\nneedle and thread\nlast", "thread needle", "needle and thread last"},
		"of two alike the first wins":  {"nothing\nneedle one\nneedle two", "needle", "needle one needle two"},
		"a short body is whole":        {"a needle", "needle", "a needle"},
		"a word in the heading is one": {"first\nsecond", "head", "first second"},
	} {
		want := []docs.Hit{{Page: "a", Heading: "Head", Excerpt: c.want}}
		if diff := cmp.Diff(want, library(t, map[string]string{"a.md": "# Head\n\n" + c.body}).Search(c.query, 1)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// call calls a tool like an engine.
func call(t testing.TB, l *docs.Library, name, args string) (string, bool) {
	t.Helper()
	for _, tool := range l.Tools() {
		if tool.Name == name {
			u := agent.ToolUse{Name: name, Input: json.RawMessage(args)}
			a, _ := agent.Approve(u, u.Allowed())
			r := tool.Call(t.Context(), a)
			return r.Text, !r.IsError
		}
	}
	t.Fatalf("there is no tool %s", name)
	return "", false
}

func TestTheToolsAnswerWithWhatCanBeActedOn(t *testing.T) {
	l := library(t, map[string]string{
		"keys.md": "# Keys\n\nEvery key.\n", "forks.md": "# Forks\n\nA fork is a branch.\n", "none.md": "",
		"bare.md": "Without a zebra.\n", "many.md": strings.Repeat("# Yak\n\ncow\n\n", 21),
	})
	const list = "- bare: bare — Without a zebra.\n- forks: Forks — A fork is a branch.\n- keys: Keys — Every key.\n- many: Yak — cow\n- none: none"
	const outside = "Error: offset lies outside of the page, which has "
	wrong := func(tool, why string) string { return "Error: the arguments of " + tool + " are not valid: " + why }
	yaks := func(n int) string { return strings.TrimSuffix(strings.Repeat("many › Yak\n  cow\n", n), "\n") }
	for _, c := range []struct {
		tool, args, want string
		ok               bool
	}{
		{"list", "", list, true},
		{"list", "null", list, true},
		{"search", `{"query":"branch"}`, "forks › Forks\n  A fork is a branch.", true},
		{"search", `{"query":"zebra"}`, "bare\n  Without a zebra.", true},
		{"search", `{"query":"yak"}`, yaks(6), true},
		{"search", `{"query":"yak","limit":1}`, yaks(1), true},
		{"search", `{"query":"yak","limit":20}`, yaks(20), true},
		{"search", `{"query":"nowhere"}`, `Nothing in the documentation fits "nowhere". Try other words, or list the pages.`, true},
		{"search", `{"query":" "}`, `Nothing in the documentation fits "". Try other words, or list the pages.`, true},
		{"search", `{}`, wrong("search", `"query" is missing, add it.`), false},
		{"search", `{"query":"fork","limit":0}`, wrong("search", "limit must be at least 1."), false},
		{"search", `{"query":"fork","limit":21}`, wrong("search", "limit must be at most 20."), false},
		{"search", `{"query":7}`, wrong("search", "query must be of type string, not number."), false},
		{"search", `[`, "Error: the arguments of search cannot be read (unexpected EOF). Send one JSON object.", false},
		{"search", `{"query":"` + strings.Repeat("x", 9000) + `"}`, "Error: the arguments of search are larger than 8 KiB. Shorten them.", false},
		{"read", `{"page":"keys"}`, "# Keys\n\nEvery key.\n", true},
		{"read", `{"page":" keys.md "}`, "# Keys\n\nEvery key.\n", true},
		{"read", `{"page":"keys","offset":8}`, "Every key.\n", true},
		{"read", `{"page":"keys","offset":18}`, "\n", true},
		{"read", `{"page":"keys","offset":19}`, outside + "19 bytes.", false},
		{"read", `{"page":"keys","offset":1e300}`, outside + "19 bytes.", false},
		{"read", `{"page":"keys","offset":-1}`, wrong("read", "offset must be at least 0."), false},
		{"read", `{"page":"none"}`, "", true},
		{"read", `{"page":"none","offset":1}`, outside + "0 bytes.", false},
		{"read", `{"page":"../keys"}`, `Error: there is no page "../keys". The pages are: bare, forks, keys, many, none.`, false},
		{"read", `{}`, wrong("read", `"page" is missing, add it.`), false},
	} {
		if got, ok := call(t, l, c.tool, c.args); ok != c.ok || got != c.want {
			t.Errorf("%s %.80s: %v %q, want %v %q", c.tool, c.args, ok, got, c.ok, c.want)
		}
	}
}

func TestTheSchemasSayWhatTheToolsTake(t *testing.T) {
	for _, tool := range shipped(t).Tools() {
		var s struct {
			Type       string
			Required   []string
			Properties map[string]struct{ Type, Description string }
		}
		if err := json.Unmarshal(tool.Schema, &s); err != nil || s.Type != "object" || tool.Description == "" {
			t.Errorf("%s: %v %+v", tool.Name, err, s)
		}
		for _, name := range s.Required {
			if _, ok := s.Properties[name]; !ok {
				t.Errorf("%s requires %s and does not say what it is", tool.Name, name)
			}
		}
		for name, p := range s.Properties {
			if p.Type == "" || p.Description == "" {
				t.Errorf("%s does not explain %s", tool.Name, name)
			}
		}
	}
}

// For pages of any length, no answer is larger than 20 KB, and following the offsets
// returns every byte of a page once.
func TestPropertyLongPagesAreReadInPiecesWithoutLoss(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		piece := rapid.SampledFrom([]string{"word ", "\n", "日本", "👩‍👧", strings.Repeat("x", 700), "# Head\n"})
		text := strings.Repeat(strings.Join(rapid.SliceOfN(piece, 1, 30).Draw(rt, "pieces"), ""), rapid.IntRange(1, 40).Draw(rt, "times"))
		l := library(t, map[string]string{"long.md": text})
		var whole strings.Builder
		for from := 0; ; {
			args, err := json.Marshal(map[string]any{"page": "long", "offset": from})
			if err != nil {
				rt.Fatal(err)
			}
			got, ok := call(t, l, docs.ToolRead, string(args))
			if !ok || len(got) > 20<<10 || !utf8.ValidString(got) {
				rt.Fatalf("%v, %d bytes", ok, len(got))
			}
			part, note, more := strings.Cut(got, "\n[The page is longer: read it again with offset ")
			whole.WriteString(part)
			if !more {
				break
			}
			var next int
			if err := json.Unmarshal([]byte(strings.TrimSuffix(note, ".]")), &next); err != nil || next <= from {
				rt.Fatalf("%q leads from %d to %d", note, from, next)
			}
			from = next
		}
		if whole.String() != text {
			rt.Fatalf("%d bytes were read of %d", whole.Len(), len(text))
		}
	})
}

func TestManyPagesMakeABoundedList(t *testing.T) {
	files := map[string]string{}
	for i := range 500 {
		files[strings.Repeat("n", 20)+string(rune('0'+i%10))+strings.Repeat("x", i/10)+".md"] = "# " + strings.Repeat("é", 400) + "\n\n" + strings.Repeat("ü", 400)
	}
	got, ok := call(t, library(t, files), docs.ToolList, "")
	if !ok || len(got) > 20<<10 || len(got) < 20<<10-2 || !strings.HasSuffix(got, "\n[The rest is left out.]") || !utf8.ValidString(got) {
		t.Errorf("%v, %d bytes: %q", ok, len(got), got[max(0, len(got)-50):])
	}
	want := "- nnnnnnnnnnnnnnnnnnnn0: " + strings.Repeat("é", 119) + "… — " + strings.Repeat("ü", 199) + "…"
	if first, _, _ := strings.Cut(got, "\n"); first != want {
		t.Errorf("the first is %q, want %q", first, want)
	}
}

// brokenFS lists a page that cannot be read.
type brokenFS struct{ fstest.MapFS }

func (b brokenFS) ReadFile(string) ([]byte, error) { return nil, fs.ErrPermission }

func TestTheToolsSayThatPagesCannotBeRead(t *testing.T) {
	l := docs.New(brokenFS{fstest.MapFS{"a.md": {}}})
	const want = "Error: read the documentation: permission denied. The documentation cannot be used; say so."
	if got, ok := call(t, l, docs.ToolSearch, `{"query":"a"}`); ok || got != want {
		t.Errorf("%v %q, want %q", ok, got, want)
	}
	if _, ok := l.Read("a"); ok || len(l.List()) > 0 || len(l.Search("a", 1)) > 0 {
		t.Error("there are pages")
	}
}
