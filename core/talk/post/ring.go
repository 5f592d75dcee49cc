package post

// Kind is what a message is to its user. Rings decides from it alone, and from the moment, whether the phone rings.
type Kind int

// The kinds of messages. The zero value is a ping, so that a message without a kind is noticed.
const (
	KindPing     Kind = iota
	KindQuiet         // a quiet message of a run
	KindAnswer        // what is shown while a message of the user, or a foreground task, is answered
	KindQuestion      // a question before a tool call
	KindTrouble       // a message of the user could not be received or answered
	KindNews          // what the program says by itself
	KindAside         // belongs to an answer, or to what the user has just done
)

// Moment is what else decides whether a message rings.
type Moment struct {
	Muted bool // quiet hours, or a mute
	Again bool // the same cause has rung in the last twelve hours
	Rang  bool // the same answer has rung
}

// Rings reports whether a message rings. No other code decides that; docs/discord.md has it as a table. A ping in
// quiet hours is not sent at all unless it is critical, and is therefore not silent either.
func (k Kind) Rings(m Moment) bool {
	switch k {
	case KindPing, KindQuestion, KindTrouble:
		return true
	case KindAnswer:
		return !m.Rang
	case KindNews:
		return !m.Muted && !m.Again
	default: // KindQuiet, KindAside
		return false
	}
}

// Kinds describes each kind for the user, in the order of the table.
var Kinds = []struct {
	Kind Kind
	What string
}{
	{KindAnswer, "An answer, also of a foreground task: its first words, or a card or file before them"},
	{KindQuestion, "A question before a tool call"},
	{KindTrouble, "A message of yours could not be received or answered"},
	{KindPing, "A ping"},
	{KindQuiet, "A [quiet message](how-it-works.md#quiet-messages)"},
	{KindNews, "What the bot says by itself: a run has failed, a file waits for your approval, a proposal, the end of a login"},
	{KindAside, "What belongs to an answer or to what you just did: cards of forks and promises, notes, *is here*"},
}
