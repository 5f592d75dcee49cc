package post

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// none returns a register function that must not be called.
func none(t interface{ Fatalf(string, ...any) }) func(string) (string, error) {
	return func(prompt string) (string, error) {
		t.Fatalf("%q was registered", prompt)
		return "", nil
	}
}

func TestAButtonsActionBecomesItsID(t *testing.T) {
	for action, want := range map[string]string{
		"task_done:MDM4":      "act:task_done:MDM4",
		"task_del:list/id":    "act:task_del:list/id",
		"event_del:a:b":       "act:event_del:a:b",
		"dismiss":             "act:dismiss:_",
		"dismiss:":            "act:dismiss:_",
		"fork_save_confirm:_": "act:fork_save_confirm:_",
	} {
		if got, err := (Button{Label: "x", Action: action}).CustomID(none(t)); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", action, got, err, want)
		}
	}
}

func TestAPromptIsRegisteredAndOnlyItsIDIsSent(t *testing.T) {
	for action, want := range map[string]string{
		"agent:draft: the reply": "draft: the reply",
		"agent: x ":              "x",
		"agent:":                 "Do it",
		"agent":                  "Do it",
	} {
		var asked []string
		got, err := Button{Label: "Do it", Action: action}.CustomID(func(p string) (string, error) {
			asked = append(asked, p)
			return "a1b2c3d4", nil
		})
		if err != nil || got != "act:agent:a1b2c3d4" || len(asked) != 1 || asked[0] != want {
			t.Errorf("%q: %q, %v, registered %q", action, got, err, asked)
		}
	}
	full := errors.New("the disk is full")
	_, err := Button{Label: "Do it", Action: "agent:x"}.CustomID(func(string) (string, error) { return "", full })
	if !errors.Is(err, full) || !strings.Contains(err.Error(), `"Do it"`) {
		t.Error(err)
	}
}

func TestWhatIsNoActionIsRefused(t *testing.T) {
	for action, want := range map[string]error{
		"":                                     errNoAction,
		":x":                                   errNoAction,
		"Task Done:x":                          errNoAction,
		"task-done:x":                          errNoAction,
		"task_done:a\nb":                       errNoAction,
		"task_done:a\x1bb":                     errNoAction,
		"task_done:" + strings.Repeat("x", 87): errLongAction,
		"task_done:" + strings.Repeat("𝔘", 50): errLongAction,
	} {
		if got, err := (Button{Action: action}).CustomID(none(t)); !errors.Is(err, want) {
			t.Errorf("%q: %q, %v", action, got, err)
		}
	}
	if got, err := (Button{Action: "task_done:" + strings.Repeat("x", 86)}).CustomID(none(t)); err != nil || len(got) != 100 {
		t.Errorf("the longest that fits: %d characters, %v", len(got), err)
	}
}

func TestTheAgentMayNotMakeButtonsOfTheBot(t *testing.T) {
	for action, want := range map[string]error{
		"agent:" + strings.Repeat("long ", 300): nil,
		"dismiss":                               nil,
		"event_del:x":                           nil,
		"task_done:" + strings.Repeat("x", 200): errLongAction,
		"fork_save:_":                           errNoAction,
		"fork_exit":                             errNoAction,
		"anything:x":                            errNoAction,
		"":                                      errNoAction,
	} {
		if err := (Button{Label: "x", Action: action}).CheckAgent(); !errors.Is(err, want) {
			t.Errorf("%.40q: %v, want %v", action, err, want)
		}
	}
}

func TestIDsOfOthersAreNoButtonsOfOurs(t *testing.T) {
	for _, id := range []string{"", "act", "act:", "act:x", "act::x", "act:X:y", "xact:x:y", "act:a b:c", "act:x:a\nb"} {
		if action, data, ok := ParseCustomID(id); ok {
			t.Errorf("%q: %q, %q", id, action, data)
		}
	}
	if action, data, ok := ParseCustomID("act:dismiss:"); action != "dismiss" || data != "_" || !ok {
		t.Errorf("a later version's dismiss: %q, %q, %v", action, data, ok)
	}
}

func TestPropertyAnIDThatIsMadeIsUnderstood(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		action := rapid.StringMatching(`[a-z_]{1,12}`).Filter(func(s string) bool { return s != AskAgent }).Draw(t, "action")
		data := rapid.String().Draw(t, "data")
		id, err := Button{Action: action + ":" + data}.CustomID(none(t))
		if err != nil {
			return
		}
		if data == "" {
			data = "_"
		}
		if a, d, ok := ParseCustomID(id); !ok || a != action || d != data {
			t.Fatalf("%q gives %q, %q, %v", id, a, d, ok)
		}
	})
}
