package settings

const (
	textRow       = "setting"
	textNothing   = "no setting is selected"
	textValue     = "Value"
	textDashboard = "dashboard "
	textCapacity  = "ping capacity"
	textRefill    = "ping refill"

	textNoNumber = "%s: %q is no whole number"
	textNoChoice = "%s must be one of: %s"

	keyCapacity   = "budget.capacity"
	keyRefill     = "budget.refill"
	aboutCapacity = "how many pings the budget can save up; 0 mutes"
	aboutRefill   = "in how many minutes one ping more is allowed"
)

// aboutLooks are what the dashboard's own settings change.
var aboutLooks = map[string]string{
	"theme":  "the colours of the dashboard; auto follows the terminal",
	"layout": "which pane has the most room",
	"clock":  "whether times of day are written as 14:02 or as 2:02pm",
	"charts": "what curves are drawn with: blocks where the font has no braille",
	"bell":   "whether what begins to wait rings, or is told by a notification of the terminal",
	"title":  "whether the window's title says what waits",
	"motion": "whether seconds are counted on the screen, from the next start on",
}
