// Package proposals owns the questions that the bot asks the user on its own initiative,
// such as "You wrote 'I'll call the dentist tomorrow'. Remind you?": their file, the card
// with buttons, the row in the updates, and how one is answered. It must not know how
// proposals are found or what their answers do: that is up to each Kind.
//
// # The rules
//
// - A proposal is answered once. A second press shows the first answer.
// - After an answer with a button marked Never, the same words are not proposed again.
// - Each kind has a maximum number of proposals per day.
// - A proposal without an answer is closed after a week.
//
// # When two proposals are the same
//
// Case, punctuation, word order and repeated words are ignored. Two proposals of one kind
// are the same if the longer one contains all words of the shorter one and they make up
// more than half of it.
package proposals
