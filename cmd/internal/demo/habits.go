package demo

import "time"

// habit is how the runs of a routine went in the past.
type habit struct {
	long    time.Duration // about
	tokens  int           // about, of one run
	texts   []string      // of its pings; what it says, in the foreground
	second  string        // a second ping, which some runs try
	reports []string
	thanks  []string      // what the user answers
	later   time.Duration // before the user gets to it
	fails   string        // why a few of its runs failed
}

// habits are those of the routines of this directory, by ID.
var habits = map[string]habit{
	"a11ce001": {
		long: 24 * time.Second, tokens: 31_000,
		texts: []string{
			"Three things for today; the tax letter is the first. First step: put the form on the table.",
			"Dana waits for a yes or no about Friday. One line is enough.",
			"Two meetings today, and a quiet hour at eleven: the letter fits in there.",
		},
		reports: []string{"Morning plan: sent, with a first step of five minutes."},
		later:   50 * time.Minute,
		thanks:  []string{"Good plan. The form is on the table.", "Done before the first coffee."},
	},
	"a11ce002": {
		long: 4 * time.Second, tokens: 9_000,
		texts:   []string{"Time for your medication. A glass of water is half the work.", "Your medication, please; then the evening is yours."},
		reports: []string{"Medication: pinged, no answer yet."},
		thanks:  []string{"Taken.", "Done, with water."},
	},
	"a11ce003": {
		long: 50 * time.Second, tokens: 26_000,
		reports: []string{
			"Inbox sweep: the landlord asks about Thursday, and needs an answer today.",
			"Inbox sweep: 2 of 7 need an answer today (landlord about the boiler, Dana about Friday).",
			"Inbox sweep: one bill, due on Monday.",
		},
		fails: "the mail server did not answer",
	},
	"a11ce004": {
		long: 4 * time.Second, tokens: 8_000,
		texts:  []string{"Five minutes on your feet? The window is a good place.", "Up for a moment: shoulders, neck, a look at the trees."},
		second: "And stretch your shoulders while you are there.",
		thanks: []string{"Walked to the bakery and back.", "Up and stretched."},
	},
	"a11ce005": {
		long: 70 * time.Second, tokens: 48_000,
		texts:   []string{"Your week: calls done, the tax letter slipped again, three late evenings. What would make the letter smaller?"},
		reports: []string{"Weekly review: sent; asked what would make the letter smaller."},
		thanks:  []string{"A template for the first sentence."},
	},
	"a11ce006": {
		long: 6 * time.Second, tokens: 12_000,
		texts: []string{
			"What was the one thing worth remembering today? Sleep well.",
			"One thing from today that you want to keep? Then screens off.",
		},
	},
	plants: {
		long: 4 * time.Second, tokens: 8_000,
		texts:   []string{"The plants on the balcony are thirsty."},
		reports: []string{"Plants: pinged."},
		thanks:  []string{"Watered.", "Done; the basil has new leaves."},
	},
	tea: {
		long: 4 * time.Second, tokens: 8_000,
		texts:   []string{"Time for a cup of tea and a look out of the window."},
		reports: []string{"Tea break: pinged."},
		thanks:  []string{"The kettle is on.", "Made one. Thank you."},
	},
	standUp: {
		long: 12 * time.Second, tokens: 19_000,
		reports: []string{"Stand-up: the landlord is answered, Dana is open, the tax letter is next."},
	},
	checkIn: {long: 5 * time.Second, tokens: 12_000, texts: []string{"How is your afternoon going?"}},
	papers: {
		long: 80 * time.Second, tokens: 54_000,
		texts:   []string{"A letter of the clinic asks for a date in December. Shall I look for one?"},
		reports: []string{"Papers: eleven scans named; one has a date."},
		thanks:  []string{"Yes, a morning please."},
	},
}

// vow is what the user has promised in passing.
type vow struct {
	daysAgo, hour      int
	words, title, ping string
	kept               bool
}

// vows are those of the last weeks, oldest first.
var vows = []vow{
	{12, 11, "I'll water Jo's plants tomorrow.", "Water Jo's plants", "Jo's plants: the key is on the shelf.", true},
	{6, 15, "I'll call the pharmacy tomorrow.", "Call the pharmacy", "The pharmacy is open until six. The number is on the box.", true},
	{3, 18, "I'll start the tax letter tomorrow.", "Start the tax letter", "The tax letter: only the first sentence.", false},
}

// pleased are answers of the bot to an answer.
var pleased = []string{"Good. One thing less.", "Well done; enjoy the moment.", "Noted. See you later.", "Lovely, thank you for telling me."}

// question is what the user asks at some hour, and the answer.
type question struct {
	hour, minute  int
	words, answer string
}

// questions are those of each day, in turn.
var questions = [][]question{
	{
		{9, 5, "Morning. What would I regret not doing today?", "The tax letter: it is due on Friday, and the form is almost filled in. Twenty " +
			"minutes, and it is gone."},
		{13, 20, "Did the landlord write?", "Yes, at eleven: the boiler is serviced on Thursday between 8 and 10. Somebody has to be at home."},
	},
	{
		{9, 40, "I slept badly. Keep it light today, please.", "Then only two things: the call with Dana, and a walk at noon. The rest can wait, " +
			"and I will say less today."},
		{17, 10, "What is still open?", "Only the answer to Dana about Friday. A yes or no is enough; shall I draft it?"},
	},
	{
		{12, 15, "How often have you pinged me this week?", "About eight times a day, and you answered most of them within ten minutes. Shall I " +
			"be quieter in the mornings?"},
	},
	{
		{10, 30, "The form is filled in!", "That was the hard part. Put it into an envelope now, and it can leave with you at noon."},
		{18, 45, "Anything from the insurance?", "Four pages, of which one sentence matters: the rate stays as it is."},
	},
	{
		{8, 50, "What does the day look like?", "Two meetings before lunch and nothing after three. The afternoon is good for the papers."},
	},
}
