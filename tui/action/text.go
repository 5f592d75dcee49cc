package action

// Why an action is off. Each is the end of "… is off: ".
const (
	offMuted    = "the capacity is 0 already, pings are muted"
	offFastest  = "a token every minute is as fast as it gets"
	offSchedule = "nothing is scheduled"
	offUpdates  = "there is no pending update"
	offForks    = "no run yet"
	offLogin    = "the engine needs no login now"
	offLive     = "no run is waiting or running"
	offEnded    = "no run has ended yet"
	offForked   = "the chat stands in a fork already; leave it first"
	offApproval = "no tool call waits for you"
	offMessage  = "nothing has been said yet"
	offButtons  = "no card in the chat has buttons"
	offNoFork   = "the chat stands in no fork"
	offResumed  = "this fork continues a background run; report or exit instead"
)

// The words of effects.
const (
	effectFull  = ", full "
	effectMuted = "until "
	effectAll   = "all "
)

// keyNames are the words for keys that have no sign of their own.
var keyNames = map[string]string{
	"up": "↑", "down": "↓", "enter": "enter", "esc": "esc", "pgup": "PgUp", "pgdown": "PgDn",
	"home": "Home", "end": "End", "tab": "tab", "shift+tab": "shift+tab", "shift+up": "shift+↑",
	"shift+down": "shift+↓", "left": "←", "right": "→", "space": "space",
}

// asciiKeys replace the names that are not ASCII.
var asciiKeys = map[string]string{"up": "up", "down": "down", "shift+up": "shift+up", "shift+down": "shift+down", "left": "left", "right": "right"}

// paneNames are the panes as people call them.
var paneNames = map[Pane]string{
	Everywhere: "Everywhere", Budget: "Ping budget", Schedule: "Schedule", Updates: "Updates",
	Forks: "Forks", Chat: "Chat", Logs: "Logs",
}

const keysIntro = `# Keys

Every key of the dashboard. The same list is one key away inside it: ` + "`?`" + ` shows and searches it, ` + "`ctrl+p`" + ` finds an
action by name and runs it, and the last line of the screen says what the focused pane can do and what would come of it.

Letters are case-sensitive. Nothing here needs the mouse: a click focuses a pane, the wheel scrolls the pane under the
pointer, and ` + "`M`" + ` gives the mouse back to the terminal, so that text can be selected. What changes something can be undone with ` + "`u`" + `;
what cannot be undone asks first. Where a key stands twice in a table, the upper row counts while it has something
to do. With ` + "`--read-only`" + ` the rows marked * are off.
`
