// Package proposals owns the questions that the bot asks the user by itself, such as "You wrote
// 'I'll call the dentist tomorrow'. Remind you?": their file, the card with buttons, the row in
// the updates, and how one is answered. It must not know how a kind of proposal is found, or what
// its answers do: a Kind knows.
//
// # The rules
//
//   - A proposal is answered once. Whoever presses second sees the first answer.
//   - What was answered with a button that says Never is not proposed again: the words are kept.
//   - A kind is proposed at most so often a day.
//   - A proposal that nobody answers is closed after a week.
//
// # When two proposals are the same
//
// Case, punctuation, the order of words and repeated words do not count. Two proposals of one kind
// are the same if all words of the shorter one are in the longer one, and are more than half of it.
package proposals
