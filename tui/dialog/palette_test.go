package dialog

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/talk/chat"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/tuitest"
)

// busy is a desk with something of every kind to find.
func busy(d *desk) {
	at := func(days int) fork.View {
		return fork.View{Started: tuesday.AddDate(0, 0, -days), Ended: tuesday.AddDate(0, 0, -days)}
	}
	today, rent, plants := at(0), at(1), at(1)
	today.ID, today.Title, today.State, today.Refused = "1", "Medication", fork.Done, 1
	plants.ID, plants.Title, plants.State = "2", "Plants", fork.Failed
	rent.ID, rent.Title, rent.State = "3", "Rent", fork.Done
	d.Snap.Forks = []fork.View{today, plants, rent}
	d.Snap.Failures = []fork.View{{ID: "bad00001", Title: "Inbox sweep", State: fork.Failed, Ended: tuesday}}
	d.Snap.Updates = []updates.Update{{Key: "k", Message: "The parcel is at the shop."}}
	d.Snap.Schedule.Tasks = []schedule.TaskView{
		{ID: "7ea00000", Title: "Tea", Path: "routines/tea.md", Kind: routines.KindRoutine},
		{ID: "7ea00001", Title: "Ask the landlord", Path: "reminders/landlord.md", Kind: routines.KindReminder, Paused: true},
		{ID: "m", Title: "Medication", Kind: routines.KindRoutine},
	}
}

func focused(p action.Pane) func(*desk) { return func(d *desk) { d.focus = p } }

func TestThePaletteIsUsedAsItsStoriesSay(t *testing.T) {
	tell(t, []story{
		{"a command with its argument is carried out", nil, `
			: "capacity 7" enter  => gives closes, does SetBudget Capacity=7
			: "refill 60" enter   => gives closes, does SetBudget RefillMinutes=60
			: "theme dark" enter  => gives closes, looks theme=dark
			: "layout chat" enter => gives closes, looks layout=chat
			: "mute 2h" enter     => gives closes, does MuteUntil Until=10 16:02:00
			: "mute off" enter    => gives closes, does MuteUntil`, nil},
		{"a wrong argument says what is allowed and does nothing", nil, `
			: "capacity x"        => off: the capacity is a whole number of tokens; 0 mutes
			enter                 => gives nothing
			: "capacity -1" enter => off: capacity -1 is out of range: choose 0 to 1000 tokens (0 mutes all | gives nothing
			: "refill 0" enter    => off: refill 0 is out of range: choose 1 to 10080 minutes for one token | gives nothing
			: "mute banana" enter => off: I do not understand "banana"; say a time such as 18:30, tomorrow | gives nothing
			: "theme pink" enter  => off: "pink" is none of auto, dark, light, contrast, 16 | gives nothing
			readonly : "capacity 7" enter => gives nothing`, nil},
		{"an argument is completed", nil, `
			: "capac" enter           => /capacity 1 of 4 | gives nothing
			"7" enter                 => gives closes, does SetBudget Capacity=7
			: "theme d" tab           => /theme dark 1 of 2
			readonly : "settings quiet" enter => gives closes, goes to settings quiet_hours`, nil},
		{"of what is called the same the focused pane comes first", nil, `: "find in text" => first: Runs: Find in text &`, nil},
		{"so it does in the chat", focused(action.Chat), `: "find in text" => first: Chat: Find in text / &`, nil},
		{"and in the log", focused(action.Logs), `: "find in text" => first: Logs: Find in text &`, nil},
		{"where it has no such row the first of the table comes", focused(action.Budget), `: "follow" => first: Runs: Follow newest lines End G `, nil},
		{"outside of a fork exit quits", nil, `: "exit" => first: Quit the dashboard q`, nil},
		{"in a fork exit leaves it", func(d *desk) { d.focus, d.Snap.Fork = action.Chat, &chat.Banner{} }, `: "exit" => first: Chat: Leave the fork X`, nil},
		{"spelling is forgiven only where nothing else is found", nil, `
			: "contra" => first: Next theme T | /contra 1 of 1
			: "fire"   => first: Schedule: Fire task now off f | !Open the file`, nil},
		{"a word that is spelled otherwise finds its action", nil, `
			: "shedule"        => first: Go to schedule 2
			: "captity"        => first: Ping budget: Raise the capacity + =
			: "raise captity"  => first: Ping budget: Raise the capacity + =
			: "dmeo"           => first: Watch the demo
			: "snze"           => first: Schedule: Snooze or wake task off s
			: "previw"         => first: Schedule: Preview the prompt off p
			: "Qiut"           => first: Quit the dashboard q
			: "thme"           => first: Next theme T`, nil},
		{"letters of several words find nothing", nil, `
			: "meto"    => first: none
			: "mpgut"   => first: none
			: "snzetsk" => first: none
			: "selup"   => first: none
			: "zzz"     => first: none
			: "thmnxt"  => first: none
			: "xy"      => first: none
			: "qe"      => first: none | /qe no action has that name
			enter       => gives nothing
			: "runs failed 1 jan 1999" => /runs failed 1 jan 1999 no run matches`, nil},
		{"the reason of the marked row is read in full at every size", nil, `
			: "report and leave" => off: the chat is not in a fork | in keys.yaml: fork.report · the main conversation gets the report | /report and leave 1 of 2 | ▸ Chat: Report and leave fork off R
			@54x20               => off: the chat is not in a fork | in keys.yaml: fork.report · the main conversatio… | /report and leave 1 of 2 | ▸ Chat: Report and leave fork off R
			@39x12               => off: the chat is not in a fork | in keys.yaml: fork.report · the m… | /report and leave 1 of 2 | ▸ Chat: Report and leave … off R
			@38x6                => off: the chat is not in a fork | in keys.yaml: fork.report · the … | /report and leave 1 of 2 | ▸ Chat: Report and leave… off R
			readonly             => off: the dashboard is read-only; start it without --read-only to change things
			@54x20               => off: the dashboard is read-only; start it without --read-only to change things`, nil},
		{"one search finds tasks, runs, updates and settings", busy, `
			: "fire tea"        => first: Fire Tea task | enter fires it now; its schedule is unchanged | ▸ Fire Tea task
			enter               => gives closes, does FireNow ID=7ea00000 Stays=true
			: "fire landlord" enter => gives closes, does FireNow ID=7ea00001 Stays=true
			: "tea"             => first: Open Tea task
			: "medic"           => first: Open Medication task
			: "pause tea"       => first: Pause Tea task
			: "edit tea"        => first: Edit Tea task | enter opens its form
			: "resume landlord" => first: Resume Ask the landlord task
			: "snooze landlord" => first: Snooze Ask the landlord task
			: "inbox failed"    => first: Inbox sweep: failed 14:02 run
			: "parcel"          => first: Update: The parcel is at the shop. update
			enter               => gives closes, opens Update, goes to updates
			: "quiet hours"     => first: quiet_hours: off setting
			enter               => gives closes, goes to settings quiet_hours
			: "daily cap"       => first: daily_cap: none setting
			: "theme"           => first: Next theme T
			: "why"             => first: Go to ping budget 1
			: "refused"         => first: Go to ping budget 1
			: "do not disturb"  => first: Ping budget: Mute or unmute pings m
			: "detach"          => first: Quit the dashboard q
			readonly : "fire tea" enter => gives closes, says Fire Tea: the dashboard is read-only`, nil},
		{"runs are found by their day and their state", busy, `
			: "monday"             => first: Plants: failed 9 Mar 14:02 run
			: "yesterday"          => first: Plants: failed 9 Mar 14:02 run
			: "runs failed monday" => first: runs failed monday command
			: "runs refused"       => first: runs refused command
			: "day yesterday"      => first: day yesterday command | /day yesterday 1 of 3
			enter                  => gives closes, goes to forks, finds yesterday, zooms`, nil},
		{"a line of the command line is carried out as in a shell", nil, `
			: {budget set --capacity 7} enter               => gives closes, does Line Text=budget set --capacity 7
			: {reminder add -m "call mum" --delay 5} enter  => gives closes, does Line Text=reminder add -m "call mum" --delay 5
			: {history search dentist} enter                => gives closes, does Line Text=history search dentist
			: "history se"                                  => first: history search command
			enter "x"                                       => /history search x 1 of 1
			readonly : {routine list} enter                 => gives closes, does Line Text=routine list
			: {routine cancel x} enter                      => gives nothing`, nil},
		{"words that are no command are for the agent, behind what is off", nil, `
			: "what is left for today?" enter => gives closes, does Say Text=what is left for today?
			: "pause for a walk"              => Send to the agent: pause for a walk command
			up enter                          => gives closes, does Say Text=pause for a walk
			: "mute the children"             => first: mute the children off command | off: I do not understand "children"; say a time such as 18:30, tomorrow
			down enter                        => gives closes, does Say Text=mute the children`, nil},
	})
}

// listing opens the palette with a query.
func listing(d *desk, query string) *Palette {
	d.dialog = openers[":"](d)
	d.gives(tea.PasteMsg{Content: query})
	return d.dialog.(*Palette)
}

func TestThePaletteListsWhatIsOffLast(t *testing.T) {
	d := newDesk()
	d.focus = action.Updates
	p := listing(d, "")
	if !slices.IsSortedFunc(p.shown, func(a, b *item) int { return min(1, len(p.why(a))) - min(1, len(p.why(b))) }) || p.why(p.shown[0]) != "" {
		t.Errorf("it opens on %q, which is off: %s", p.shown[0].name, p.why(p.shown[0]))
	}
}

func TestThePaletteFitsWhateverIsAsked(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		d := newDesk()
		d.ReadOnly = rapid.Bool().Draw(t, "read-only")
		p := listing(d, rapid.StringMatching(`[a-z+./ ]{0,8}|世|\?`).Draw(t, "query"))
		d.w, d.h = rapid.IntRange(2, 90).Draw(t, "w")+Air, rapid.IntRange(1, 40).Draw(t, "h")
		for _, k := range rapid.SliceOfN(rapid.SampledFrom([]string{"up", "down", "pgup", "pgdown", "e", "backspace"}), 0, 12).Draw(t, "keys") {
			key, _ := tuitest.Key(k)
			d.gives(key)
			if n := ansi.StringWidth(d.lines(t, k)[0]); n != min(d.w-Air, 90) {
				t.Fatalf("lines of %d cells", n)
			}
			if len(p.shown) > 0 && (p.list.At < p.top || p.list.At >= p.top+p.rows) {
				t.Fatalf("row %d is marked, %d rows from %d are seen", p.list.At, p.rows, p.top)
			}
		}
	})
}

// A letter that is missing, too much or has changed places with the next one is forgiven, and a word that shares
// nothing with another is never taken for it.
func TestALetterThatIsWrongIsOneMistake(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		word := []rune(rapid.StringMatching(`[a-dé]{6,9}`).Draw(t, "word"))
		at := rapid.IntRange(0, len(word)-2).Draw(t, "at")
		turned := slices.Clone(word)
		turned[at], turned[at+1] = turned[at+1], turned[at]
		for _, written := range [][]rune{turned, slices.Delete(slices.Clone(word), at, at+1), slices.Insert(slices.Clone(word), at, 'x')} {
			if !meant(string(written), string(word)) {
				t.Fatalf("%q is not %q", string(written), string(word))
			}
		}
		if other := strings.Repeat("x", len(word)); meant(other, string(word)) {
			t.Fatalf("%q is %q", other, string(word))
		}
	})
}
