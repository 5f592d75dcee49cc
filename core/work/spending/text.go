package spending

const (
	textCapAsk     = "Keep going past the cap today?"
	textCapAskMore = "%s. Allow: the conversation continues today. Deny: it waits until the cap ends. " +
		"Background runs are held either way; /lift releases them, too."
	textCapBelow = "%s has cost %s, and the cap would be %s: background runs that are not critical would be held until %s, " +
		"and the conversation would ask"
	textCapNo         = "%s, and you chose to wait: /lift suspends the cap for today, /config daily_cap and /config monthly_cap change it"
	textCapUnanswered = "%s, and you did not answer: send another message to be asked again"
	textCapsBack      = "spending caps are active again"
	textLifted        = "the caps are lifted for today"
	textNoCaps        = "there are no caps: /config daily_cap 5 sets one"
	textRunHeld       = "%s: held until %s"
	textTurnAsk       = "Let this answer cost more?"
	textTurnAskMore   = "%s. Allow: it continues, and asks again after another %s. Deny: it ends here. " +
		"/config turn_cap changes the limit."
	textTurnDenied     = "%s, and you let it end: send another message to continue"
	textTurnNotAsked   = "%s, and you could not be asked (%v): send another message to continue, or raise the limit with /config turn_cap"
	textTurnSpent      = "this answer has cost %s; the limit of a turn is %s"
	textTurnUnanswered = "%s, and you did not allow more: send another message to continue, or raise the limit with /config turn_cap"
	textThisMonth      = "this month"
	textToday          = "today"
)
