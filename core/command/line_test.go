package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/routines/when"
)

func TestQuotesKeepWordsTogether(t *testing.T) {
	for line, want := range map[string][]string{
		`fire email`: {"fire", "email"}, `  a  "b c" 'd "e' `: {"a", "b c", `d "e`}, `a ""`: {"a", ""}, `I don't know`: {"I", "don't", "know"}, "": nil,
		"a\u00a0b\nc": {"a", "b", "c"},
	} {
		if got, ok := Split(line); !ok || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", line, got, ok)
		}
	}
	if word, rest := CutWord(" a\n b  c\td\n"); word != "a" || rest != "b  c\td" || SkipWords("a b\nc  d ", 2) != "c  d" || SkipWords("a", 2) != "" {
		t.Errorf("%q, %q", word, rest)
	}
	if _, ok := Split(`say "hello`); ok {
		t.Error("an open quote is closed")
	}
	testkit.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-z \t"]{0,8}`)).Draw(rt, "words")
		line := ""
		for _, w := range words {
			line += " '" + w + "'"
		}
		if got, ok := Split(line); !ok || !slices.Equal(got, words) && len(words) > 0 {
			rt.Errorf("%q: %q", line, got)
		}
	})
}

func TestALineIsCarriedOutByTheCommandLine(t *testing.T) {
	var ran []string
	result, undo := agent.CommandResult{Stdout: "one\ntwo\n", Stderr: "ollim-bot: a note\n"}, Value(LiftCaps{})
	run := func(_ context.Context, args []string) (agent.CommandResult, Value) {
		ran = args
		return result, undo
	}
	in := Reading{Find: func(_ Kind, text string) (string, error) {
		if text != "email" {
			return "", errors.New("there is no " + text)
		}
		return "aaaa1111", nil
	}}
	out, err := Line{Text: `WEBHOOKS --json`}.CarryOut(t.Context(), run, in)
	if err != nil || strings.Join(ran, " ") != "WEBHOOKS --json" && strings.Join(ran, " ") != "webhook list --json" {
		t.Errorf("ran %q, %v", ran, err)
	}
	if out.Printed != "a note\none\ntwo" || out.Message != "a note" || out.Undo != undo {
		t.Errorf("%+v", out)
	}
	var no *NoLineError
	for line, why := range map[string]string{
		"hello there": `"hello there" begins with no command`, "run": `"run" begins with no command`, `fire "x`: "a quote is not closed", "": `"" begins with no command`,
		"pause for a walk": "there is no for a walk", "stop worrying about that": "there is no worrying about that",
		"preview of coming attractions": "there is no of coming attractions", "cancel my subscription": "there is no my subscription",
		"fire 0badc0dg": "there is no 0badc0dg", "fire 0badc0": "there is no 0badc0",
	} { // run starts a bot
		ran = nil
		if _, err := (Line{Text: line}).CarryOut(t.Context(), run, in); !errors.As(err, &no) || no.Why != why || ran != nil {
			t.Errorf("%q: %v, ran %q", line, err, ran)
		}
	}
	for _, line := range []string{"fire 0badc0de", "fire --help"} { // of an ID the command knows best why there is none
		if _, err := (Line{Text: line}).CarryOut(t.Context(), run, in); err != nil || strings.Join(ran, " ") != line {
			t.Errorf("%q: %v, ran %q", line, err, ran)
		}
	}
	result = agent.CommandResult{Stderr: "ollim-bot: it takes a number\n", Exit: UsageStatus}
	if _, err := (Line{Text: "costs x"}).CarryOut(t.Context(), run, in); !errors.As(err, &no) || no.Why != "it takes a number" {
		t.Errorf("%v", err)
	}
	result = agent.CommandResult{Exit: 1}
	if _, err := (Line{Text: "fire email"}).CarryOut(t.Context(), run, in); err == nil || err.Error() != "the command failed and says nothing" {
		t.Errorf("%v", err)
	}
	result = agent.CommandResult{Stdout: "half\n", Exit: 1}
	if out, err := (Line{Text: "fire email"}).CarryOut(t.Context(), run, in); err != nil || out.Printed != "half" {
		t.Errorf("%+v, %v", out, err)
	}
	result = agent.CommandResult{Stderr: "ollim-bot: no such task\n", Exit: 1}
	if _, err := (Line{Text: "fire email"}).CarryOut(t.Context(), run, in); err == nil || errors.As(err, &no) || err.Error() != "no such task" {
		t.Errorf("%v", err)
	}
}

// Each thing is named by its ID, the beginning of it, its title or words of it, everywhere in the same way.
func TestThingsAreNamedByIDAndWords(t *testing.T) {
	things := []Thing{
		{ID: "aaaa1111", Title: "Email sweep"},
		{ID: "bbbb2222", Title: "Medication"},
		{ID: "cccc3333", Title: "Medication refill"},
		{ID: "dddd4444", Title: "bbbb2222"},
		{ID: "eeee5555", Title: "Email sweep", Off: true},
	}
	for text, want := range map[string]string{
		"medication": "bbbb2222", "REFILL medic": "cccc3333", "cccc": "cccc3333", "bbbb2222": "bbbb2222", "email": "aaaa1111", "medic": "", "ccc": "", "dentist": "",
	} {
		if got, err := PickOne("task", things, text, false); (err == nil) != (want != "") || got.ID != want {
			t.Errorf("%q names %+v, %v", text, got, err)
		}
	}
	if _, err := PickOne("task", things, "medic", false); err == nil || err.Error() != `"medic" names 2 tasks: Medication (bbbb2222); Medication refill (cccc3333)` {
		t.Errorf("%v", err)
	}
	many := make([]Thing, 6)
	for i := range many {
		many[i] = Thing{ID: fmt.Sprint(i), Title: "Tea"}
	}
	for text, want := range map[string]string{"dentist": `no run is called "dentist"`, "tea": `"tea" names 6 runs: Tea (0); Tea (1); Tea (2); Tea (3); Tea (4); 1 more`} {
		if _, err := PickOne("run", many, text, false); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for text, want := range map[string]string{"email": "aaaa1111", "dentist": "dentist", "medic": ""} {
		if got, err := PickOrText("task", things, text, false); (err == nil) != (want != "") || got.ID != want {
			t.Errorf("%q names %+v or is an ID, %v", text, got, err)
		}
	}
	twice := []Thing{{ID: "r2", Title: "Tea"}, {ID: "r1", Title: "Tea"}}
	if got, err := PickOne("run", twice, "tea", true); err != nil || got.ID != "r2" {
		t.Errorf("%+v, %v", got, err)
	}
}

// What removes or stops something asks wherever a line is typed: the row decides.
func TestALineThatRemovesOrStopsSomethingAsksFirst(t *testing.T) {
	ran := 0
	run := func(context.Context, []string) (agent.CommandResult, Value) { ran++; return agent.CommandResult{}, nil }
	in := Reading{Find: func(Kind, string) (string, error) { return "aaaa1111", nil }}
	var asking []string
	for _, c := range List(InPlain) {
		if !c.Asks {
			continue
		}
		asking = append(asking, c.Name)
		if c.In&InShell == 0 || c.In&InDiscord != 0 {
			t.Errorf("%s asks where no line is carried out", c.Name)
		}
		ran = 0
		out, err := Line{Text: c.Name + " email"}.CarryOut(t.Context(), run, in)
		if err != nil || ran > 0 || !strings.HasPrefix(out.Follows, c.Name+" email: ") {
			t.Errorf("%s: %+v, %v, ran %d times", c.Name, out, err, ran)
		}
		if _, err := Sure(Line{Text: c.Name + " email"}).(Line).CarryOut(t.Context(), run, in); err != nil || ran != 1 {
			t.Errorf("%s, sure: %v, ran %d times", c.Name, err, ran)
		}
		h := Host{Line: func(ctx context.Context, l Line) (Outcome, error) { return l.CarryOut(ctx, run, in) }}
		if out, err := (Slash{Line: "/" + c.Name + " email"}).CarryOut(t.Context(), h); err != nil || out.Follows == "" || ran != 1 {
			t.Errorf("/%s: %+v, %v, ran %d times", c.Name, out, err, ran)
		}
	}
	if want := "stop routine cancel reminder cancel cancel tasks delete cal delete"; strings.Join(asking, " ") != want {
		t.Errorf("%q ask, want %q", asking, want)
	}
}

func TestArgumentsAreReadFromALine(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 2, 0, 0, time.UTC)
	in := Reading{Times: when.Reader{Now: now}, Find: func(k Kind, text string) (string, error) {
		if k != Task || text == "nothing" {
			return "", errors.New("no such thing")
		}
		return "the " + text, nil
	}}
	task, moment := Arg{Kind: Task, Name: "task"}, Arg{Kind: Moment, Name: "when"}
	evening := time.Date(2026, 11, 21, 18, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		args  []Arg
		line  string
		want  Subject
		wrong bool // it is none of the arguments
		fails bool
	}{
		{[]Arg{task}, " email  sweep", Subject{ID: "the email  sweep"}, false, false},
		{[]Arg{task}, "nothing", Subject{}, false, true},
		{[]Arg{task, moment}, "email until 18:30", Subject{ID: "the email", At: evening}, false, false},
		{[]Arg{task, moment}, "email sweep 18:30", Subject{ID: "the email sweep", At: evening}, false, false},
		{[]Arg{task, moment}, "turn it off off", Subject{ID: "the turn it off"}, false, false},
		{[]Arg{task, moment}, "email", Subject{}, true, true},
		{[]Arg{task, moment}, "18:30", Subject{}, true, true},
		{[]Arg{task, moment}, "", Subject{}, true, true},
		{[]Arg{moment}, "18:30", Subject{At: evening}, false, false},
		{[]Arg{moment}, "off", Subject{}, false, false},
		{[]Arg{moment}, "email 18:30", Subject{}, true, true},
		{[]Arg{{Name: "code", Optional: true}}, "", Subject{}, false, false},
		{[]Arg{{Name: "code", Optional: true}}, "a b", Subject{Words: "a b"}, false, false},
		{nil, "", Subject{}, false, false},
		{nil, "now", Subject{}, true, true},
	} {
		got, _, err := Command{Name: "it", Args: c.args}.Read(c.line, in)
		if wrong := new(ArgumentError); errors.As(err, &wrong) != c.wrong || (err != nil) != c.fails || err == nil && got != c.want {
			t.Errorf("%v of %q: %+v, %v", c.args, c.line, got, err)
		}
	}
	in.Times.Now = time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)
	if _, note, err := (Command{Args: []Arg{task, moment}}).Read("email tomorrow 9:00", in); err != nil || note == "" || note != in.Times.Note("tomorrow") {
		t.Errorf("in the small hours, tomorrow is noted as %q, %v", note, err)
	}
}

// An earlier name of the original program is a command's only name in the conversation, and another name elsewhere.
func TestANameOfTheOriginalProgramIsKept(t *testing.T) {
	for seed, name := range map[string]string{"ping-budget": "budget", "config": "settings", "google-auth": "auth google"} {
		if c, ok := Find(InDiscord, seed); !ok || c.Name != seed {
			t.Errorf("Discord has %q for %s", c.Name, seed)
		}
		if c, ok := Find(InShell, seed); !ok || c.Name != name {
			t.Errorf("the command line has %q for %s", c.Name, seed)
		}
		if _, ok := Find(InDiscord, name); ok {
			t.Errorf("Discord has %s", name)
		}
	}
}

// The commands of Discord keep their order, and those of the original program their fields.
func TestTheCommandsOfDiscordKeepTheirOrderAndFields(t *testing.T) {
	var got []string
	for _, c := range List(InDiscord) {
		line := c.Name
		for _, a := range c.Args {
			line += " " + a.Name
		}
		got = append(got, line)
	}
	want := []string{
		"clear", "compact instructions", "status", "week which", "mcp what server", "cost", "fork topic", "model name", "thinking mode", "remind what when",
		"timezone zone", "interrupt", "permissions mode", "ping-budget capacity refill_rate", "lift off", "config key value", "setup", "update", "google-auth what", "restart",
		"version", "help",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Discord has\n%q, want\n%q", got, want)
	}
}

func TestEachWordNamesOneCommandOfItsPlace(t *testing.T) {
	for _, p := range []Place{InPlain, InSlash, InDiscord, InShell, InAgent} {
		seen := map[string]bool{}
		for _, c := range List(p) {
			for _, w := range append([]string{c.Name}, c.Aliases...) {
				if got, ok := Find(p, w); !ok || got.Name != c.Name || seen[w] {
					t.Errorf("%q means %q", w, got.Name)
				}
				seen[w] = true
			}
			if c.About == "" || len(c.About) > 100 && p == InDiscord {
				t.Errorf("what %s does takes 1 to 100 characters", c.Name)
			}
		}
	}
}

func TestExamplesShowWhatACommandNeeds(t *testing.T) {
	for _, c := range List(InPlain) {
		if c.Example != "" && !strings.HasPrefix(c.Example+" ", c.Name+" ") {
			t.Errorf("the example of %s is %q", c.Name, c.Example)
		}
		if c.Usage != "" && c.Example == "" && c.Usage[0] != '[' {
			t.Errorf("the example of %s lacks what it needs", c.Name)
		}
	}
}

func TestEveryCommandOfTheConversationIsCarriedOut(t *testing.T) {
	for _, c := range List(InSlash) {
		if (c.slash == nil) != (c.Name == "help") {
			t.Errorf("nothing carries out /%s", c.Name)
		}
	}
}

// N20: the other name of update works.
func TestAWordIsSaidToBeACommandElsewhere(t *testing.T) {
	if c, ok := Find(InSlash, "upgrade"); !ok || c.Name != "update" {
		t.Errorf("/upgrade is %q", c.Name)
	}
	for word, want := range map[string]string{
		"run": "run is a command of the shell: ollim-bot run", "clear": "clear is a command of the conversation: write /clear to the bot", "xyzzy": "",
		"press": "press is a command of plain mode, and of the dashboard after a colon: ollim-bot attach --plain, then press",
	} {
		if got := Elsewhere(word); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

// A2: a command that prints what others may have written labels its reader.
func TestEachCommandOfTheAgentSaysWhatItPrints(t *testing.T) {
	for _, c := range List(InAgent) {
		if c.Prints == 0 {
			t.Errorf("%s: decide which stored text it prints", c.Name)
		}
	}
}

// What a run may still do once it has read a stranger's words.
func TestTheCommandsThatOnlyReadAreThoseOfTheAgentThatWriteNothing(t *testing.T) {
	list := ReadOnly()
	for name, reads := range map[string]bool{
		"help": true, "status": true, "tasks list": true, "gmail read": true, "history search": true, "reminder list": true,
		"tasks add": false, "cal delete": false, "reminder add": false, "routine cancel": false, "reminder done": false, // they write
		"settings": false, "fire": false, "mcp test": false, // the agent has none of these
	} {
		if slices.Contains(list, name) != reads {
			t.Errorf("%s only reads: %v", name, !reads)
		}
	}
}

// What a user reads about each command, wherever it can be used.
func TestTheHelpOfEachCommandSaysWhereAndHowItIsUsed(t *testing.T) {
	var b strings.Builder
	more := map[string]bool{}
	var helps []string
	for _, c := range Table {
		line := []string{c.Name}
		if c.In != 0 {
			var places []string
			for i, place := range []string{"plain", "slash", "discord", "shell", "agent", "bot", "message"} {
				if c.In&(1<<i) != 0 {
					places = append(places, place)
				}
			}
			line = append(line, "in "+strings.Join(places, " "))
		}
		for word, is := range map[string]bool{"writes": c.Writes, "verbatim": c.Verbatim, "asks": c.Asks, "silent": c.Silent, "by plain mode": c.Plain} {
			if is {
				line = append(line, word)
			}
		}
		slices.Sort(line[2:])
		line = append(line, fmt.Sprintf("%s %d", c.Group, c.Prints), c.About, c.Short)
		n := len(line)
		for what, text := range map[string]string{
			"usage": cmp.Or(c.Usage, usage(c.Args)), "also": strings.Join(append(c.Aliases, c.Seed), " "), "key": c.Key, "example": c.Example, "was": c.Was,
		} {
			if text != "" {
				line = append(line, what+" "+text)
			}
		}
		slices.Sort(line[n:])
		for _, a := range c.Args {
			line = append(line, fmt.Sprintf("%s (%d): %s %q", a.Name+map[bool]string{true: "?"}[a.Optional], a.Kind, a.About, append([]string{a.Ends, fmt.Sprint(a.Least)}, a.Choices...)))
		}
		fmt.Fprintln(&b, strings.Join(slices.DeleteFunc(line, func(s string) bool { return s == "" }), " | "))
		for one := range strings.Lines(c.More) {
			if one = strings.TrimSpace(one); !more[one] {
				more[one] = true
				helps = append(helps, one)
			}
		}
	}
	for _, g := range Groups {
		fmt.Fprintln(&b, g+": "+Group(g.Title()))
	}
	fmt.Fprintln(&b, strings.Join(helps, "\n"))
	goldentest.Compare(t, "commands.txt", b.String())
}

func TestStoppingWaitsForNothingAndTheConversationsCommandsForEachOther(t *testing.T) {
	for lane, list := range map[Lane][]Value{
		LaneBeside: {Interrupt{}, StopFork{}, MarkSeen{}, UserActive{}},
		LaneTalk:   {Say{}, Receive{}, Reword{}, DeliverNow{}, ExitFork{}, ResumeFork{}, Click{}, Slash{}, Line{}},
		LaneQuick:  {SetBudget{}, DiscardUpdate{}, Snooze{}, Pause{}, MuteUntil{}, AddTask{}, EditTask{}, DeleteTask{}, Remind{}, AnswerProposal{}, SetConfig{}},
	} {
		for _, c := range list {
			if got := LaneOf(c); got != lane {
				t.Errorf("%T is %s, not %s", c, got, lane)
			}
		}
	}
	alone := map[Lane]bool{}
	for _, c := range []Value{Interrupt{}, Say{}, SetBudget{}, FireNow{}, LiftCaps{}, Answer{}, Login{}} { // none of these waits for another
		if lane := LaneOf(c); alone[lane] {
			t.Errorf("%T waits in %s", c, lane)
		} else {
			alone[lane] = true
		}
	}
}
