package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/schema"
	"ollimbot/core/base/testkit"
)

// ground is a data directory with a box.
type ground struct {
	t             testing.TB
	dir, outside  string
	box           *Box
	tools         map[string]Tool
	asked         []agent.ToolUse // calls that were judged again
	refuse        string
	hiddenFromSee func(path string, write bool) bool
}

func newGround(t testing.TB, files map[string]string) *ground {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	testkit.Must(t, err)
	g := &ground{t: t, dir: filepath.Join(base, "data"), outside: filepath.Join(base, "outside")}
	testkit.Must(t, os.MkdirAll(g.dir, 0o700))
	testkit.Must(t, os.MkdirAll(g.outside, 0o700))
	for name, text := range files {
		g.put(name, text)
	}
	g.open(Options{Dir: g.dir, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + base, "ANTHROPIC_API_KEY=marigold"}})
	return g
}

// open recreates the box, with the test's judge and sight.
func (g *ground) open(o Options) {
	g.t.Helper()
	o.Judge = func(_ context.Context, u agent.ToolUse) string {
		g.asked = append(g.asked, u)
		return g.refuse
	}
	o.Sight = func() func(string, bool) bool {
		return func(path string, write bool) bool { return g.hiddenFromSee == nil || !g.hiddenFromSee(path, write) }
	}
	g.box, g.tools = New(o), map[string]Tool{}
	for _, tool := range g.box.Tools() {
		g.tools[tool.Name] = tool
	}
	box := g.box
	g.t.Cleanup(func() { testkit.Must(g.t, box.Close()) })
}

func (g *ground) put(name, text string) {
	g.t.Helper()
	path := filepath.Join(g.dir, name)
	testkit.Must(g.t, os.MkdirAll(filepath.Dir(path), 0o700))
	testkit.Must(g.t, os.WriteFile(path, []byte(text), 0o600))
}

func (g *ground) link(target, name string) {
	g.t.Helper()
	testkit.Must(g.t, os.MkdirAll(filepath.Dir(filepath.Join(g.dir, name)), 0o700))
	testkit.Must(g.t, os.Symlink(target, filepath.Join(g.dir, name)))
}

func (g *ground) has(name string) string {
	g.t.Helper()
	data, err := os.ReadFile(filepath.Join(g.dir, name))
	testkit.Must(g.t, err)
	return string(data)
}

// call calls a tool with fields.
func (g *ground) call(tool string, fields map[string]any) Result {
	g.t.Helper()
	input, err := json.Marshal(fields)
	testkit.Must(g.t, err)
	return g.run(context.Background(), tool, input)
}

// run makes a call that was approved.
func (g *ground) run(ctx context.Context, tool string, input []byte) Result {
	u := agent.ToolUse{Name: tool, Input: input}
	a, _ := agent.Approve(u, u.Allowed())
	return g.tools[tool].Call(ctx, a)
}

// does makes a call that must succeed, refused one that must not; both return the text.
func (g *ground) does(tool string, fields map[string]any) string {
	g.t.Helper()
	r := g.call(tool, fields)
	if r.IsError {
		g.t.Fatalf("%s %v: %s", tool, fields, r.Text)
	}
	return r.Text
}

func (g *ground) refused(tool string, fields map[string]any, says string) {
	g.t.Helper()
	if r := g.call(tool, fields); !r.IsError || !strings.Contains(r.Text, says) {
		g.t.Errorf("%s %v: error %v, %q, want %q", tool, fields, r.IsError, r.Text, says)
	}
}

// judged returns the paths, and what was sought there, that were judged again since the last look.
func (g *ground) judged() string {
	g.t.Helper()
	var out []string
	for _, u := range g.asked {
		var fields struct {
			File          string `json:"file_path"`
			Path, Pattern string
		}
		testkit.Must(g.t, json.Unmarshal(u.Input, &fields))
		out = append(out, strings.TrimSpace(u.Name+" "+fields.File+fields.Path+" "+fields.Pattern))
	}
	g.asked = nil
	return strings.Join(out, ", ")
}

type with = map[string]any

func TestToolsAreTheSameForEverySession(t *testing.T) {
	a, b := New(Options{Dir: t.TempDir()}), New(Options{Dir: t.TempDir()})
	names := []string{}
	for i, tool := range a.Tools() {
		other := b.Tools()[i]
		if tool.Name != other.Name || tool.Description != other.Description || string(tool.Schema) != string(other.Schema) {
			t.Errorf("%s differs", tool.Name)
		}
		if _, err := schema.Read(tool.Schema); err != nil || !json.Valid(tool.Schema) {
			t.Errorf("the schema of %s: %v", tool.Name, err)
		}
		names = append(names, tool.Name)
	}
	if !slices.IsSorted(names) || slices.Contains(names, "WebSearch") || len(names) != 10 {
		t.Errorf("the tools are %v", names)
	}
	a = New(Options{Dir: t.TempDir(), Search: func(context.Context, Query) Result { return Result{} }})
	if got := a.Tools(); len(got) != 11 || got[9].Name != "WebSearch" {
		t.Errorf("with a search there are %d tools", len(got))
	}
}

func TestAToolThatFallsHasFailed(t *testing.T) {
	g := newGround(t, map[string]string{"a.md": "plum\n"})
	testkit.Must(t, os.Symlink("a.md", filepath.Join(g.dir, "link.md")))
	g.box.o.Judge = func(context.Context, agent.ToolUse) string { panic("marigold") }
	if r := g.call("Read", with{"file_path": "link.md"}); !r.IsError || !strings.Contains(r.Text, "Read failed with an internal error") || strings.Contains(r.Text, "marigold") {
		t.Errorf("error %v, %q", r.IsError, r.Text)
	}
}

func TestNoInputMakesAToolFall(t *testing.T) {
	g := newGround(t, map[string]string{"a.md": "plum\n"})
	words := rapid.SampledFrom([]string{"", "a.md", "../a", "/", "~/", "\x00", "*", "**", "{a,b", "{{{,}", "(", "[", "a\nb", strings.Repeat("../", 300), "\xff", "a.md/b", "$(x)", "https://x", "-1"})
	testkit.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{"Read", "Write", "Edit", "Glob", "Grep", "Skill", "Agent", "TodoWrite", "WebFetch"}).Draw(rt, "tool")
		fields := with{}
		for _, key := range []string{"file_path", "content", "old_string", "new_string", "pattern", "path", "glob", "type", "skill", "args", "description", "prompt", "subagent_type", "url"} {
			if strings.Contains(string(g.tools[name].Schema), `"`+key+`"`) && rapid.Bool().Draw(rt, key) {
				fields[key] = words.Draw(rt, key+" is")
			}
		}
		if name == "WebFetch" {
			fields["url"] = "https://127.0.0.1:1/" + words.Draw(rt, "page")
		}
		if path, _ := fields["path"].(string); path == "/" || path == "~/" || strings.HasPrefix(path, "../") {
			delete(fields, "path") // searching the whole machine would take too long
		}
		if pattern, _ := fields["pattern"].(string); strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "~") || strings.HasPrefix(pattern, "..") {
			delete(fields, "pattern")
		}
		if path, _ := fields["file_path"].(string); name != "Read" && (path == "~/" || strings.HasPrefix(path, "../")) {
			delete(fields, "file_path")
		}
		input, err := json.Marshal(fields)
		testkit.Must(t, err)
		if r := g.run(t.Context(), name, input); strings.Contains(r.Text, "internal error") || r.Text == "" {
			rt.Errorf("%s %s: %q", name, input, r.Text)
		}
	})
}
