// # Paying before sending
//
// Whether a token is owed is known only after a message was sent, and a process that dies in
// between never learns it. So the file shows the token as spent before the message leaves, and a
// refusal returns it: what is unknown has cost its token, and nothing else has to be remembered.
// The daily counters follow, each on the day of the payment.
package budget
