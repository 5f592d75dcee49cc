package command

// Lane decides which commands wait for each other. A surface runs the commands of one
// lane in the order in which the user gave them.
type Lane string

// The lanes. Commands of LaneBeside wait for nothing. LaneQuick goes before all others:
// it changes a small file, can be undone, and later commands may depend on it.
const (
	LaneBeside   Lane = "beside" // changes something, or stops it, at once
	LaneQuick    Lane = "quick"
	LaneTalk     Lane = "talk" // the conversation's commands, in order
	LaneFiring   Lane = "firing"
	LaneSpending Lane = "spending"
	LaneApproval Lane = "approval"
	LaneAccount  Lane = "account"
)

// LaneOf returns the lane of a command.
func LaneOf(c Value) Lane { return c.lane() }

// All commands and their lanes. The method seals Value.

func (MarkSeen) lane() Lane   { return LaneBeside }
func (UserActive) lane() Lane { return LaneBeside }
func (Interrupt) lane() Lane  { return LaneBeside }
func (StopFork) lane() Lane   { return LaneBeside }

func (SetBudget) lane() Lane      { return LaneQuick }
func (RestoreBudget) lane() Lane  { return LaneQuick }
func (DiscardUpdate) lane() Lane  { return LaneQuick }
func (RestoreUpdate) lane() Lane  { return LaneQuick }
func (Snooze) lane() Lane         { return LaneQuick }
func (Pause) lane() Lane          { return LaneQuick }
func (MuteUntil) lane() Lane      { return LaneQuick }
func (AllowTask) lane() Lane      { return LaneQuick }
func (RefuseEdit) lane() Lane     { return LaneQuick }
func (AddTask) lane() Lane        { return LaneQuick }
func (AddStarters) lane() Lane    { return LaneQuick }
func (RemoveTask) lane() Lane     { return LaneQuick }
func (EditTask) lane() Lane       { return LaneQuick }
func (RevertTask) lane() Lane     { return LaneQuick }
func (DeleteTask) lane() Lane     { return LaneQuick }
func (RestoreTask) lane() Lane    { return LaneQuick }
func (Remind) lane() Lane         { return LaneQuick }
func (AnswerProposal) lane() Lane { return LaneQuick }
func (ReopenProposal) lane() Lane { return LaneQuick }
func (SetConfig) lane() Lane      { return LaneQuick }
func (SetLook) lane() Lane        { return LaneQuick }

func (Say) lane() Lane        { return LaneTalk }
func (Receive) lane() Lane    { return LaneTalk }
func (Reword) lane() Lane     { return LaneTalk }
func (DeliverNow) lane() Lane { return LaneTalk }
func (ExitFork) lane() Lane   { return LaneTalk }
func (ResumeFork) lane() Lane { return LaneTalk }
func (Click) lane() Lane      { return LaneTalk }
func (Slash) lane() Lane      { return LaneTalk }
func (Line) lane() Lane       { return LaneTalk }

func (FireNow) lane() Lane  { return LaneFiring }
func (LiftCaps) lane() Lane { return LaneSpending }
func (Answer) lane() Lane   { return LaneApproval }
func (Login) lane() Lane    { return LaneAccount }
