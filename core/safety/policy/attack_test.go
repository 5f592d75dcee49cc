package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/skill"
	"ollimbot/routines"
)

// attempt is one call by a model, with the expected outcome. The same table is played against the
// real command in cmd/ollim-bot.
type attempt struct {
	Line string         `json:"line"` // what it attempts
	On   string         `json:"on"`   // in which sessions; see sessionsOf
	Do   string         `json:"do"`   // the tool
	With map[string]any `json:"with"` // its input
	// Want is "refused", "asked" or "allowed". "held" means that the file is written and has no
	// effect until the user approves it; "limited" means that it has no more rights in the
	// conversation than the run that wrote it.
	Want string `json:"want"`
	Vary string `json:"vary"` // the parts that can be written in other ways: "path", "case", "text"
}

// battlefield is a data directory with all targets of the attacks.
type battlefield struct {
	Files    map[string]string `json:"files"`
	Links    map[string]string `json:"links"`
	Attempts []attempt         `json:"attempts"`

	guard         *Guard
	root, outside string
}

func newBattlefield(t *testing.T) *battlefield {
	t.Helper()
	data, err := os.ReadFile("testdata/attempts.json")
	testkit.Must(t, err)
	var b battlefield
	testkit.Must(t, json.Unmarshal(data, &b))
	base, err := filepath.EvalSymlinks(t.TempDir())
	testkit.Must(t, err)
	t.Setenv("HOME", filepath.Join(base, "home"))
	b.outside = filepath.Join(base, "outside")
	b.guard, b.root = guardAt(t, filepath.Join(base, "data"))
	for name, text := range b.Files {
		write(t, filepath.Join(b.root, name), text)
	}
	for name, target := range b.Links {
		link(t, target, filepath.Join(b.root, name))
	}
	link(t, b.root, filepath.Join(base, "alias"))
	// Files as young as the first command of a session may be that command's work, but these files
	// are the user's.
	time.Sleep(2 * stampSlack)
	answering(t, b.guard, Deny.always)
	return &b
}

// sessionsOf returns the sessions that a row of the table names. A generous list and an "always"
// for every tool must not open a closed place.
func (b *battlefield) sessionsOf(on string) map[string]*Session {
	sessions := map[string]*Session{}
	add := func(name string, kind Kind, mode Mode, allowed []string) {
		sessions[name] = b.guard.Session(Scope{Kind: kind, Rules: Rules{Allowed: allowed}, Mode: func() Mode { return mode }})
	}
	generous := func(list []string) []string {
		return append(append(slices.Clone(everything.Allowed), "Monitor", "PowerShell"), list...)
	}
	pen := []string{"Write(./**.md)", "Edit(./**.md)", "MultiEdit(./**.md)"}
	switch on {
	case "every":
		for _, mode := range []Mode{DontAsk, Ask, AcceptEdits, BypassPermissions} {
			add("main "+string(mode), Main, mode, generous(MainTools()))
			add("fork "+string(mode), Interactive, mode, MainTools())
		}
		add("background", Background, DontAsk, BackgroundTools())
		add("generous background", Background, DontAsk, generous(BackgroundTools()))
	case "dontAsk":
		add("main", Main, DontAsk, MainTools())
		add("fork", Interactive, DontAsk, MainTools())
	case "dontAsk writer":
		add("main", Main, DontAsk, generous(MainTools()))
	case "dontAsk pen":
		add("main", Main, DontAsk, append(MainTools(), pen...))
	case "background pen":
		add("background", Background, DontAsk, append(BackgroundTools(), pen...))
	case "background":
		add("background", Background, DontAsk, BackgroundTools())
	case "background writer":
		add("background", Background, DontAsk, generous(BackgroundTools()))
	case "asks":
		add("main", Main, Ask, MainTools())
		add("fork", Interactive, AcceptEdits, MainTools())
	case "tainted":
		add("background", Background, DontAsk, generous(BackgroundTools()))
		add("webhook", Background, DontAsk, generous(MainTools()))
		for _, s := range sessions {
			s.taint.Read("webhook ci")
		}
	case "tainted main turn":
		limit := b.guard.newLimit(Rules{Allowed: generous(BackgroundTools())})
		for _, mode := range []Mode{DontAsk, BypassPermissions} {
			add("main "+string(mode), Main, mode, generous(MainTools()))
		}
		for _, s := range sessions {
			s.scope.Turn = func() Turn { return Turn{Limit: limit} }
			s.taint.Read("webhook ci")
		}
	case "limited turn":
		limit := b.guard.newLimit(Rules{Allowed: BackgroundTools()})
		for _, mode := range []Mode{DontAsk, Ask, BypassPermissions} {
			add("main "+string(mode), Main, mode, generous(MainTools()))
		}
		for _, s := range sessions {
			s.scope.Turn = func() Turn { return Turn{Limit: limit} }
		}
	case "talk":
		add("main", Main, DontAsk, MainTools())
		add("fork", Interactive, Ask, MainTools())
	}
	return sessions
}

// become returns the outcome of a call in the worst engine: one that allows everything to which the
// hook does not object. Hook and callback must agree.
func become(ctx context.Context, s *Session, u agent.ToolUse) (outcome, reason string) {
	hook := s.PreTool(ctx, u)
	if !hook.Allow {
		return "refused", hook.Reason
	}
	callback := s.Permission(ctx, u)
	switch {
	case hook.Ask && (strings.HasPrefix(callback.Reason, "The user denied") || strings.Contains(callback.Reason, "The user was asked")):
		return "asked", ""
	case !hook.Ask && callback.Allow:
		return s.g.meaning(u), ""
	}
	return fmt.Sprintf("hook %+v, callback %+v", hook, callback), ""
}

// meaning returns the effect of a task, skill or webhook that a call has written, read from its
// bytes; "allowed" for every other call.
func (g *Guard) meaning(u agent.ToolUse) string {
	x := g.tree.call(u)
	rel, ok := g.granting(x.path)
	if !ok || !writes(x.tool) {
		return "allowed"
	}
	_, data, _ := g.proposed(x)
	waits, limited := "", false
	switch judgedIn(rel) {
	case "routines":
		r, _ := routines.ParseRoutine(rel, data)
		r.Digest = routines.Digest(data)
		waits, limited = g.TaskWaits(&r.Task), g.LimitOf(r.Task) != nil
	case "reminders":
		r, _ := routines.ParseReminder(rel, data, g.o.Zone)
		r.Digest = routines.Digest(data)
		waits, limited = g.TaskWaits(&r.Task), g.LimitOf(r.Task) != nil
	case "skills":
		one, _, _ := skill.Parse(filepath.Base(filepath.Dir(rel)), data)
		waits = g.SkillWaits(one)
	case "webhooks":
		waits = g.TaskWaits(&routines.Task{Kind: routines.KindWebhook, Path: rel, Digest: routines.Digest(data), Background: true})
	}
	switch {
	case waits != "":
		return "held"
	case limited:
		return "limited"
	}
	return "allowed"
}

func (b *battlefield) use(a attempt) agent.ToolUse {
	use := toolUse(a.Do, a.With)
	outside, err := json.Marshal(b.outside)
	if err != nil {
		panic(err)
	}
	use.Input = []byte(strings.ReplaceAll(string(use.Input), "$OUTSIDE", strings.Trim(string(outside), `"`)))
	return use
}

func TestEveryAttemptComesToWhatItShould(t *testing.T) {
	b := newBattlefield(t)
	for _, a := range b.Attempts {
		for name, s := range b.sessionsOf(a.On) {
			got, reason := become(t.Context(), s, b.use(a))
			if got != a.Want || got == "refused" && reason == "" {
				t.Errorf("%s: %s %v in %s is %s, want %s (%s)", a.Line, a.Do, a.With, name, got, a.Want, reason)
			}
		}
	}
}

// "Always" opens a tool, but no closed place.
func TestAlwaysOpensNothingThatIsClosed(t *testing.T) {
	b := newBattlefield(t)
	for _, tool := range everything.Allowed {
		b.guard.Allow(tool)
	}
	for _, a := range b.Attempts {
		if a.On != "every" {
			continue
		}
		for name, s := range b.sessionsOf(a.On) {
			if got, reason := become(t.Context(), s, b.use(a)); got != a.Want {
				t.Errorf("%s: %s %v in %s is %s, want %s (%s)", a.Line, a.Do, a.With, name, got, a.Want, reason)
			}
		}
	}
}

// However a call is written, its outcome is the same.
func TestNoSpellingChangesWhatAnAttemptComesTo(t *testing.T) {
	b := newBattlefield(t)
	rows := slices.DeleteFunc(slices.Clone(b.Attempts), func(a attempt) bool { return a.Vary == "" })
	all := map[string]map[string]*Session{}
	for _, a := range rows {
		all[a.On] = b.sessionsOf(a.On)
	}
	testkit.Check(t, func(rt *rapid.T) {
		a := rapid.SampledFrom(rows).Draw(rt, "row")
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(all[a.On]))).Draw(rt, "session")
		a.With = maps.Clone(a.With)
		for _, key := range []string{"file_path", "notebook_path", "path"} {
			if path, ok := a.With[key].(string); ok {
				a.With[key] = b.respelled(rt, path, a)
			}
		}
		if text, ok := a.With["content"].(string); ok && strings.Contains(a.Vary, "text") {
			a.With["content"] = retyped(rt, text)
		}
		session := all[a.On][name]
		before := session.Label()
		got, reason := become(t.Context(), session, b.use(a))
		session.taint.Clear() // the label from this attempt
		session.taint.Read(before)
		if got != a.Want {
			rt.Fatalf("%s: %s %q in %s is %s, want %s (%s)", a.Line, a.Do, a.With, name, got, a.Want, reason)
		}
	})
}

// respelled returns another way to write a path. Names in another case or with invisible letters
// are other files on this system and the same file on others, so they must be refused either way.
func (b *battlefield) respelled(t *rapid.T, path string, a attempt) string {
	if filepath.IsAbs(path) || strings.HasPrefix(path, "~") || strings.HasPrefix(path, "$") {
		return path
	}
	if strings.Contains(a.Vary, "case") {
		switch rapid.IntRange(0, 3).Draw(t, "case") {
		case 1:
			path = strings.ToUpper(path)
		case 2:
			letters := []rune(path)
			at := rapid.IntRange(0, len(letters)).Draw(t, "at")
			strange := rapid.SampledFrom([]rune{'\u200b', '\u200d', '\ufeff', '\u202e', '\u00ad', 0x07}).Draw(t, "letter")
			path = string(slices.Insert(letters, at, strange))
		case 3:
			path = strings.ReplaceAll(path, "s", "\u017f")
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "steps") {
		path = rapid.SampledFrom([]func(string) string{
			func(p string) string { return "./" + p },
			func(p string) string { return "notes/../" + p },
			func(p string) string { return "none/../" + p },
			func(p string) string { return "notes/./..//" + p },
			func(p string) string { return strings.ReplaceAll(p, "/", "//") },
			func(p string) string { return strings.ReplaceAll(p, "/", "/./") },
		}).Draw(t, "step")(path)
	}
	switch rapid.IntRange(0, 2).Draw(t, "root") {
	case 1:
		return b.root + "/" + path
	case 2:
		if a.Want == "refused" {
			return filepath.Join(filepath.Dir(b.root), "alias") + "/" + path
		}
	}
	return path
}

// retyped hides a command's marks and changes nothing else.
func retyped(t *rapid.T, text string) string {
	hidden := rapid.SampledFrom([]string{"", "\a", "\x00", "\x1b[1m", "\x1b]0;x\a", "\u200b", "\u2066", "\ufeff", "\x7f", "\u0085"}).Draw(t, "hidden")
	text = strings.ReplaceAll(text, "!`", "!"+hidden+"`")
	switch rapid.IntRange(0, 3).Draw(t, "ends") {
	case 1:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case 2:
		text = "\ufeff" + text
	case 3:
		text = strings.ReplaceAll(text, "touch x", "touch\r\nx")
	}
	return text
}
