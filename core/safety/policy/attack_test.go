package policy

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
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

// battlefield is a room with all targets of the attacks.
type battlefield struct {
	Files    map[string]string `json:"files"`
	Links    map[string]string `json:"links"`
	Attempts []attempt         `json:"attempts"`
	*room
}

func newBattlefield(t *testing.T) *battlefield {
	t.Helper()
	b := battlefield{room: newRoom(t)}
	table(t, "attempts.json", &b)
	for name, text := range b.Files {
		write(t, filepath.Join(b.root, name), text)
	}
	for name, target := range b.Links {
		link(t, target, filepath.Join(b.root, name))
	}
	link(t, b.root, filepath.Join(b.base, "alias"))
	// Files as young as the first command of a session may be that command's work, but these files
	// are the user's.
	time.Sleep(2 * stampSlack)
	return &b
}

const (
	generous = "every tool, Monitor, PowerShell, "
	pen      = ", Write(./**.md), Edit(./**.md), MultiEdit(./**.md)"
)

// sessionsOf are the sessions that a row of the table names. A generous list must not open a closed place.
var sessionsOf = map[string][]string{
	"every": {
		"as main, fork in dontAsk, ask, acceptEdits, bypass with " + generous + "its tools", "as main, fork in dontAsk, ask, acceptEdits, bypass with its tools",
		"as run with its tools", "as run with " + generous + "its tools",
	},
	"dontAsk":           {"as main, fork with its tools"},
	"dontAsk writer":    {"as main with " + generous + "its tools"},
	"dontAsk pen":       {"as main with its tools" + pen},
	"background pen":    {"as run with its tools" + pen},
	"background":        {"as run with its tools"},
	"background writer": {"as run with " + generous + "its tools"},
	"asks":              {"as main in ask with its tools", "as fork in acceptEdits with its tools"},
	"tainted":           {"as run with " + generous + "its tools; after webhook ci", "as run with " + generous + "a conversation's tools; after webhook ci"},
	"tainted main turn": {"as main in dontAsk, bypass with " + generous + "its tools; turn limited " + generous + "a run's tools; after webhook ci"},
	"limited turn":      {"as main in dontAsk, ask, bypass with " + generous + "its tools; turn limited a run's tools"},
	"talk":              {"as main with its tools", "as fork in ask with its tools"},
}

// sessions returns how to make the sessions that a row names.
func (b *battlefield) sessions(on string) map[string]func() *Session {
	all := map[string]func() *Session{}
	for _, line := range sessionsOf[on] {
		for part := range strings.SplitSeq(line, "; ") {
			b.casts(part)
		}
		who := b.cast
		for _, kind := range who.kinds {
			for _, mode := range who.modes {
				all[fmt.Sprintf("%s (kind %d, %s)", line, kind, mode)] = func() *Session {
					b.cast = who
					return b.caller(kind, mode)
				}
			}
		}
	}
	return all
}

// become returns the outcome of a call in the worst engine: one that allows everything to which the
// hook does not object. Hook and callback must agree.
func (r *room) become(ctx context.Context, s *Session, u agent.ToolUse) (outcome, reason string) {
	hook := s.PreTool(ctx, u)
	if !hook.Allow {
		return "refused", hook.Reason
	}
	callback := s.Permission(ctx, u)
	switch {
	case hook.Ask && (strings.HasPrefix(callback.Reason, "The user denied") || strings.Contains(callback.Reason, "The user was asked")):
		return "asked", ""
	case !hook.Ask && callback.Allow:
		return r.meaning(u), ""
	}
	return fmt.Sprintf("hook %+v, callback %+v", hook, callback), ""
}

// meaning returns the effect of a task, skill or webhook that a call has written, read from its
// bytes; "allowed" for every other call.
func (r *room) meaning(u agent.ToolUse) string {
	x := r.tree.call(u)
	rel, ok := r.granting(x.path)
	if !ok || !writes(x.tool) {
		return "allowed"
	}
	_, data, _ := r.proposed(x)
	switch waits, task := r.weighs(rel, data); {
	case waits != "":
		return "held"
	case r.LimitOf(task) != nil:
		return "limited"
	}
	return "allowed"
}

func (b *battlefield) use(a attempt) agent.ToolUse {
	use := toolUse(a.Do, a.With)
	use.Input = []byte(strings.ReplaceAll(string(use.Input), "$OUTSIDE", filepath.Join(b.base, "outside")))
	return use
}

func TestEveryAttemptComesToWhatItShould(t *testing.T) {
	b := newBattlefield(t)
	for _, always := range []bool{false, true} { // which opens a tool, but no closed place
		for _, a := range b.Attempts {
			if always && a.On != "every" {
				continue
			}
			for name, session := range b.sessions(a.On) {
				if got, reason := b.become(t.Context(), session(), b.use(a)); got != a.Want || got == "refused" && reason == "" {
					t.Errorf("%s: %s %v in %s, with always %v, is %s, want %s (%s)", a.Line, a.Do, a.With, name, always, got, a.Want, reason)
				}
			}
		}
		for _, tool := range everything.Allowed {
			b.Allow(tool)
		}
	}
}

// However a call is written, its outcome is the same.
func TestNoSpellingChangesWhatAnAttemptComesTo(t *testing.T) {
	b := newBattlefield(t)
	rows := slices.DeleteFunc(slices.Clone(b.Attempts), func(a attempt) bool { return a.Vary == "" })
	testkit.Check(t, func(rt *rapid.T) {
		a := rapid.SampledFrom(rows).Draw(rt, "row")
		all := b.sessions(a.On)
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(all))).Draw(rt, "session")
		a.With = maps.Clone(a.With)
		for _, key := range []string{"file_path", "notebook_path", "path"} {
			if path, ok := a.With[key].(string); ok {
				a.With[key] = b.respelled(rt, path, a)
			}
		}
		if text, ok := a.With["content"].(string); ok && strings.Contains(a.Vary, "text") {
			a.With["content"] = retyped(rt, text)
		}
		if got, reason := b.become(t.Context(), all[name](), b.use(a)); got != a.Want {
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
			return filepath.Join(b.base, "alias") + "/" + path
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
