package spending

const (
	textCapAsk     = "Keep going past the cap today?"
	textCapAskMore = "%s. Allow: the conversation goes on for today. Deny: it waits until the cap is over. " +
		"Background runs are held either way; /lift lets them go on too."
	textCapBelow = "%s has cost %s, and the cap would be %s: background runs would be held until %s but critical ones, " +
		"and the conversation would ask"
	textCapNo         = "%s, and you said that the conversation waits: /lift goes on above the cap today, /config daily_cap and /config monthly_cap change it"
	textCapSpent      = "%s of your %s cap for %s is used"
	textCapUnanswered = "%s, and you did not answer: send another message to be asked again"
	textCapsBack      = "spending caps are active again"
	textLifted        = "the caps are lifted for today"
	textNoCaps        = "there are no caps: /config daily_cap 5 sets one"
	textRunHeld       = "%s: held until %s"
	textThisMonth     = "this month"
	textToday         = "today"
)
