package preset

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/tools"
	"ollimbot/core/base/testkit"
)

// bench is a data directory with the tools under test.
type bench struct {
	t     *testing.T
	dir   string
	box   *tools.Box
	tools map[string]tools.Tool
	about []tools.Subagent
}

func newBench(t *testing.T) *bench {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	b := &bench{t: t, dir: filepath.Join(home, "data"), tools: map[string]tools.Tool{}}
	for name, text := range map[string]string{
		"data/notes/a.md": "one plum\ntwo plums\n", "data/skills/tidy/SKILL.md": "---\nname: tidy\ndescription: Tidies.\n---\nSort by date.\n", "in-home.md": "fig\n",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.box = tools.New(tools.Options{
		Dir: b.dir, Env: []string{"PATH=/usr/bin:/bin", "HOME=" + home},
		Agent: func(_ context.Context, s tools.Subagent) tools.Result {
			b.about = append(b.about, s)
			return tools.Result{Text: "last words"}
		},
		Search: func(_ context.Context, q tools.Query) tools.Result {
			return tools.Result{Text: "found for " + q.Text + " at https://example.org"}
		},
	})
	t.Cleanup(func() { _ = b.box.Close() })
	for _, tool := range b.box.Tools() {
		b.tools[tool.Name] = tool
	}
	return b
}

// does calls a tool and checks its answer.
func (b *bench) does(tool string, fields map[string]any, says string) {
	b.t.Helper()
	b.answers(tool, fields, says, false)
}

// refuses calls a tool and checks that it refuses.
func (b *bench) refuses(tool string, fields map[string]any, says string) {
	b.t.Helper()
	b.answers(tool, fields, says, true)
}

func (b *bench) answers(tool string, fields map[string]any, says string, refused bool) {
	b.t.Helper()
	input, err := json.Marshal(fields)
	if err != nil {
		b.t.Fatal(err)
	}
	u := agent.ToolUse{Name: tool, Input: input}
	a, _ := agent.Approve(u, u.Allowed())
	if r := b.tools[tool].Call(b.t.Context(), a); r.IsError != refused || !strings.Contains(r.Text, says) {
		b.t.Errorf("%s %v: error %v, %q, want %q", tool, fields, r.IsError, r.Text, says)
	}
}

type with = map[string]any

// proofs check the claims of the lines about tools, by the first words of each line.
var proofs = map[string]func(*bench){
	"Put calls that do not need": func(b *bench) {
		var looking []string
		for name, tool := range b.tools {
			if !tool.Alone {
				looking = append(looking, name)
			}
		}
		slices.Sort(looking)
		if got := strings.Join(looking, " "); got != "Agent Glob Grep Read WebFetch WebSearch" {
			b.t.Errorf("at the same time run %s", got)
		}
	},
	"A call can be refused": func(b *bench) {
		b.refuses("Edit", with{"file_path": "notes/a.md", "old_string": "one", "new_string": "two"}, "Read it first.")
		b.refuses("Read", with{"file_path": "notes"}, "Glob")
	},
	"Paths count from": func(b *bench) {
		b.does("Read", with{"file_path": "notes/a.md"}, "one plum")
		b.does("Read", with{"file_path": "~/in-home.md"}, "fig")
		b.does("Bash", with{"command": "pwd"}, b.dir)
	},
	"`Read` a file before": func(b *bench) {
		b.refuses("Edit", with{"file_path": "notes/a.md", "old_string": "one", "new_string": "two"}, "Read it first")
		b.refuses("Write", with{"file_path": "notes/a.md", "content": "x"}, "Read it first")
		b.does("Read", with{"file_path": "notes/a.md"}, "plum")
		if err := os.WriteFile(filepath.Join(b.dir, "notes/a.md"), []byte("a plum, a plum, a fig\n"), 0o600); err != nil {
			b.t.Fatal(err)
		}
		b.refuses("Edit", with{"file_path": "notes/a.md", "old_string": "fig", "new_string": "date"}, "has changed")
		b.does("Read", with{"file_path": "notes/a.md"}, "fig")
		b.refuses("Edit", with{"file_path": "notes/a.md", "old_string": "plum", "new_string": "date"}, "2 times")
		b.does("Edit", with{"file_path": "notes/a.md", "old_string": "fig", "new_string": "date"}, "a date")
		b.does("Write", with{"file_path": "notes/new.md", "content": "x"}, "was created")
		b.does("Write", with{"file_path": "notes/a.md", "content": "all of it"}, "was written")
	},
	"`Glob` finds files": func(b *bench) {
		b.does("Glob", with{"pattern": "**/*.md"}, "notes/a.md")
		b.does("Grep", with{"pattern": "two plums", "glob": "*.md"}, "notes/a.md")
	},
	"`Bash` runs one": func(b *bench) {
		b.does("Bash", with{"command": "cd notes; x=1; echo kept > $TMPDIR/f"}, "(no output)")
		b.does("Bash", with{"command": "pwd; echo \"[$x]\"; cat $TMPDIR/f"}, b.dir+"/notes\n[]\nkept\n")
		b.does("Bash", with{"command": "cat"}, "(no output)")
		b.does("Bash", with{"command": "(sleep 3; echo late > late) & echo done"}, "done")
		b.refuses("Bash", with{"command": "sleep 20; echo late > late", "timeout": 200}, "ended after")
		b.does("Bash", with{"command": "sleep 3.2; ls"}, "a.md\n")
		if _, err := os.Stat(filepath.Join(b.dir, "notes/late")); err == nil {
			b.t.Error("a command has outlived its call")
		}
	},
	"`WebFetch` returns": func(b *bench) {
		b.refuses("WebFetch", with{"url": "https://127.0.0.1/"}, "Only the public web")
		b.refuses("WebFetch", with{"url": "https://a:b@example.org/"}, "without a login")
	},
	"`WebSearch` finds": func(b *bench) {
		b.does("WebSearch", with{"query": "plums"}, "https://example.org")
	},
	"`Skill` loads": func(b *bench) {
		b.does("Skill", with{"skill": "tidy"}, "Sort by date.")
	},
	"`Agent` gives": func(b *bench) {
		b.does("Agent", with{"description": "read mail", "prompt": "Read."}, "last words")
		if len(b.about) != 1 || b.about[0].Prompt != "Read." || b.about[0].System != "" {
			b.t.Errorf("%+v", b.about)
		}
	},
	"`TodoWrite` keeps": func(b *bench) {
		b.does("TodoWrite", with{"todos": []any{with{"content": "read", "status": "completed"}, with{"content": "write", "status": "pending"}}}, "[x] read\n[ ] write\n")
	},
}

// Each line about the tools is tested, and each tool has its line.
func TestWhatIsSaidOfTheToolsIsTrue(t *testing.T) {
	testkit.Alone(t)
	_, about, ok := strings.Cut(Text(true), "# Your tools\n\n- ")
	if !ok {
		t.Fatal("there is nothing about the tools")
	}
	lines := strings.Split(about, "\n- ")
	for _, line := range lines {
		shown := 0
		for begin, proof := range proofs {
			if strings.HasPrefix(line, begin) {
				shown++
				proof(newBench(t))
			}
		}
		if shown != 1 {
			t.Errorf("%d proofs of: %s", shown, line)
		}
	}
	if len(lines) != len(proofs) {
		t.Errorf("%d lines and %d proofs", len(lines), len(proofs))
	}
	named := regexp.MustCompile("`([A-Z][A-Za-z]+)`").FindAllStringSubmatch(about, -1)
	for name := range newBench(t).tools {
		if !slices.ContainsFunc(named, func(m []string) bool { return m[1] == name }) {
			t.Errorf("nothing is said of %s", name)
		}
	}
	for _, m := range named {
		if _, there := newBench(t).tools[m[1]]; !there {
			t.Errorf("there is no %s", m[1])
		}
	}
}

func TestTheWordsAreTheSameAtAllTimes(t *testing.T) {
	with, without := Text(true), Text(false)
	if with != Text(true) || strings.Contains(without, "WebSearch") || !strings.Contains(with, "\n- `WebSearch`") || strings.Contains(with+without, "[search]") {
		t.Errorf("%s", without)
	}
	if len(with) > 4096 {
		t.Errorf("%d bytes go along with each request", len(with))
	}
	if strings.Contains(with, "20") {
		t.Error("a year or a time would change the prefix")
	}
}
