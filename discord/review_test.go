package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/discord/discordtest"
)

// tidy is a routine of the user's with more rights than the conversation has.
func tidy(body string) string {
	return "---\nid: aaaa0001\ncron: \"0 9 * * *\"\nbackground: true\ndescription: Tidy\nallowed-tools: [\"Bash(rm *)\"]\n---\n" + body + "\n"
}

const tidyFile = "routines/tidy.md"

// pen is an engine that writes the files which it may: the offline engine alone writes none.
type pen struct {
	agent.Engine
	st *stage
}

func (p pen) Open(ctx context.Context, o agent.SessionOptions) (agent.Session, error) {
	permission := o.Permission
	o.Permission = func(ctx context.Context, u agent.ToolUse) agent.Decision {
		var input struct {
			Path    string `json:"file_path"`
			Content string
		}
		d := permission(ctx, u)
		if err := json.Unmarshal(u.Input, &input); err == nil && d.Allow && u.Name == "Write" {
			p.st.write(input.Path, input.Content)
		}
		return d
	}
	return p.Engine.Open(ctx, o)
}

// edits is a stage on which the agent edits the routine, and the card about it.
func edits(t *testing.T, text string) (*stage, *discordtest.Message) {
	t.Helper()
	st := newStage(t, discordtest.Options{})
	st.write(tidyFile, tidy("Tidy up the desk."))
	st.liveWith(pen{script.New(script.Options{}), st})
	st.up()
	input, err := json.Marshal(map[string]string{"file_path": tidyFile, "content": text})
	testkit.Must(t, err)
	st.s.User().Say(play("ask Write "+string(input), "say written"))
	return st, st.says("Edit of Tidy")
}

func TestAnEditThatWaitsIsACardWithItsChangesAndTwoButtons(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	for i, press := range []string{"Allow", "Refuse"} {
		t.Run(press, func(t *testing.T) {
			t.Parallel()
			edit := tidy("Delete ```everything```.")
			st, card := edits(t, edit)
			want := "\n```diff\n@@ -5,4 +5,4 @@\n description: Tidy\n allowed-tools: [\"Bash(rm *)\"]\n ---\n-Tidy up the desk.\n+Delete ``⟦U+0060⟧everything``⟦U+0060⟧.\n```"
			if f := card.Embeds[0].Footer; f == nil || f.Text != tidyFile {
				t.Errorf("its footer is %+v", f)
			}
			if !strings.Contains(card.Content, "Bash(rm *)") || !strings.HasSuffix(card.Content, want) {
				t.Errorf("the card says\n%s\nwant at its end\n%s", card.Content, want)
			}
			var labels []string
			for _, b := range card.Buttons {
				labels = append(labels, b.Label)
			}
			if !slices.Equal(labels, []string{"Allow", "Refuse"}) {
				t.Fatalf("its buttons are %q", labels)
			}
			st.s.User().Click(card.ID, card.Buttons[i].CustomID)
			st.settled(card)
			st.says([]string{"the edit of Tidy is in force", "the edit of Tidy was refused"}[i])
			data, err := st.dir.Read(tidyFile)
			if allowed := string(data) == edit; err != nil || allowed != (press == "Allow") {
				t.Errorf("the file is\n%s", data)
			}
			st.s.User().Forge(card.ID, card.Buttons[1-i].CustomID)
			st.says("is no longer waiting")
		})
	}
}

// D11: after Refuse there was no way back from the phone.
func TestARefusedEditWaitsAgainByUndo(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	st, card := edits(t, tidy("Delete everything."))
	st.press(card, "Refuse")
	reply := st.says("the edit of Tidy was refused")
	await(t, st, "the refusal", func(s core.Snapshot) bool { return waitsNow(s) == nil })
	st.press(reply, "Undo")
	await(t, st, "the edit", func(s core.Snapshot) bool { return waitsNow(s) != nil })
}

func TestTheCardOfALongEditIsCutAndSaysWhereTheRestIs(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	var long strings.Builder
	for i := range 100 {
		fmt.Fprintf(&long, "Step %d: look below the carpet.\n", i)
	}
	_, card := edits(t, tidy(long.String()))
	_, rest, _ := strings.Cut(card.Content, "```diff\n")
	_, rest, closed := strings.Cut(rest, "\n```\n")
	if !closed || !strings.HasPrefix(rest, "This is cut. All of it is in the attached file") || strings.Count(card.Content, "\n") > 60 {
		t.Errorf("the card says\n%s", card.Content)
	}
	if len(card.Attachments) != 1 || strings.Count(string(card.Attachments[0].Data), "look below the carpet.") != 100 { // N2
		t.Errorf("attached are %+v", card.Attachments)
	}
	if len(card.Buttons) != 2 {
		t.Errorf("its buttons are %+v", card.Buttons)
	}
}
