package guide

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

func TestTheSystemPromptHoldsTheProfileAndTheUsersOwnSkills(t *testing.T) {
	d := prepared(t)
	install(t, d)
	storetest.Put(t, d, "USER.md", "Up at six.")
	for _, name := range []string{"email-triage", "routine-a1b2c3d4", "reminder-a1b2c3d4", "webhook-ci"} {
		storetest.Put(t, d, "skills/"+name+"/SKILL.md", fmt.Sprintf("---\nname: %s\ndescription: What %s does.\n---\nx", name, name))
	}
	storetest.Put(t, d, "skills/broken/SKILL.md", "no front matter")
	got := SystemPrompt(d, sam())
	if want := storetest.Text(t, d, "IDENTITY.md") + "\nUp at six.\n\n# How you work here\n\nYou are Sam's assistant"; !strings.HasPrefix(got, want) {
		t.Errorf("the prompt begins\n%s\nwant\n%s", got[:len(want)], want)
	}
	if !strings.Contains(got, "\n- `email-triage`: What email-triage does.\n") || strings.Count(got, "\n- `email-triage`: ") != 1 {
		t.Error("the user's skill is not listed")
	}
	for _, name := range []string{"setup", "job-config", "routine-a1b2c3d4", "reminder-a1b2c3d4", "webhook-ci", "broken"} {
		if strings.Contains(got, "\n- `"+name+"`: ") {
			t.Errorf("%s is listed as the user's own", name)
		}
	}
	if !strings.Contains(got, "in Europe/Berlin") {
		t.Error("the zone is not named")
	}
}

func TestAChangedProfileIsInForceForTheNextSessionAndNothingElseChanges(t *testing.T) {
	d := prepared(t)
	install(t, d)
	before := SystemPrompt(d, sam())
	if again := SystemPrompt(d, sam()); again != before {
		t.Error("two sessions in a row are told different things")
	}
	storetest.Put(t, d, "IDENTITY.md", "You are somebody else now.")
	after := SystemPrompt(d, sam())
	if !strings.HasPrefix(after, "You are somebody else now.\n\n# How") {
		t.Errorf("the prompt begins %q", after[:60])
	}
	_, old, _ := strings.Cut(before, "# How you work here")
	_, now, _ := strings.Cut(after, "# How you work here")
	if old != now {
		t.Error("the rest of the prompt changed")
	}
}

func TestAProfileThatCannotBeReadIsSaid(t *testing.T) {
	d := prepared(t)
	testkit.Must(t, os.Mkdir(d.Path("USER.md"), 0o700))
	if got := SystemPrompt(d, sam()); !strings.HasPrefix(got, "[USER.md is there and cannot be read now.") {
		t.Errorf("the prompt begins %q", got[:60])
	}
}

func TestADirectoryThatDoesNotExistHasAPromptToo(t *testing.T) {
	d := storetest.At(t, t.TempDir()+"/nowhere")
	if got := SystemPrompt(d, Options{}); !strings.HasPrefix(got, "# How you work here\n\nYou are the user's assistant") {
		t.Errorf("the prompt begins %q", got[:60])
	}
}

func BenchmarkSystemPromptWith20Skills(b *testing.B) {
	d := prepared(b)
	install(b, d)
	for i := range 20 {
		storetest.Put(b, d, fmt.Sprintf("skills/s%02d/SKILL.md", i), fmt.Sprintf("---\nname: s%02d\ndescription: One of many.\n---\nx", i))
	}
	b.ReportAllocs()
	for b.Loop() {
		if len(SystemPrompt(d, sam())) < 8<<10 {
			b.Fatal("the prompt is too short to be whole")
		}
	}
}
