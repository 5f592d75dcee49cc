package core

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
)

var skills = []file{
	task("skills/triage/SKILL.md", "name: triage\ndescription: Sort it.\nallowed-tools:\n  - \"Bash(ollim-bot history *)\"\n  - \"Bash(*)\"\n",
		"Sort by !`echo urgency`."),
	task("skills/coach/SKILL.md", "name: coach\ndescription: One thing.\n", "One thing at a time."),
}

// skillBlock is the text of these stories' skills in a prompt.
const skillBlock = "SKILL INSTRUCTIONS:\n\n### coach\nOne thing at a time.\n\n### triage\nSort by urgency.\n\n"

// skilled is a routine with skills that fires by hand only.
func skilled(id, front, body string) file {
	return task("routines/r.md", "id: \""+id+"\"\ncron: \"0 3 1 1 *\"\n"+front, body)
}

func TestARoutineTakesItsSkillsAndTheirToolsAlong(t *testing.T) {
	testkit.Alone(t)
	r := &recorder{Engine: offline()}
	mail := skilled("bbbb0001", "background: true\nupdate-main-session: freely\nskills: [coach, missing, triage]\n", "Look at the mail.\n\n"+plays("say looked"))
	setting{engine: r, files: slices.Concat(skills, []file{mail})}.tell(t, func(w *world) {
		w.do(command.FireNow{ID: "bbbb0001"})
		w.sleep(time.Minute)
		w.is("runs", w.runs(), "bbbb0001 done")
		w.shows("the prompt", r.lastSent(), "\n\n"+skillBlock+"Look at the mail.", "  - Bash(ollim-bot history *)\n")
		w.lacks("the prompt", r.lastSent(), "Bash(*)")
		allowed := r.last().Allowed
		w.holds(slices.Contains(allowed, "Bash(ollim-bot history *)") && !slices.Contains(allowed, "Bash(*)"), "the run may use", allowed)
		w.shows("the preview", w.preview("bbbb0001"), skillBlock)
	})
}

func TestAForegroundTaskHasItsSkillsInTheConversation(t *testing.T) {
	testkit.Alone(t)
	r := &recorder{Engine: offline()}
	hello := skilled("bbbb0002", "skills: [coach, triage]\n", "Good morning.\n\n"+plays("say hello"))
	setting{engine: r, files: slices.Concat(skills, []file{hello})}.tell(t, func(w *world) {
		w.do(command.FireNow{ID: "bbbb0002"})
		w.sleep(time.Minute)
		w.shows("the message", r.lastSent(), "[routine:bbbb0002] "+skillBlock+"Good morning.")
		w.shows("the preview", w.preview("bbbb0002"), skillBlock)
	})
}

func TestTheCommandsOfSkillsEndWithTheirContext(t *testing.T) {
	testkit.Alone(t)
	h := newHome(t)
	h.put(task("skills/slow/SKILL.md", "name: slow\ndescription: Slow.\n", "!`sleep 100000` !`echo never`"),
		skilled("bbbb0003", "background: true\nskills: [slow]\n", "Go."))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	text, err := h.bot(script.New(script.Options{})).dispatch.Preview(ctx, "bbbb0003", time.Time{}, false)
	testkit.Must(t, err)
	shows(t, "the prompt", text, "[command timed out: sleep 100000] [command skipped (total timeout): echo never]")
}

func TestCommandsOfSkillsDoNotRunWhereOthersCouldHaveWrittenThem(t *testing.T) {
	testkit.Alone(t)
	h := newHome(t)
	h.put(skills...)
	h.put(skilled("bbbb0004", "background: true\nskills: [triage]\n", "Go."))
	w := &world{t, h, h.bot(script.New(script.Options{}))}
	for mode, want := range map[os.FileMode]string{0o700: "Sort by urgency.", 0o777: "Sort by !`echo urgency`."} {
		testkit.Must(t, os.Chmod(h.root, mode)) // open on purpose
		w.shows("the prompt with mode "+mode.String(), w.preview("bbbb0004"), want)
	}
}
