package post

import (
	"cmp"
	"fmt"
	"strings"

	"ollimbot/core/storage/config"
)

// Select is a single-choice menu of an embed. Action is that of a button, and its value
// is the choice.
type Select struct {
	Action  string   `json:"action"`
	Hint    string   `json:"hint,omitempty"` // shown until something is chosen
	Choices []Choice `json:"choices"`
}

// Choice is an entry of a menu.
type Choice struct {
	Label  string `json:"label"`
	Value  string `json:"value"`
	About  string `json:"about,omitempty"`
	Chosen bool   `json:"chosen,omitempty"`
}

// CustomID returns the ID under which a surface sends the menu.
func (s Select) CustomID() (string, error) { return Button{Action: s.Action}.CustomID(nil) }

// Form is a window with fields that a surface, if it can, opens instead of pressing a
// button. When filled in, it presses Action with the fields as values.
type Form struct {
	Title, Action string
	Fields        []Input
}

// CustomID returns the ID under which a surface sends the form.
func (f Form) CustomID() (string, error) { return Button{Action: f.Action}.CustomID(nil) }

// Input is a field of a form.
type Input struct {
	Name, Label, Hint string
	Value             string // the initial value
	Long              bool   // has several lines
	Optional          bool   // may stay empty
}

// The fields of the forms.
const (
	FieldWhen  = "when"
	FieldWhat  = "what"
	FieldValue = "value"

	FieldUser     = "user"
	FieldBot      = "bot"
	FieldQuiet    = "quiet"
	FieldCapacity = "capacity"
	FieldRefill   = "refill"
)

// FormOf returns the form that a button opens. It depends only on the button's action, so
// it opens at once and works after a restart.
func FormOf(action, data string) (Form, bool) {
	when := Input{Name: FieldWhen, Label: textWhen, Hint: textWhenHint, Value: textInAnHour}
	switch action {
	case RemindLater, PingLater:
		return Form{Title: textLater, Action: action + ":" + data, Fields: []Input{when}}, true
	case ProposeWhen:
		return Form{Title: textOtherTime, Action: action + ":" + data, Fields: []Input{when}}, true
	case ConfigType:
		about, ok := config.About(data)
		f := Input{Name: FieldValue, Label: cmp.Or(about.Unit, textValue), Hint: fmt.Sprintf(textExample, about.Example)}
		return Form{Title: about.Name, Action: ConfigTo + ":" + data, Fields: []Input{f}}, ok
	case RemindNew:
		return Form{Title: textRemindNew, Action: action + ":" + data, Fields: []Input{
			when, {Name: FieldWhat, Label: textWhat, Hint: textWhatHint, Long: true},
		}}, true
	case BudgetType:
		capacity, refill, _ := strings.Cut(data, ".")
		return Form{Title: textBudget, Action: BudgetTo + ":", Fields: []Input{
			{Name: FieldCapacity, Label: textCapacity, Hint: "5", Value: capacity},
			{Name: FieldRefill, Label: textRefill, Hint: "90", Value: refill},
		}}, true
	case ModelType:
		f := Input{Name: FieldValue, Label: textModelName, Hint: fmt.Sprintf(textExample, textSomeModel)}
		return Form{Title: textModel, Action: ModelTo + ":", Fields: []Input{f}}, true
	}
	return Form{}, false
}

// About returns the form of a reminder about a message. key identifies the message.
func About(key, words, hint string) Form {
	return Form{Title: textAbout, Action: fmt.Sprintf("%s:%s", RemindAbout, key), Fields: []Input{
		{Name: FieldWhen, Label: textWhen, Hint: textWhenHint, Value: textInAnHour},
		{Name: FieldWhat, Label: textWhat, Hint: hint, Value: words, Long: true},
	}}
}

// SetupForm returns the form of /setup, with the current names. key identifies this opening of it.
func SetupForm(key, user, bot string) Form {
	return Form{Title: textSetup, Action: SetupTo + ":" + key, Fields: []Input{
		{Name: FieldUser, Label: textYourName, Value: user, Optional: true},
		{Name: FieldBot, Label: textMyName, Value: bot, Optional: true},
		{Name: FieldWhat, Label: textAboutYou, Hint: textAboutYouHint, Long: true, Optional: true},
		{Name: FieldQuiet, Label: textQuiet, Hint: textQuietHint, Optional: true},
	}}
}

// Ping returns the buttons of a ping; id is that of the attempt in the journal.
func Ping(id string) []Button {
	return []Button{
		{Label: "Done", Style: "success", Action: PingDone + ":" + id},
		{Label: "Later", Style: "secondary", Action: PingLater + ":" + id},
		NotUseful(id),
	}
}

// OfPing reports whether the action belongs to a button of a ping, which works once.
func OfPing(action string) bool {
	return action == PingDone || action == PingLater || action == PingUseless
}

// NotUseful returns the button for a ping that was not worth the interruption.
func NotUseful(id string) Button {
	return Button{Label: "Not useful", Style: "secondary", Action: PingUseless + ":" + id}
}

// The actions of the buttons of a ping; their data is its id in the journal.
const (
	PingDone    = "ping_done"
	PingLater   = "ping_later"
	PingUseless = "ping_useless"
)

// The actions of the menus and forms for settings, models, runs and reminders. The value
// of a menu is the choice.
const (
	CardRun     = "card_run"     // a task's ID
	ConfigAll   = "config_all"   // shows all groups of settings
	ConfigGroup = "config_group" // shows one of them
	ConfigKey   = "config_key"   // shows a setting
	ConfigTo    = "config_to"    // its data is the key
	ConfigType  = "config_type"  // asks for the value; its data is the key
	ConfigSure  = "config_sure"  // its data is the key and the value
	ModelTo     = "model_to"
	ModelType   = "model_type" // asks for the name
	RemindAbout = "remind_about"
	TaskAbout   = "task_about"
	FailRetry   = "fail_retry" // a task's ID, as of the next two
	FailPause   = "fail_pause"
	FailWhy     = "fail_why"
	Propose     = "propose"      // a proposal's ID and the button's
	ProposeWhen = "propose_when" // the same; asks for a time
	RemindNew   = "remind_new"   // asks for a new reminder; its data identifies the form
	BudgetType  = "budget_type"  // asks for the ping budget; its data is capacity and refill minutes, with a dot between
	BudgetTo    = "budget_to"
	SetupTo     = "setup_to" // its data identifies the form
)

// The actions of the ways back that a surface offers: they open a refused form again, and undo what a press has done.
const (
	FormAgain = "form_again"
	Undo      = "undo"
)

// Own and Foreign start the data of RemindAbout and TaskAbout and say whether the text is
// the user's own.
const (
	Own     = "own."
	Foreign = "foreign."
)

const (
	textLater     = "Later"
	textOtherTime = "Other time"
	textValue     = "Value"
	textExample   = "for example %s"
	textModel     = "Model"
	textSomeModel = "local/qwen3"
	textModelName = "Name of the model, or provider/model"
	textAbout     = "Remind me about this"
	textWhen      = "When?"
	textWhat      = "What about?"
	textWhenHint  = "20 minutes, 18:30, tomorrow 9am, friday noon"
	textInAnHour  = "1 hour"
	textWhatHint  = "what you want to be reminded of"

	textRemindNew = "New reminder"
	textBudget    = "Ping budget"
	textCapacity  = "How many pings fit; 0 mutes them"
	textRefill    = "Minutes until one ping is refilled"

	textSetup        = "Setup"
	textYourName     = "Your name"
	textMyName       = "My name"
	textAboutYou     = "What should I know about you?"
	textAboutYouHint = "your days, what you tend to lose sight of, when not to disturb you"
	textQuiet        = "When shall I be quiet?"
	textQuietHint    = "22:00-07:30; leave it empty for no change"
)
