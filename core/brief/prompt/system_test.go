package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/docs"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/policy"
	"ollimbot/routines"
)

func systemInput() SystemInput {
	return SystemInput{
		UserName: "Sam", Zone: "America/Los_Angeles",
		Identity: "# Identity\n\nYou are Ollie. {{user}} stays as it is.\n",
		User:     "\n# Sam\n\n- up at six\n\t- coffee first\n",
		Skills:   []SkillLine{{"email-triage", "Sort email by what needs an answer."}, {"focus-coach", "Start one small thing."}},
	}
}

// E1: the instructions took two thirds of a window of 4,096 tokens.
func TestABriefPromptIsShortWhateverTheProfileIs(t *testing.T) {
	in := SystemInput{UserName: "Sam", Zone: "UTC", Google: true, Promises: true, Brief: true}
	if n := len(System(in)); n > 3_000 {
		t.Errorf("it has %d bytes", n)
	}
	in.User = strings.Repeat("- likes plums\n", 10_000)
	got := System(in)
	if len(got) > 3_000+briefProfile+100 || !strings.Contains(got, "USER.md goes on") {
		t.Errorf("with a long profile it has %d bytes", len(got))
	}
}

func TestAChangeOfTheProfileIsTheLastParagraphOfAMessage(t *testing.T) {
	before := Profile{Identity: "You are Ollie.", User: "- up at six\n- likes figs"}
	for name, c := range map[string]struct {
		now  Profile
		want string
	}{
		"nothing":        {before, ""},
		"white space":    {Profile{before.Identity + "\n", "\n" + before.User}, ""},
		"a line":         {Profile{before.Identity, "- up at seven\n- likes figs"}, "[profile] USER.md has changed (- is gone, + counts from now on):\n-- up at six\n+- up at seven\n - likes figs"},
		"a file is gone": {Profile{"", before.User}, "[profile] IDENTITY.md is gone: what it said does not count any more."},
		"both":           {Profile{"", ""}, "[profile] IDENTITY.md is gone: what it said does not count any more.\n\n[profile] USER.md is gone: what it said does not count any more."},
		"a long file":    {Profile{before.Identity, strings.Repeat("x\n", 5_000)}, "[profile] USER.md has changed: read it before you answer."},
	} {
		if got := c.now.Changed(before); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// The order in the table of tags.
var systemOrder = []string{
	"Capturing tasks", "How much to say", "Notes on this setup", "Skills", "Google Tasks", "Google Calendar",
	"Routines and reminders", "Promises", "Guide", "Gmail", "Past conversations", "Responsiveness", "User proxy", "Embeds",
	"Web and documentation", "Interactive forks", "Background forks", "Webhooks",
}

func TestTheSectionsAreInTheSeedsOrderWhateverIsSetUp(t *testing.T) {
	heading := regexp.MustCompile(`(?m)^## (.*)$`)
	for _, google := range []bool{false, true} {
		for _, webhooks := range []bool{false, true} {
			var got []string
			for _, m := range heading.FindAllStringSubmatch(System(SystemInput{Google: google, Webhooks: webhooks, Promises: true}), -1) {
				got = append(got, m[1])
			}
			if !slices.Equal(got, systemOrder) {
				t.Errorf("google %v, webhooks %v: the sections are %q", google, webhooks, got)
			}
		}
	}
}

func TestAnEmptyProfileLeavesNothingBehind(t *testing.T) {
	for want, in := range map[string]SystemInput{
		"# How you work here\n": {Identity: " \n\t\n"}, "# Sam\n\n\t- x\n\n# How you work here\n": {Identity: " \n", User: "# Sam\n\n\t- x\n"},
	} {
		if got := System(in); !strings.HasPrefix(got, want) {
			t.Errorf("the prompt begins %q, want %q", got[:40], want)
		}
	}
}

func TestALongProfileIsCutAtACharacterAndSaysWhereTheRestIs(t *testing.T) {
	for _, c := range []struct {
		text string
		cut  int // at most so many bytes before the limit; -1 for not at all
	}{
		{strings.Repeat("é", maxProfile), 0}, {strings.Repeat("日", maxProfile), 2}, {strings.Repeat("a", maxProfile+1), 0}, {strings.Repeat("a", maxProfile), -1},
	} {
		got, _, cut := strings.Cut(System(SystemInput{User: c.text}), "\n\n[USER.md goes on: ")
		if cut != (c.cut >= 0) || cut && (!utf8.ValidString(got) || len(got) > maxProfile || len(got) < maxProfile-c.cut) {
			t.Errorf("%d bytes became %d, cut: %v", len(c.text), len(got), cut)
		}
	}
}

func TestABriefPromptsProfileIsCutAtTwoKilobytes(t *testing.T) {
	for n, cut := range map[int]bool{2 << 10: false, 2<<10 + 1: true} {
		got := System(SystemInput{User: strings.Repeat("a", n), Brief: true})
		if strings.Count(got, "[USER.md goes on: ") == 1 != cut || !strings.HasPrefix(got, strings.Repeat("a", 2<<10)+"\n") {
			t.Errorf("%d bytes: the prompt begins\n%.2200s", n, got)
		}
	}
}

func TestAChangeOfTheProfileIsQuotedUpTo4KB(t *testing.T) {
	frame := len(Profile{User: "x"}.Changed(Profile{})) - 1
	for n, want := range map[int]string{
		4<<10 - frame:     fmt.Sprintf(textProfileChanged, "USER.md", "+"+strings.Repeat("x", 4<<10-frame)),
		4<<10 - frame + 1: "[profile] USER.md has changed: read it before you answer.",
	} {
		if got := (Profile{User: strings.Repeat("x", n)}).Changed(Profile{}); got != want {
			t.Errorf("%d bytes: %.300s", n, got)
		}
	}
}

func TestLongNamesAndDescriptionsAreCut(t *testing.T) {
	long := func(letter string) string { return strings.Repeat(letter, 500) }
	got := System(SystemInput{UserName: long("ü"), Zone: long("ż"), Skills: []SkillLine{{long("ñ"), long("å")}}})
	for letter, n := range map[string]int{"ü": 80, "ż": 80, "ñ": 64, "å": 200} {
		if cut := strings.Repeat(letter, n-1) + "…"; !strings.Contains(got, cut) || strings.Contains(got, letter+cut) {
			t.Errorf("%s is not cut at %d characters", letter, n)
		}
	}
}

func TestWhatIsNotSetUpIsNeitherOfferedNorForgotten(t *testing.T) {
	bare, all := System(SystemInput{}), System(SystemInput{Google: true, Webhooks: true, Promises: true})
	for _, command := range []string{"ollim-bot tasks", "ollim-bot cal", "ollim-bot gmail", "gmail-reader", "task_done", "event_del"} {
		if strings.Contains(bare, command) {
			t.Errorf("without Google the prompt offers %s", command)
		}
	}
	if n := strings.Count(bare, "Not set up here"); n != 4 {
		t.Errorf("%d things are said to be missing, want tasks, calendar, mail and webhooks", n)
	}
	if strings.Contains(all, "Not set up") || strings.Contains(all, "[google]") || strings.Contains(all, "[no ") {
		t.Error("a condition of the template is left in the text")
	}
}

func TestTheSystemPromptStaysShort(t *testing.T) {
	for name, in := range map[string]SystemInput{"bare": {}, "everything": {UserName: "Sam", Zone: "UTC", Google: true, Webhooks: true, Promises: true}} {
		if n := len(System(in)); n < 8<<10 || n > 25<<9 {
			t.Errorf("%s: %d bytes, want 8 to 12.5 KB", name, n)
		}
	}
}

var (
	toolWord    = regexp.MustCompile(`^(mcp__\w+|[a-z]+(_[a-z]+)+)$`)
	tagWord     = regexp.MustCompile(`^\[([a-z-]+)(:[A-Za-z-]+)?\]$`)
	spanPattern = regexp.MustCompile("`([^`\n]+)`")
)

// codeSpans returns the words in back quotes.
func codeSpans(text string) []string {
	var list []string
	for _, m := range spanPattern.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

func TestEveryToolThatThePromptNamesExists(t *testing.T) {
	known := map[string]bool{
		// Words with an underscore that are not tools.
		"on_ping": true, "run_at": true,
	}
	for _, tool := range docs.New(nil).Tools() {
		known["mcp__"+docs.Server+"__"+tool.Name] = true
	}
	for _, tool := range toolset.Tools(nil) {
		known[tool.Name], known[toolset.Prefix+tool.Name] = true, true
	}
	seen := map[string]bool{}
	for _, word := range codeSpans(System(SystemInput{Google: true, Webhooks: true, Promises: true})) {
		if toolWord.MatchString(word) {
			seen[word] = true
			if !known[word] {
				t.Errorf("there is no tool %s", word)
			}
		}
	}
	for _, name := range []string{
		toolset.ReportUpdates, toolset.ExitFork, toolset.SaveContext, toolset.EnterFork, toolset.PingUser, toolset.DiscordEmbed,
		toolset.SendFile, toolset.FollowUpChain, toolset.AddReminder, toolset.ListReminders, toolset.CancelReminder, toolset.ProposeReminder,
	} {
		if !seen[name] {
			t.Errorf("the prompt does not explain %s", name)
		}
	}
}

// Every tag is the beginning of some prompt of this package, and vice versa.
func TestEveryTagThatThePromptNamesIsReallySent(t *testing.T) {
	sent := map[string]bool{}
	for _, kind := range []routines.Kind{routines.KindRoutine, routines.KindReminder, routines.KindWebhook} {
		for _, background := range []bool{true, false} {
			name, _, _ := strings.Cut(strings.Trim(tag(task(kind), background), "[]"), ":")
			sent[name] = true
		}
	}
	for _, text := range []string{
		ForkStarted(""), ForkReply(""), ForkButton("", ""), ForkIdle(time.Minute, false), ForkIdle(time.Minute, true), Stale(time.Hour), ForkReport(), Button(""), (Profile{User: "x"}).Changed(Profile{}),
	} {
		name, _, ok := strings.Cut(strings.TrimPrefix(text, "["), "]")
		if !ok {
			t.Fatalf("%q has no tag", text)
		}
		sent[name] = true
	}
	named := map[string]bool{}
	for _, word := range codeSpans(System(SystemInput{Google: true, Webhooks: true, Promises: true})) {
		if m := tagWord.FindStringSubmatch(word); m != nil {
			named[m[1]] = true
			if !sent[m[1]] {
				t.Errorf("nothing is ever sent with the tag %s", word)
			}
		}
	}
	for name := range sent {
		if !named[name] {
			t.Errorf("the prompt does not say what [%s] means", name)
		}
	}
}

func TestManySkillsAreCountedNotListed(t *testing.T) {
	in := SystemInput{}
	for range maxSkills + 7 {
		in.Skills = append(in.Skills, SkillLine{"a-skill", strings.Repeat("long ", 1000)})
	}
	got := System(in)
	if n := strings.Count(got, "\n- `a-skill`: "); n != maxSkills || !strings.Contains(got, "\n- and 7 more: `ls skills` lists them.\n") {
		t.Errorf("%d skills are listed", n)
	}
	if len(got) > 12<<10+maxSkills*(maxSkillName+maxSkillAbout+16) {
		t.Errorf("the prompt grew to %d bytes", len(got))
	}
}

// Whatever names and descriptions contain, they add no line, no heading and no terminal
// control sequence; nor does the profile, except for its own lines.
func TestPropertyNothingFromOutsideForgesALine(t *testing.T) {
	plain := lines(System(SystemInput{UserName: "x", Zone: "x", Skills: []SkillLine{{"x", "x"}, {"x", "x"}}}))
	wild := rapid.StringOf(rapid.OneOf(rapid.SampledFrom([]rune("\n\r\t\x00\x1b[#`{}usr\u2028\u202e")), rapid.Rune()))
	testkit.Check(t, func(t *rapid.T) {
		in := SystemInput{UserName: wild.Draw(t, "user"), Zone: wild.Draw(t, "zone")}
		for range 2 {
			in.Skills = append(in.Skills, SkillLine{wild.Draw(t, "name"), wild.Draw(t, "about")})
		}
		got := System(in)
		if n := lines(got); n != plain {
			t.Fatalf("%d lines instead of %d", n, plain)
		}
		if bad := strings.IndexFunc(got, func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || r == '\u202e') }); bad >= 0 {
			t.Fatalf("%q is left in the prompt", got[bad:bad+1])
		}
		if again := System(in); again != got {
			t.Fatal("the same values gave another prompt")
		}
	})
}

func lines(s string) int { return strings.Count(s, "\n") }

func TestThePromptNamesTheCommandsThatPassAndNoOthers(t *testing.T) {
	for _, google := range []bool{false, true} { // F3: mail is the job of gmail-reader
		if line := System(SystemInput{Google: google}); strings.Contains(line, "`ollim-bot gmail …`") || strings.Contains(line, "`ollim-bot tasks …`") != google {
			t.Errorf("Google %v: the commands are %s", google, line)
		}
		text := System(SystemInput{Google: google})
		_, line, _ := strings.Cut(text, "these commands run without asking: ")
		line, _, _ = strings.Cut(line, ". ")
		for _, p := range policy.MainTools() {
			command, ok := strings.CutPrefix(p, "Bash(")
			if !ok {
				continue
			}
			command = strings.Replace(strings.TrimSuffix(command, ")"), " *", " …", 1)
			if named, want := strings.Contains(line, "`"+command+"`"), slices.Contains(policy.Told(policy.MainTools(), policy.Main, google), p); named != want {
				t.Errorf("Google %v: %s is named: %v", google, command, named)
			}
		}
	}
}
