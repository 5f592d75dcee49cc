// Package chat is the conversation with the user: the main session, the interactive fork
// that may be open in front of it, and their turns. It owns the user's messages from
// their receipt until the engine has them, the streaming answers, and the delivery of
// pending updates. It must not know the schedule, background runs, commands or any
// dashboard.
//
// # A message is never lost and never delivered twice
//
// A message is written to state/waiting_messages.json before it is shown, so it is
// answered even if the program ends. All work of the conversation goes through one queue:
// turns of the user, foreground tasks, clicks, entering and leaving a fork, and /compact.
// A turn takes all waiting messages, whatever surface they came from. A message that
// arrives while another is waiting joins it and interrupts nothing.
//
// Before a turn is sent, its delivery is on disk (state/delivery.json): the messages and the
// updates that it claims. When the engine has accepted the message, the messages and updates are
// removed from their files, and the record last. One lock orders claim, append, discard and the
// end of a delivery, in this process and in others. After a crash, or a turn that failed too
// early to tell, the engine is asked whether the message arrived (agent.HistoryChecker). Every
// step can be repeated. A test kills the process at random and counts.
//
// # Interactive forks
//
// /fork, the agent's enter_fork, or "resume" on a finished run opens a second session in
// front of the main one. It reads pending updates but never claims them. The agent's
// requests (report_updates, exit_fork, enter_fork) are recorded during its turn and
// executed after it; save_context asks the user. Saving writes the fork's ID as the main
// session's before anything is closed, so it happens exactly once. An idle fork is asked,
// then warned, then ended. A foreground task that becomes due in the meantime is a turn
// of the main session behind the fork: messages for the fork wait, and a saved fork gets
// a report of the tasks that ran.
package chat
