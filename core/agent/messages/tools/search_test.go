package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

var library = map[string]string{
	"a.md": "plum\nfig\n", "b.txt": "plum\n", "notes/c.md": "one\nPlum tree\nthree\n\nfour plum\n", "notes/deep/d.md": "fig\r\nplum\r\n",
	".git/config": "plum\n", "notes/data.bin": "plum\x00", "notes/e.csv": "x,plum\n", "empty.md": "",
}

func TestGlobFindsNames(t *testing.T) {
	g := newGround(t, library)
	now := time.Now()
	for i, name := range []string{"b.txt", "notes/e.csv", "a.md", "notes/deep/d.md", "notes/c.md", "empty.md"} {
		testkit.Must(t, os.Chtimes(filepath.Join(g.dir, name), now, now.Add(-time.Duration(i)*time.Minute)))
	}
	for _, c := range []struct {
		pattern, path, want string
	}{
		{"*.md", "", "a.md empty.md"},
		{"**.md", "", "a.md notes/deep/d.md notes/c.md empty.md"},
		{"**/*.md", "", "a.md notes/deep/d.md notes/c.md empty.md"},
		{"notes/*.md", "", "notes/c.md"},
		{"*.md", "notes", "notes/c.md"},
		{"./notes/**", "", "notes/e.csv notes/deep/d.md notes/c.md notes/data.bin"},
		{"*.{txt,csv}", "", "b.txt"},
		{"**/*.{txt,c{s,x}v}", "", "b.txt notes/e.csv"},
		{"notes/../?.md", "", "a.md"},
		{"a.md", "", "a.md"},
		{"*.exe", "", ""},
		{g.dir + "/notes/*.md", "", "notes/c.md"},
		{"deep/*", "./notes/", "notes/deep/d.md"},
		{"*{.md", "", ""},
	} {
		got := strings.Fields(g.does("Glob", with{"pattern": c.pattern, "path": c.path}))
		if c.want == "" {
			got = slices.DeleteFunc(got, func(string) bool { return true })
		}
		if strings.Join(got, " ") != c.want && !sameNames(got, c.want) {
			t.Errorf("%s in %q: %v, want %s", c.pattern, c.path, got, c.want)
		}
	}
	if got := g.does("Glob", with{"pattern": "*.exe"}); got != textNoNames {
		t.Errorf("%q", got)
	}
	if got := strings.Fields(g.does("Glob", with{"pattern": "**.md"})); got[0] != "a.md" || got[len(got)-1] != "empty.md" {
		t.Errorf("the newest is not first: %v", got)
	}
	for i := range maxNames + 5 {
		g.put(fmt.Sprintf("many/%d.log", i), "x")
	}
	if got := g.does("Glob", with{"pattern": "many/*"}); strings.Count(got, "\n") != maxNames+1 || !strings.HasSuffix(got, "(the newest 100 of 105)\n") {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
	g.refused("Glob", with{"pattern": "*", "path": "none"}, "does not exist")
	g.refused("Glob", with{"pattern": "*", "path": "a.md"}, "not a folder")
}

func sameNames(got []string, want string) bool {
	all := strings.Fields(want)
	slices.Sort(all)
	got = slices.Clone(got)
	slices.Sort(got)
	return slices.Equal(got, all)
}

func TestGrepFindsWords(t *testing.T) {
	g := newGround(t, library)
	for name, c := range map[string]struct {
		fields with
		want   string
	}{
		"lines":             {with{"output_mode": "content"}, "a.md:1:plum\nb.txt:1:plum\nnotes/c.md:5:four plum\nnotes/deep/d.md:2:plum\nnotes/e.csv:1:x,plum\n"},
		"of markdown":       {with{"output_mode": "content", "glob": "*.md"}, "a.md:1:plum\nnotes/c.md:5:four plum\nnotes/deep/d.md:2:plum\n"},
		"of a folder":       {with{"output_mode": "content", "glob": "notes/*.md"}, "notes/c.md:5:four plum\n"},
		"without a folder":  {with{"output_mode": "content", "glob": "!notes/**", "-n": false}, "a.md:plum\nb.txt:plum\n"},
		"without markdown":  {with{"output_mode": "content", "glob": "!*.md !*.csv"}, "b.txt:1:plum\n"},
		"of several":        {with{"output_mode": "count", "glob": "*.txt,*.csv"}, "b.txt:1\nnotes/e.csv:1\n"},
		"of alternatives":   {with{"output_mode": "count", "glob": "*.{txt,csv}"}, "b.txt:1\nnotes/e.csv:1\n"},
		"by type":           {with{"output_mode": "count", "type": "csv"}, "notes/e.csv:1\n"},
		"in a file":         {with{"output_mode": "content", "path": "b.txt", "glob": "*.md"}, "b.txt:1:plum\n"},
		"small and capital": {with{"output_mode": "count", "-i": true, "path": "notes", "glob": "*.md"}, "notes/c.md:2\nnotes/deep/d.md:1\n"},
		"with surroundings": {with{"output_mode": "content", "-C": 1, "-i": true, "path": "notes/c.md"}, "notes/c.md-1-one\nnotes/c.md:2:Plum tree\nnotes/c.md-3-three\nnotes/c.md-4-\nnotes/c.md:5:four plum\n"},
		"with what follows": {with{"output_mode": "content", "-A": 1, "-i": true, "path": "notes", "glob": "*.md"}, "notes/c.md:2:Plum tree\nnotes/c.md-3-three\n--\nnotes/c.md:5:four plum\n--\nnotes/deep/d.md:2:plum\n"},
		"over lines":        {with{"output_mode": "content", "pattern": "three.*plum", "multiline": true}, "notes/c.md:3:three\nnotes/c.md:4:\nnotes/c.md:5:four plum\n"},
		"at line ends":      {with{"output_mode": "count", "pattern": "^plum$", "glob": "*.md"}, "a.md:1\nnotes/deep/d.md:1\n"},
		"some":              {with{"output_mode": "count", "head_limit": 2, "offset": 1}, "b.txt:1\nnotes/c.md:1\n(3 of 5 are shown; continue with offset 3)\n"},
		"nothing":           {with{"pattern": "quince"}, textNoHits},
	} {
		if c.fields["pattern"] == nil {
			c.fields["pattern"] = "plum"
		}
		if got := g.does("Grep", c.fields); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	testkit.Must(t, os.Chtimes(filepath.Join(g.dir, "b.txt"), time.Now(), time.Now().Add(time.Hour)))
	if got := g.does("Grep", with{"pattern": "plum"}); !strings.HasPrefix(got, "b.txt\n") || strings.Count(got, "\n") != 5 {
		t.Errorf("%q", got)
	}
	g.refused("Grep", with{"pattern": "(?=x)"}, "not a valid Go regular expression")
	g.refused("Grep", with{"pattern": "x", "type": "exe"}, "not a known type")
	g.refused("Grep", with{"pattern": "x", "path": "none"}, "does not exist")
}

func TestGrepKeepsToItsLimits(t *testing.T) {
	g := newGround(t, map[string]string{"a.md": strings.Repeat("plum "+strings.Repeat("x", 2000)+"\n", 400), "b.md": strings.Repeat("plum\n", 30_000)})
	got := g.does("Grep", with{"pattern": "plum", "output_mode": "content", "head_limit": 0, "path": "a.md"})
	if len(got) > maxGrepText+200 || !strings.Contains(got, "continue with offset") {
		t.Errorf("%d bytes", len(got))
	}
	if got := g.does("Grep", with{"pattern": "plum", "output_mode": "content", "path": "b.md"}); strings.Count(got, "\n") < maxFound+1 || !strings.Contains(got, "(250 of ") {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
}

// A line is found if and only if the expression matches it, in every output mode.
func TestPropertyGrepFindsExactlyTheLinesThatMatch(t *testing.T) {
	g := newGround(t, nil)
	testkit.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab c.")), 0, 6, -1), 1, 12).Draw(rt, "lines")
		pattern := rapid.SampledFrom([]string{"a", "b c", "^a", "a$", "^$", "[ab]+", "a|c", "."}).Draw(rt, "pattern")
		around := rapid.IntRange(0, 3).Draw(rt, "around")
		g.put("x.md", strings.Join(lines, "\n")+"\n")
		expression := regexp.MustCompile(pattern)
		want := map[int]bool{}
		for i, l := range lines {
			if expression.MatchString(l) {
				want[i+1] = true
			}
		}
		got, last := map[int]bool{}, 0
		for row := range strings.Lines(g.does("Grep", with{"pattern": pattern, "path": "x.md", "output_mode": "content", "-C": around})) {
			var n int
			var sign string
			if _, err := fmt.Sscanf(row, "x.md:%d%1s", &n, &sign); err == nil {
				got[n] = true
			} else if _, err := fmt.Sscanf(row, "x.md-%d%1s", &n, &sign); err != nil {
				continue
			}
			if n <= last {
				rt.Fatalf("line %d behind line %d", n, last)
			}
			last = n
			near := false
			for k := n - around; k <= n+around; k++ {
				near = near || want[k]
			}
			if !near {
				rt.Fatalf("line %d is near nothing", n)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			rt.Fatalf("%q in %q: %v, want %v", pattern, lines, got, want)
		}
	})
}

func TestGlobsWithBraces(t *testing.T) {
	for glob, want := range map[string]string{
		"a": "a", "{a,b}": "a b", "x{a,b}y": "xay xby", "{a,{b,c}}": "a b c", "{a,b}{c,d}": "ac ad bc bd", "{a": "{a", "a}": "a}", "{}": "", "{,a}": " a",
		strings.Repeat("{a,b}", 40): strings.Repeat("{a,b}", 40),
	} {
		if got := strings.Join(alternatives(glob, maxAlternatives), " "); got != want && len(alternatives(glob, maxAlternatives)) <= 1 {
			t.Errorf("%s: %q, want %q", glob, got, want)
		}
		if got := alternatives(glob, maxAlternatives); len(got) > maxAlternatives {
			t.Errorf("%s stands for %d", glob, len(got))
		}
	}
}
