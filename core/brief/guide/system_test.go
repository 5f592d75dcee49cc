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
	d := installed(t)
	before := SystemPrompt(d, sam())
	storetest.Put(t, d, "USER.md", "Up at six.")
	for _, name := range []string{"email-triage", "routine-a1b2c3d4", "reminder-a1b2c3d4", "webhook-ci"} {
		storetest.Put(t, d, "skills/"+name+"/SKILL.md", fmt.Sprintf("---\nname: %s\ndescription: What %s does.\n---\nx", name, name))
	}
	storetest.Put(t, d, "skills/broken/SKILL.md", "no front matter")
	got := SystemPrompt(d, sam())
	own := got
	for _, add := range []string{"\nUp at six.\n", "\n- `email-triage`: What email-triage does."} {
		own = strings.Replace(own, add, "", 1)
	}
	for _, name := range []string{"setup", "job-config", "routine-a1b2c3d4", "reminder-a1b2c3d4", "webhook-ci", "broken"} {
		if strings.Contains(got, "\n- `"+name+"`: ") {
			t.Errorf("%s is listed as the user's own", name)
		}
	}
	if want := storetest.Text(t, d, "IDENTITY.md") + "\nUp at six.\n\n# How you work here\n\nYou are Sam's assistant"; !strings.HasPrefix(got, want) {
		t.Errorf("the prompt begins\n%s\nwant\n%s", got[:len(want)], want)
	}
	if !strings.Contains(got, "\n- `email-triage`: What email-triage does.\n") || !strings.Contains(before, "in Europe/Berlin") {
		t.Errorf("the prompt lacks the user's skill or the zone:\n%s", own)
	}
}

func TestTheSystemPromptReadsTheProfileAgainForEachSession(t *testing.T) {
	d := installed(t)
	before := SystemPrompt(d, sam())
	if SystemPrompt(d, sam()) != before {
		t.Error("two sessions in a row get different prompts")
	}
	_, rest, _ := strings.Cut(before, "\n\n# How you work here")
	storetest.Put(t, d, "IDENTITY.md", "You are somebody else now.")
	if got := SystemPrompt(d, sam()); got != "You are somebody else now.\n\n# How you work here"+rest {
		t.Errorf("more than the identity has changed:\n%s", got)
	}
	testkit.Must(t, os.Mkdir(d.Path("USER.md"), 0o700))
	testkit.Must(t, d.Remove("IDENTITY.md"))
	if got := SystemPrompt(d, sam()); !strings.HasPrefix(got, "[USER.md is there and cannot be read now. Tell the user.]\n") {
		t.Errorf("of a profile that cannot be read it says %q", got[:60])
	}
	if got := SystemPrompt(storetest.At(t, t.TempDir()+"/nowhere"), Options{}); !strings.HasPrefix(got, "# How you work here\n\nYou are the user's assistant") {
		t.Errorf("without a directory the prompt begins %q", got[:60])
	}
}
