package schedule

import "testing"

// The stories are in testdata/stories, their steps in steps_test.go. A routine's text is "water", a reminder's "call". A kill leaves the
// files as they were when the last run began, or at the step snap; the bot then knows which runs have ended.

func TestARoutineFiresAtItsTimes(t *testing.T) { stories(t, "routines") }

func TestAnInvalidFileIsNotedOnceUntilItIsValid(t *testing.T) { stories(t, "invalid") }
func TestAMissedFireIsNotedOrRunsLate(t *testing.T)           { stories(t, "missed") }
func TestAReminderFiresOnceAndIsUsedUp(t *testing.T)          { stories(t, "reminders") }

func TestAReminderWhoseRunWasInterruptedFiresAgainLate(t *testing.T)        { stories(t, "interrupted") }
func TestAKillLosesAndDoublesNothing(t *testing.T)                          { stories(t, "kills") }
func TestTheOutcomeIsWrittenAfterTheRun(t *testing.T)                       { stories(t, "outcomes") }
func TestAHoldHidesExactlyWhatItCovers(t *testing.T)                        { stories(t, "holds") }
func TestAHeldTaskFiresWhenTheUserFiresIt(t *testing.T)                     { stories(t, "by-hand") }
func TestAClockThatJumpsRepeatsNothingAndLosesNothing(t *testing.T)         { stories(t, "clocks") }
func TestAWindowLeavesTheMinuteToTheBot(t *testing.T)                       { stories(t, "windows") }
func TestWithoutMoneyARoutinePassesAndAReminderWaits(t *testing.T)          { stories(t, "money") }
func TestThreeFailuresInARowPauseARoutineOnceUntilItIsResumed(t *testing.T) { stories(t, "failures") }
func TestTheScheduleSaysWhatHasBecomeOfAFire(t *testing.T)                  { stories(t, "views") }
func TestEveryDueTimeHasARow(t *testing.T)                                  { stories(t, "account") }
func TestAReminderTakesTheEditThatWaitsWithIt(t *testing.T)                 { stories(t, "edits") }
func TestMomentsAheadFollowTheReminder(t *testing.T)                        { stories(t, "ahead") }
