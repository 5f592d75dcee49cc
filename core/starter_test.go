package core

import (
	"testing"

	"ollimbot/core/command"
)

// N5: the starter routines are installed next to existing files, which stay unchanged.
func TestTheStarterRoutinesAreInstalledBesideWhatIsThere(t *testing.T) {
	mine := task("routines/good-night.md", "id: \"cccc1001\"\ncron: \"0 9 * * *\"\n", "Mine.")
	renamed := task("routines/pills.md", "id: \"a11ce002\"\ncron: \"0 7 * * *\"\n", "My medication.") // a starter routine
	story(t, []file{mine, renamed}, func(w *world) {
		out := w.do(command.AddStarters{})
		w.is("it answers", out.Message, "4 starter routines installed: Inbox sweep, Morning plan, Move a little, Weekly review")
		w.shows("the audit log", out.Decision.Detail, "Weekly review")
		set := w.index.Set()
		w.holds(len(set.Routines) == 6 && len(set.Problems) == 0, "routines, problems", len(set.Routines), set.Problems)
		w.is("the files", w.read(mine.rel)+w.read(renamed.rel), mine.text+renamed.text)
		w.holds(!w.has("routines/medication.md"), "a routine that was renamed is installed again")
		out = w.do(command.AddStarters{})
		w.holds(out.Message == "the starter routines are already installed" && out.Decision.Action == "", "a second time", out)
	})
}
